"""Stores of the event log."""
