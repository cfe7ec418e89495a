"""Fixes of the rules that need inferred errors: propagation, and exhaustive matches."""
