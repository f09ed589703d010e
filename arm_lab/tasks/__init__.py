"""Tasks that need identification or published systems."""
