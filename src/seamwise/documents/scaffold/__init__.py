"""Source code of a new error class, with its arm at each seam."""
