"""Text helpers for every layer above the core: escaping, JSON values, phrases, source excerpts.

They import the core only.
"""
