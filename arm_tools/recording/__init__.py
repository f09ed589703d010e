"""Recordings of an arm's messages, written while the arm runs."""
