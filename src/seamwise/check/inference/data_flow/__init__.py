"""Data flow in one function: bindings of names, errors of expressions, and their dispositions."""
