"""Recordings of an arm's messages: written while it runs, and what is made of them."""
