"""Published controllers, in the form that prints the published digits."""
