"""Facts of the functions and classes that a module defines."""
