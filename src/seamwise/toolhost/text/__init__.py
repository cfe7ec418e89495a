"""Documents, edits and unified diffs as text."""
