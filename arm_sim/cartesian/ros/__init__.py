"""The nodes that move the tip."""
