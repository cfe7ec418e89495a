"""Tests of guards around tools and of the guards file."""
