"""Adapters of a module: their arms, and the seams, dependencies and commands that use them."""
