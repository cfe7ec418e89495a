"""Edits of source text that the facts of functions and the fixes share."""
