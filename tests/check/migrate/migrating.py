"""Running of programs before and after their migration."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from seamwise.check.migrate.migration import Migration, plan_migration
from seamwise.check.migrate.writing import write_all

ERRORS = """
class ShopError(Exception):
    pass


class Missing(ShopError):
    def __init__(self, name: str) -> None:
        super().__init__(f'no {name}')
        self.name = name


class Soaked(ShopError):
    pass


class SoldOut(Exception):
    pass
"""
SERVICE = """
from shop.errors import Missing, Soaked, SoldOut


def find(name: str) -> int:
    if name == 'milk':
        raise Missing(name)
    if name == 'coat':
        raise Soaked('it rains "{in}"')
    return len(name)


def sell(name: str) -> int:
    if name == 'tea':
        raise SoldOut(name)
    return find(name)
"""
CONFIGURATION = '[tool.mypy]\nstrict = true\n'


def write_package(folder: Path, sources: Mapping[str, str]) -> None:
    """Write the modules of a package into a folder, and a configuration beside it."""
    folder.mkdir()
    (folder / '__init__.py').touch()
    (folder.parent / 'pyproject.toml').write_text(CONFIGURATION)
    for name, source in sources.items():
        (folder / f'{name}.py').write_text(source)


def migrate(folder: Path) -> Migration:
    """Migrate a package in the current directory."""
    migration = plan_migration([folder.name]).unwrap()
    assert write_all(migration.contents).unwrap() == len(migration.contents)
    return migration


def run(folder: Path, module: str) -> tuple[int, str]:
    """Return exit code and output of a module of a package."""
    done = subprocess.run(
        [sys.executable, '-B', '-m', f'{folder.name}.{module}'],
        cwd=folder.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout
