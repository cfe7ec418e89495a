"""Documents, edits, encodings and unified diffs."""
