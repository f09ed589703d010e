"""Views of an arm: MuJoCo scene, window, pictures and films, and the page in the browser."""
