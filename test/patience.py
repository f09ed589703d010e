"""How long tests wait for what must come: long enough for a machine that is far too busy."""

PATIENCE = 300.0  # [s]
