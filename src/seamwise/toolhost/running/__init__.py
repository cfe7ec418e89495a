"""Execution of calls: their order and limits, threads, and processes of isolated tools."""
