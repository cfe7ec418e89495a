"""Message catalogs for tests that add one."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from seamwise._errors import texts


def write_catalog(catalog: Catalog, folder: Path, *, domain: str = 'seamwise') -> Path:
    """Compile a message catalog into a folder in the layout of gettext; return the folder."""
    file = folder / str(catalog.locale_identifier) / 'LC_MESSAGES' / f'{domain}.mo'
    file.parent.mkdir(parents=True)
    with file.open('wb') as target:
        write_mo(target, catalog)
    return folder


@contextmanager
def restore_locales() -> Generator[None, None, None]:
    """Remove the folders at the end that were added by `add_locales`."""
    previous_folders = [*texts._folders]
    texts.catalogue.cache_clear()
    try:
        yield
    finally:
        texts._folders[:] = previous_folders
        texts.catalogue.cache_clear()
