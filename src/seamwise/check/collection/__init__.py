"""Collection of the facts of all files of a code base, with a cache."""
