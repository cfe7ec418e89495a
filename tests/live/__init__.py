"""Tests of `seamwise.live`."""
