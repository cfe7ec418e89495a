"""Defects: reports of unexpected exceptions, redacted copies of them, and kinds of exceptions."""
