"""Benchmarks against peers: one file per job, both sides measured in turns in one process."""
