"""The viewer: an arm, its surroundings and the path of its tip, in a process of its own."""
