"""Progress of a code base from exceptions to error channels, and the next steps."""
