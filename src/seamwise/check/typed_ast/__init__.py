"""Syntax trees of Python files, joined with the types that mypy inferred."""
