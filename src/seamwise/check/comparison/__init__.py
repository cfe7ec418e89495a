"""Comparison of findings with a base: a baseline file, or another commit."""
