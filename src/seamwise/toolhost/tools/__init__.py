"""The tools, one file each: what it takes, what it gives, and the service function between them. A tool knows no seam."""
