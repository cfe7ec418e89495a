"""Tests of the check: cases, pages, reports and the analysis."""
