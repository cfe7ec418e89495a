"""Tests of the stores of the event log."""
