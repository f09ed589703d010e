"""Arms shown, recorded, connected and driven; motions around obstacles."""
