"""From a robot model to straight-line compiled code: expressions, links, algorithms, source."""
