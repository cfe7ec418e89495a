"""Development tools; not part of the wheel."""
