"""Memory of one conversation, which refuses calls that repeat and too many mistakes in a row.

Only the tool host imports from this package.
"""
