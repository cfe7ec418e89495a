"""Catalogues of texts from outside, for tests that add one."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from seamwise import texts


def compiled(found: Catalog, folder: Path, *, domain: str = 'seamwise') -> Path:
    """Write a catalogue into a folder as gettext wants it, and give the folder."""
    file = folder / str(found.locale_identifier) / 'LC_MESSAGES' / f'{domain}.mo'
    file.parent.mkdir(parents=True)
    with file.open('wb') as target:
        write_mo(target, found)
    return folder


@contextmanager
def only_here() -> Generator[None, None, None]:
    """Forget at the end what was added in between."""
    before = [*texts._folders]
    texts.catalogue.cache_clear()
    try:
        yield
    finally:
        texts._folders[:] = before
        texts.catalogue.cache_clear()
