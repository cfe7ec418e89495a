"""Tests of the tool host."""
