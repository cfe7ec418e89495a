"""Tests of the examples in the documents that this library started from."""
