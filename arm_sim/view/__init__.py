"""A page in the browser that shows a moving arm and commands it; viser serves the page."""
