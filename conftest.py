"""Test collection of Markdown pages: the Python blocks of a page run in order as one test.

Also the number of processes for `pytest -n auto`.
"""

import os
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser
from tests.saved_files import save_files
from typing_extensions import override

# Configuration of Sphinx, which the tests need not have installed.
collect_ignore = ['docs/conf.py']
# Programs, which tests/documentation/test_playground.py runs.
collect_ignore_glob = ['docs/playground/*.py']

_PAGES = Sybil(parsers=[PythonCodeBlockParser()])


@contextmanager
def _restored_locales() -> Generator[None]:
    """Remove the message catalogs that a page adds: their folder is gone after it."""
    from seamwise._errors import texts  # noqa: PLC0415 -- only for pages

    folders = [*texts._folders]  # pyright: ignore[reportPrivateUsage]  # there is no way to remove one
    try:
        yield
    finally:
        texts._folders[:] = folders  # pyright: ignore[reportPrivateUsage]  # as above
        texts.catalogue.cache_clear()


class _Blocks(pytest.Item):
    """The blocks of a page. Each uses the names of those before it, as in one module."""

    @override
    def runtest(self) -> None:
        module = ModuleType(f'page_{self.path.stem}')
        document = _PAGES.parse(self.path)
        document.namespace = vars(module)
        # Django finds the URLs of an application by the name of its module.
        sys.modules[module.__name__] = module
        with _restored_locales(), tempfile.TemporaryDirectory() as folder:
            saved = save_files(self.path.read_text(encoding='utf-8'), Path(folder))
            sys.path.insert(0, folder)
            try:
                for example in document.examples():
                    example.evaluate()
            finally:
                sys.path.remove(folder)
                for name in [module.__name__, *(Path(file).stem for file in saved)]:
                    sys.modules.pop(name, None)

    @override
    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.nodeid


class _Page(pytest.File):
    @override
    def collect(self) -> Iterator[_Blocks]:
        if any(_PAGES.parse(self.path).examples()):
            blocks: _Blocks = _Blocks.from_parent(self, name='blocks')  # pyright: ignore[reportUnknownMemberType]  # of pytest
            yield blocks


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    """Collect the pages, but not Markdown files that tests read."""
    # The pages of the tutorial share files, which their own test writes.
    parts = file_path.relative_to(_ROOT).parts
    is_page = file_path.suffix == '.md' and not {'tests', 'tutorial'} & set(parts)
    if not is_page:
        return None
    page: _Page = _Page.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownMemberType]  # of pytest
    return page


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one process more than processors, because some tests wait for servers."""
    return (os.cpu_count() or 1) + 1


_ROOT = Path(__file__).parent
