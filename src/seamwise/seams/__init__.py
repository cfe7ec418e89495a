"""What each audience is shown: one folder a seam, with its shape and its tables over the catalogue."""
