"""Tests of the tools, one file each."""
