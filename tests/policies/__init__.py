"""Tests of the guards."""
