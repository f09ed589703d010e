"""The tip moved by streams of twists and by straight lines."""
