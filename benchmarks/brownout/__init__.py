"""Simulation of a brown-out: 1,000 clients in two processes, with and without guards."""
