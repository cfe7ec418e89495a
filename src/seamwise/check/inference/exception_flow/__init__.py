"""Exceptions of a module: where they are raised, handled, kept, raised again, and escape."""
