"""Tests of child processes: shell commands and regular expressions."""
