"""Git commits: export the Python files of a commit, and compare it with the working tree.

Nothing is written into the repository and no hook runs. A temporary index and object store are kept
beside the exported files.
"""

import os
import re
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success

_EXPORTED_SUFFIXES = ('.py', '.pyi', '.toml', '.cfg', '.ini')
"""Sources, and the configuration of mypy and of the check."""

_GIT_OPTIONS = (
    f'core.hooksPath={os.devnull}',
    'core.fsmonitor=false',
    'core.safecrlf=false',
    'core.sparseCheckout=false',
)
"""Options that override the user's configuration: no programs, no refusals, no omitted files."""

_SYMLINK_MODE = '120000'
_HUNK_HEADER = re.compile(rb'^@@ -\S+ \+(\d+)(?:,(\d+))? @@', re.MULTILINE)


class Commit(Struct, frozen=True):
    """Commit of the repository that contains the current directory."""

    name: str
    """Name that the user gave, such as `HEAD~1`."""
    sha: str
    root: Path
    """Root of the working tree."""
    prefix: str
    """Current directory relative to the root: empty, or with a final slash."""

    def repository_path(self, path: str) -> str | None:
        """Return a path relative to the repository root; None if it is outside.

        Args:
            path: An absolute path, or one relative to the current directory.
        """
        return _relative_to(self.root, path, start=self.root / self.prefix)


class Export(Struct, frozen=True):
    """Files of a commit in a temporary folder."""

    commit: Commit
    folder: Path
    renames: Mapping[str, str]
    """Paths in the working tree by paths in the commit, for renamed files."""
    variables: Mapping[str, str]
    """Environment variables that select the temporary index of the working tree."""

    @property
    def current_directory(self) -> Path:
        """Counterpart of the current directory in the export."""
        return self.folder / self.commit.prefix

    def repository_path(self, path: str) -> str | None:
        """Return a path relative to the repository root; None if it is outside.

        Args:
            path: An absolute path, or one relative to `current_directory`.
        """
        return _relative_to(self.folder, path, start=self.current_directory)

    def changed_lines(self, path: str) -> frozenset[int]:
        """Return the lines of a file in the working tree that are new since the commit.

        Args:
            path: The path relative to the repository root.
        """
        old_path = next((old for old, new in self.renames.items() if new == path), path)
        command = [
            'diff-index',
            '--cached',
            '-p',
            '-U0',
            '-M',
            '--no-color',
            '--no-ext-diff',
            '--no-textconv',
            self.commit.sha,
            '--',
            *(f':(top,literal){literal}' for literal in sorted({old_path, path})),
        ]
        diff = _git(command, self.commit.root, self.variables).stdout
        hunks = ((int(match[1]), int(match[2] or 1)) for match in _HUNK_HEADER.finditer(diff))
        return frozenset(line for start, count in hunks for line in range(start, start + count))


def find_commit(name: str) -> Result[Commit, str]:
    """Return a commit in the repository of the current directory, or a one-line error message."""
    folder = Path.cwd()
    try:
        root = _git(['rev-parse', '--show-toplevel'], folder)
    except FileNotFoundError:
        return Failure('git is not installed; it is needed to compare with a commit.')
    if root.returncode:
        return Failure(f'git finds no repository here: {_first_error(root)}')
    prefix = _run_git(['rev-parse', '--show-prefix'], folder)
    if name.startswith('-') or '\0' in name:
        return Failure(f'{name!r} is not the name of a commit.')
    # From here on the hash is used, which git cannot mistake for an option.
    sha = _git(['rev-parse', '--verify', '--end-of-options', f'{name}^{{commit}}'], folder)
    if sha.returncode:
        return Failure(
            f'there is no commit {name!r} in this repository; in a shallow clone, fetch it first.'
        )
    return Success(
        Commit(
            name=name,
            sha=_decode(sha.stdout),
            root=Path(_decode(root.stdout)),
            prefix=_decode(prefix),
        )
    )


