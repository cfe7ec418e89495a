"""Tests of the `docs` extra: it installs every package that the reference imports."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in BLOCKED:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)

sys.meta_path.insert(0, Finder())
from pathlib import Path
from tools.documentation.reference import write_reference
write_reference(Path(sys.argv[1]))
"""


def normalized(name: str) -> str:
    """Return the name of a distribution as PyPI compares it."""
    return re.sub(r'[-_.]+', '-', name).lower()


def requirements(name: str, extra: str) -> Iterator[tuple[str, str]]:
    """Yield the names and extras of the packages that a package requires with an extra."""
    environment = {key: str(value) for key, value in default_environment().items()}
    environment['extra'] = extra
    for line in lines_of(name, extra):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            for required_extra in {'', *requirement.extras}:
                yield normalized(requirement.name), required_extra


def lines_of(name: str, extra: str) -> list[str]:
    """Return the requirements of a package, for this one those of its file."""
    if name == 'seamwise':
        project = tomllib.loads((ROOT / 'pyproject.toml').read_text(encoding='utf-8'))['project']
        lines: list[str] = project['optional-dependencies'].get(extra, project['dependencies'])
        return lines
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def installed_with(name: str, extra: str) -> set[str]:
    """Return the names of all packages that `pip install name[extra]` installs."""
    found: set[tuple[str, str]] = set()
    waiting = [(name, ''), (name, extra)]
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            waiting += requirements(*package)
    return {package for package, _ in found}


@pytest.mark.slow
def test_the_extra_installs_every_package_that_the_reference_imports(tmp_path: Path) -> None:
    present = installed_with('seamwise', 'docs')
    assert 'sphinx' in present
    blocked = {
        module
        for module, packages in packages_distributions().items()
        if present.isdisjoint(map(normalized, packages))
    }
    assert 'django' in blocked
    script = SCRIPT.replace('BLOCKED', repr(blocked))
    result = subprocess.run(
        [sys.executable, '-c', script, str(tmp_path)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
