"""Syntax trees joined with the types that mypy inferred."""
