"""Tests of the formats of tool calls."""
