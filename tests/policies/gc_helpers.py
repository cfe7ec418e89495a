"""Helpers for tests that a defect leaves no reference cycle."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


class Defect(Exception):
    """An exception that, unlike built-in ones, supports weak references."""


@contextmanager
def gc_disabled() -> Generator[None]:
    """Disable the cyclic garbage collector, so that only objects outside of cycles are freed."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
