"""Tests of documents, edits and unified diffs."""