@contextmanager
def export_commit(commit: Commit) -> Generator[Export]:
    """Export the Python and configuration files of a commit to a temporary folder."""
    with TemporaryDirectory(prefix='seamwise-') as temporary:
        parent = Path(temporary)
        folder = parent / 'tree'
        # mypy searches for its configuration up to the folder with `.git`.
        (folder / '.git').mkdir(parents=True)
        (parent / 'objects').mkdir()
        objects = _run_git(
            ['rev-parse', '--path-format=absolute', '--git-path', 'objects'], commit.root
        )
        variables = {
            'GIT_INDEX_FILE': str(parent / 'index'),
            'GIT_OBJECT_DIRECTORY': str(parent / 'objects'),
            'GIT_ALTERNATE_OBJECT_DIRECTORIES': _decode(objects),
        }
        _run_git(['read-tree', commit.sha], commit.root, variables)
        _check_out(commit, folder, variables)
        yield Export(commit, folder, _renames(commit, variables), variables)


def _relative_to(root: Path, path: str, *, start: Path) -> str | None:
    """Return a path relative to a root; None if it is outside.

    A symbolic link inside the root is kept. A path that is outside, but links to the inside, is
    resolved.
    """
    folder, name = os.path.split(os.path.abspath(start / path))  # noqa: PTH100 -- must not follow the last link
    real_root = os.path.realpath(root)
    for candidate in (
        os.path.join(os.path.realpath(folder), name),
        os.path.realpath(start / path),
    ):
        if Path(candidate).is_relative_to(real_root):
            return os.path.relpath(candidate, real_root)
    return None


def _check_out(commit: Commit, folder: Path, variables: Mapping[str, str]) -> None:
    paths: list[bytes] = []
    entries = _run_git(['ls-files', '--stage', '-z'], commit.root, variables).split(b'\0')
    for entry in entries[:-1]:
        mode, _, path = entry.partition(b'\t')
        if mode.decode().startswith(_SYMLINK_MODE) or path.decode(errors='replace').endswith(
            _EXPORTED_SUFFIXES
        ):
            paths.append(path)
    # `git archive` would omit the files with the attribute `export-ignore`.
    _run_git(
        ['checkout-index', '-z', '--stdin', f'--prefix={folder}/'],
        commit.root,
        variables,
        stdin=b'\0'.join([*paths, b'']),
    )


def _renames(commit: Commit, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the renames from the commit to the working tree, including untracked files."""
    for pattern in ('*.py', '*.pyi'):
        files = _run_git(
            ['ls-files', '--cached', '--others', '--exclude-standard', '--', pattern],
            commit.root,
            variables,
        )
        # `git add` fails if no file matches.
        if files:
            # An unreadable file cannot be compared; the check reports it.
            _git(['add', '--all', '--ignore-errors', '--', pattern], commit.root, variables)
    output = _run_git(
        ['diff-index', '--cached', '-M', '--diff-filter=R', '--name-status', '-z', commit.sha],
        commit.root,
        variables,
    )
    # Status, old path and new path of each file, each followed by a null byte.
    fields = [os.fsdecode(field) for field in output.split(b'\0')[:-1]]
    return dict(zip(fields[1::3], fields[2::3], strict=True))


def _run_git(
    arguments: Sequence[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    *,
    stdin: bytes = b'',
) -> bytes:
    """Return the output of a git command that is expected to succeed."""
    process = _git(arguments, folder, variables, stdin=stdin)
    if process.returncode:
        raise RuntimeError(f'git {arguments[0]}: {_first_error(process)}')
    return process.stdout


def _git(
    arguments: Sequence[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    *,
    stdin: bytes = b'',
) -> subprocess.CompletedProcess[bytes]:
    command = ['git', *(word for option in _GIT_OPTIONS for word in ('-c', option)), *arguments]
    environment = {**os.environ, 'LC_ALL': 'C', 'GIT_OPTIONAL_LOCKS': '0', **(variables or {})}
    return subprocess.run(  # noqa: S603 -- no shell
        command, cwd=folder, env=environment, input=stdin, capture_output=True, check=False
    )


def _decode(line: bytes) -> str:
    return os.fsdecode(line.removesuffix(b'\n'))


def _first_error(process: subprocess.CompletedProcess[bytes]) -> str:
    lines = process.stderr.decode(errors='replace').splitlines()
    return next(iter(lines), 'no reason given.').removeprefix('fatal: ')
