"""Algorithms of rate limits: a bucket for each key, and the rates that it enforces."""
