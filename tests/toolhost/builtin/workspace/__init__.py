"""Tests of the workspace: paths, ignore rules, listing and atomic writes."""
