"""Tests of the guards over Redis, with a real server."""
