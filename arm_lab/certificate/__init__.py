"""Proofs that goals stay within limits at every instant, for all arms within a model error."""
