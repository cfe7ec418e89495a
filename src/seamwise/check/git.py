"""A commit of a git repository beside the working tree: its Python files in a folder of their own, and what has changed since.

Nothing is written into the repository, and no hook runs: index and objects that are needed are kept beside the exported files.
"""

import os
import re
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from seamwise.containers import Failure, Result, Success

EXPORTED_SUFFIXES = ('.py', '.pyi', '.toml', '.cfg', '.ini')
"""What mypy and the check read: sources, and the configuration of both."""

OPTIONS = (
    f'core.hooksPath={os.devnull}',
    'core.fsmonitor=false',
    'core.safecrlf=false',
    'core.sparseCheckout=false',
)
"""A configuration of the repository's own may not stop us, nor run anything."""

LINK = '120000'
"""The mode of a symbolic link."""

HUNK = re.compile(rb'^@@ -\S+ \+(\d+)(?:,(\d+))? @@', re.MULTILINE)


class Commit(Struct, frozen=True):
    """A commit, and from where in the repository it is looked at."""

    name: str
    """As it was asked for."""
    sha: str
    root: Path
    """Of the working tree."""
    prefix: str
    """From the root to the current directory, empty or with a last slash."""

    def within(self, path: str) -> str | None:
        """Give a path, relative to the current directory or absolute, as the repository names it; None for one outside of it."""
        return _within(path, self.root / self.prefix, self.root)


class Export(Struct, frozen=True):
    """The files of a commit in a folder, and what has become of them in the working tree."""

    commit: Commit
    folder: Path
    renames: Mapping[str, str]
    """New names by old ones, as the repository has them."""
    variables: Mapping[str, str]
    """The environment in which git has the index of now."""

    @property
    def here(self) -> Path:
        """Where the current directory is in it."""
        return self.folder / self.commit.prefix

    def within(self, path: str) -> str | None:
        """Give a path, relative to where the current directory is in it, as the commit names it."""
        return _within(path, self.here, self.folder)

    def changed_lines(self, path: str) -> frozenset[int]:
        """Give the lines of a file of now that the commit did not have; `path` as the repository names it."""
        old = next((before for before, now in self.renames.items() if now == path), path)
        command = [
            'diff-index',
            '--cached',
            '-p',
            '-U0',
            '-M',
            '--no-color',
            '--no-ext-diff',
            '--no-textconv',
        ]
        told = _git(
            [*command, self.commit.sha, '--', *_literal({old, path})],
            self.commit.root,
            self.variables,
        )
        hunks = ((int(one[1]), int(one[2] or 1)) for one in HUNK.finditer(told.stdout))
        return frozenset(line for first, count in hunks for line in range(first, first + count))


def _within(path: str, start: Path, root: Path) -> str | None:
    """Follow the links on the way to a path; one at its end is itself what is meant, unless it leads in from outside."""
    folder, name = os.path.split(os.path.abspath(start / path))  # noqa: PTH100 -- without following the last link
    for found in (os.path.join(os.path.realpath(folder), name), os.path.realpath(start / path)):
        if Path(found).is_relative_to(os.path.realpath(root)):
            return os.path.relpath(found, os.path.realpath(root))
    return None


def find_commit(name: str) -> Result[Commit, str]:
    """Find a commit by any name that git has for it, in the repository of the current directory; fails with a line."""
    here = Path.cwd()
    try:
        place = _git(['rev-parse', '--show-toplevel'], here)
    except FileNotFoundError:
        return Failure('git is not installed, and it alone knows what has changed.')
    if place.returncode:
        return Failure(f'git finds no repository here: {_reason(place)}')
    root, prefix = _text(place.stdout), _text(_asked(['rev-parse', '--show-prefix'], here))
    if name.startswith('-') or '\0' in name:
        return Failure(f'{name!r} is no name of a commit.')
    # From here on it goes by its hash, which is never taken for an option.
    found = _git(['rev-parse', '--verify', '--end-of-options', f'{name}^{{commit}}'], here)
    if found.returncode:
        return Failure(
            f'there is no commit {name!r} in this repository; a shallow clone may have to fetch it first.'
        )
    return Success(Commit(name, _text(found.stdout), Path(root), prefix))


