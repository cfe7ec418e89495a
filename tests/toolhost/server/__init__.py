"""Tests of the HTTP server of a tool processor."""
