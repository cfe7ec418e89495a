"""What the present code breaks for users of the last release.

`python -m tools.upgrade` compares the public names with those of the newest tag `v…`, and runs the
tutorial of that release, with its own test, against the present code. It exits with 1 if the
tutorial fails, or if a removed name is not in the section [Unreleased] of the changelog.
"""

import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

ROOT = Path(__file__).parents[1]
NAMES = Path('tests/public_names.txt')
TUTORIAL = Path('tests/documentation/test_tutorial.py')

_NAME = re.compile(r'^(?:class |(?:async )?def )|\W.*')
"""What stands around the name in the first line of an entry."""

Surface = Mapping[str, str]
"""The public names with their modules, as in `seamwise.policies.retry`, and their signatures."""


def read_surface(text: str) -> Surface:
    """Read the file of public names."""
    entries: dict[str, str] = {}
    module = name = ''
    for line in text.splitlines():
        if line.startswith('['):
            module = line.strip('[]')
        elif line.startswith('    '):
            entries[name] += f'\n{line}'
        elif line and not line.startswith('#'):
            name = f'{module}.{_NAME.sub("", line)}'
            # An overload has a line of its own.
            entries[name] = f'{entries[name]}\n{line}' if name in entries else line
    return entries


def removed(old: Surface, new: Surface) -> list[str]:
    """Return the names that only the old release has."""
    return sorted(old.keys() - new.keys())


def changed(old: Surface, new: Surface) -> list[str]:
    """Return the names whose signature differs, without those with additions only."""
    return sorted(
        name
        for name in old.keys() & new.keys()
        if not set(old[name].splitlines()) <= set(new[name].splitlines())
    )


def unexplained(names: list[str], changelog: str) -> list[str]:
    """Return the names that the section [Unreleased] of a changelog does not mention."""
    section = changelog.partition('## [Unreleased]')[2].partition('\n## [')[0]
    words = set(re.findall(r'\w+', section))
    return [name for name in names if name.rpartition('.')[2] not in words]


def last_release(root: Path) -> str | None:
    """Return the newest tag of a version that the present commit contains; None without one."""
    tags = _git(root, 'tag', '--list', 'v*', '--merged=HEAD', '--sort=-version:refname').decode()
    return next(iter(tags.split()), None)


def report(root: Path, tag: str) -> Iterator[str]:
    """Yield what a tag has and the present code lacks, line by line."""
    old = read_surface(_git(root, 'show', f'{tag}:{NAMES}').decode())
    new = read_surface((root / NAMES).read_text(encoding='utf-8'))
    gone = removed(old, new)
    silent = unexplained(gone, (root / 'CHANGELOG.md').read_text(encoding='utf-8'))
    for name in gone:
        yield f'removed: {name}{", which the changelog does not mention" * (name in silent)}'
    yield from (f'changed: {name}' for name in changed(old, new))


def passes_tutorial(root: Path, tag: str) -> bool:
    """Run the tutorial of a tag with the package of this environment."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(_git(root, 'archive', tag))) as archive:
            archive.extractall(folder, filter='data')
        command = (sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-m', '')
        return subprocess.run((*command, str(TUTORIAL)), cwd=folder, check=False).returncode == 0  # noqa: S603 -- our own command


@click.command()
def main() -> None:
    """Say what the present code breaks for users of the last release."""
    tag = last_release(ROOT)
    if tag is None:
        click.echo('No version has been released.')
        return
    click.echo(f'Since {tag}:')
    lines = [*report(ROOT, tag)]
    for line in lines:
        click.echo(f'  {line}')
    works = passes_tutorial(ROOT, tag)
    click.echo(f'  The tutorial of {tag} {"works" if works else "fails, as shown above"}.')
    if not works or any(line.endswith('does not mention') for line in lines):
        sys.exit(1)


def _git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(  # noqa: S603 -- git
        ('git', *arguments),  # noqa: S607 -- the one on PATH
        check=True,
        cwd=root,
        capture_output=True,
    ).stdout


if __name__ == '__main__':
    main()
