"""Where the repository is."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / 'test'
