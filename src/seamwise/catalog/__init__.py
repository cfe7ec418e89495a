"""Errors by domain: one module per domain, which ends in its union and imports no other domain."""
