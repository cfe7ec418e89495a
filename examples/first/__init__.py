"""The first program with Seamwise, which the README runs."""
