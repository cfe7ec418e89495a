"""Application of automatic fixes to files (`--fix`), in batches that can be taken back."""
