"""What a defect leaves behind: with nothing to collect it, only what no cycle holds goes."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


class Defect(Exception):
    """Unlike the exceptions of Python, this one can be referred to weakly."""


@contextmanager
def gc_disabled() -> Generator[None]:
    """Keep the garbage collector from running."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
