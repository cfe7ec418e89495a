"""What the mypy plugin knows, one feature a file."""
