"""Guards of a module, and the operations and requests that they protect."""
