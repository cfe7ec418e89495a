"""Tests of the tool services, one file a tool."""
