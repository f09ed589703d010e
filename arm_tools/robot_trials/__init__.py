"""Trials of unmodified arms: what loads, agrees, holds, arrives and is reached."""
