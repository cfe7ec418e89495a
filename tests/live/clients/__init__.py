"""Tests of the clients of a gateway, in Python and in JavaScript."""
