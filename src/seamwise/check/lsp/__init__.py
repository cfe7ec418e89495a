"""Language server of the check: diagnostics, quick fixes, and channels on hover."""
