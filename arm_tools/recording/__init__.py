"""Recordings of our own: written while an arm runs, replayed, shown, and exported."""
