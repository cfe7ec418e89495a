"""Schema of a tool: its parameters and result, read from a function, checked, and described.

Only the tool host imports from this package.
"""
