"""Many arms at once: plant, closed loop and measures on arrays with a row per arm."""
