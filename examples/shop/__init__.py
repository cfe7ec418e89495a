"""A shop with an API and a command line over the same services; see README.md."""
