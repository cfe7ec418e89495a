"""Tests of guards from files and environment variables."""
