"""Seams of programs that raise exceptions: what answers these, and what can become a table."""
