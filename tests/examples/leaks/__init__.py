"""Programs that plant marked secrets in the examples, and the search for them in all output."""