@contextmanager
def export_commit(commit: Commit) -> Generator[Export]:
    """Write the Python files and the configuration of a commit into a temporary folder, which goes away at the end."""
    with TemporaryDirectory(prefix='seamwise-') as temporary:
        own = Path(temporary)
        folder = own / 'tree'
        # mypy looks for its configuration up to where a repository begins, and no further.
        (folder / '.git').mkdir(parents=True)
        (own / 'objects').mkdir()
        known = _text(
            _asked(['rev-parse', '--path-format=absolute', '--git-path', 'objects'], commit.root)
        )
        variables = {
            'GIT_INDEX_FILE': str(own / 'index'),
            'GIT_OBJECT_DIRECTORY': str(own / 'objects'),
            'GIT_ALTERNATE_OBJECT_DIRECTORIES': known,
        }
        _asked(['read-tree', commit.sha], commit.root, variables)
        _write(commit, folder, variables)
        yield Export(commit, folder, _renames(commit, variables), variables)


def _write(commit: Commit, folder: Path, variables: Mapping[str, str]) -> None:
    wanted: list[bytes] = []
    for entry in _asked(['ls-files', '--stage', '-z'], commit.root, variables).split(b'\0')[:-1]:
        about, _, path = entry.partition(b'\t')
        if about.decode().startswith(LINK) or path.decode(errors='replace').endswith(
            EXPORTED_SUFFIXES
        ):
            wanted.append(path)
    # Not `git archive`, which leaves out what is marked as `export-ignore`.
    _asked(
        ['checkout-index', '-z', '--stdin', f'--prefix={folder}/'],
        commit.root,
        variables,
        given=b'\0'.join([*wanted, b'']),
    )


def _renames(commit: Commit, variables: Mapping[str, str]) -> dict[str, str]:
    """Compare with the files of now, those that git does not know yet included."""
    for pattern in ('*.py', '*.pyi'):
        # Where there is none, `add` would refuse.
        if _asked(
            ['ls-files', '--cached', '--others', '--exclude-standard', '--', pattern],
            commit.root,
            variables,
        ):
            # A file that cannot be read has no lines to compare, and is told by the check itself.
            _git(['add', '--all', '--ignore-errors', '--', pattern], commit.root, variables)
    told = _asked(
        ['diff-index', '--cached', '-M', '--diff-filter=R', '--name-status', '-z', commit.sha],
        commit.root,
        variables,
    )
    fields = _texts(told, b'\0')
    return dict(zip(fields[1::3], fields[2::3], strict=True))


def _asked(
    arguments: Sequence[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    *,
    given: bytes = b'',
) -> bytes:
    """Ask git what it has no reason to refuse."""
    told = _git(arguments, folder, variables or {}, given=given)
    if told.returncode:
        raise RuntimeError(f'git {arguments[0]}: {_reason(told)}')
    return told.stdout


def _git(
    arguments: Sequence[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    *,
    given: bytes = b'',
) -> subprocess.CompletedProcess[bytes]:
    command = ['git', *(word for one in OPTIONS for word in ('-c', one)), *arguments]
    asked = {**os.environ, 'LC_ALL': 'C', 'GIT_OPTIONAL_LOCKS': '0', **(variables or {})}
    return subprocess.run(
        command, cwd=folder, env=asked, input=given, capture_output=True, check=False
    )


def _literal(paths: set[str]) -> list[str]:
    return [f':(top,literal){path}' for path in sorted(paths)]


def _texts(told: bytes, end: bytes) -> list[str]:
    return [os.fsdecode(one) for one in told.split(end)][:-1]


def _text(told: bytes) -> str:
    return os.fsdecode(told.removesuffix(b'\n'))


def _reason(told: subprocess.CompletedProcess[bytes]) -> str:
    return next(
        iter(told.stderr.decode(errors='replace').splitlines()), 'it says nothing.'
    ).removeprefix('fatal: ')
