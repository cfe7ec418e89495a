"""Tests of `seamwise.testing` and of the pytest plugin."""
