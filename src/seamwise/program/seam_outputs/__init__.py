"""Output of one call, one module a seam: a run imports the seams that it shows."""
