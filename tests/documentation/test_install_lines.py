"""Tests of the install lines: the snippets of a page run with the packages that the page names."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.saved_files import save_files
from tests.test_snippets import BLOCK, IN_DOCS, ROOT, code_of

PAGES = [page for page in [ROOT / 'README.md', *IN_DOCS] if BLOCK.search(page.read_text('utf-8'))]
INSTALL = re.compile(r'pip install ([^`\n#&]+)')
PACKAGE = re.compile(r'\w[\w.-]*(\[[\w,]+\])?(==[\w.]+)?')
IMPORT = re.compile(r'^ *(?:from|import) (\w+)', re.MULTILINE)
PROJECT = tomllib.loads((ROOT / 'pyproject.toml').read_text('utf-8'))['project']
OWNERS = packages_distributions()

# Run a page as a module, without some packages.
RUNNER = """
import sys
from importlib.machinery import PathFinder
from types import ModuleType

source, *absent = sys.argv[1:]


class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        is_absent = name.partition('.')[0] in absent
        return None if is_absent else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
module = ModuleType('page')
# Django finds the URLs of an application by the name of its module.
sys.modules[module.__name__] = module
with open(source, encoding='utf-8') as file:
    exec(compile(file.read(), source, 'exec'), vars(module))
"""


def dependencies_of(requirement: Requirement) -> Iterator[Requirement]:
    """Yield the direct dependencies of a package on this system."""
    if requirement.name == 'seamwise':
        lines = [*PROJECT['dependencies']]
        for extra in requirement.extras:
            lines += PROJECT['optional-dependencies'][extra]
    else:
        try:
            lines = distribution(requirement.name).requires or []
        except PackageNotFoundError:
            # Stubs for users of a type checker: no snippet imports them.
            lines = []
    for dependency in map(Requirement, lines):
        if dependency.marker is None or any(
            dependency.marker.evaluate({'extra': extra}) for extra in ('', *requirement.extras)
        ):
            yield dependency


def installed_by(text: str) -> set[str]:
    """Return the distributions that the install lines of a text install, and Seamwise."""
    words = [word for line in INSTALL.findall(text) for word in shlex.split(line)]
    queue = [Requirement(word) for word in ('seamwise', *words) if PACKAGE.fullmatch(word)]
    done: set[tuple[str, frozenset[str]]] = set()
    while queue:
        requirement = queue.pop()
        key = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if key not in done:
            done.add(key)
            queue += dependencies_of(requirement)
    return {name for name, _ in done}


def absent_modules(text: str) -> set[str]:
    """Return the modules that the tests have, but that the install lines do not install."""
    installed = installed_by(text)
    return {
        module
        for module, owners in OWNERS.items()
        if installed.isdisjoint(map(canonicalize_name, owners))
    }


def modules_without_install_line(page: str) -> set[str]:
    """Return the modules that a block of a page imports before a line installs them."""
    return {
        name
        for block in BLOCK.finditer(page)
        for name in set(IMPORT.findall(block[2])) & absent_modules(page[: block.start()])
    }


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_line_above_the_snippets_installs_what_they_import(page: Path) -> None:
    assert modules_without_install_line(page.read_text('utf-8')) == set()


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_snippets_run_with_the_packages_of_the_install_lines(
    page: Path, tmp_path: Path
) -> None:
    text = page.read_text('utf-8')
    source = tmp_path / 'page.py'
    source.write_text(code_of(text), 'utf-8')
    save_files(text, tmp_path)
    # Hypothesis imports trio where it is installed, because trio declares a plugin.
    absent = absent_modules(f'{text}\npip install trio')
    result = subprocess.run(
        [sys.executable, '-c', RUNNER, source, *absent],
        cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr


def test_a_missing_install_line_is_detected() -> None:
    snippet = '```python\nfrom fastapi import FastAPI\nimport msgspec, json\n```\n'
    assert modules_without_install_line(snippet) == {'fastapi'}
    assert modules_without_install_line(f'    pip install seamwise fastapi\n\n{snippet}') == set()
    assert modules_without_install_line(f'{snippet}\n`pip install fastapi`') == {'fastapi'}


def test_extras_and_dependencies_are_installed() -> None:
    assert {'mypy', 'click', 'msgspec'} <= installed_by("`pip install 'seamwise[check]'`")
    assert 'asgiref' not in installed_by('pip install flask')
    assert 'asgiref' in installed_by("pip install 'flask[async]'")
