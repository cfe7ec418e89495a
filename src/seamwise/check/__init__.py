"""Static analysis of error flows, on top of mypy: `seamwise check`, `map` and `adoption`."""
