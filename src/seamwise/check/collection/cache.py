"""Cache of a check: the cache of mypy, and the facts of each file.

mypy has no types for modules that it takes from its cache. Their facts come from here, as long as
everything they depend on is unchanged. The cache is discarded unless it is exactly as the last
check left it: not if a check was interrupted, or if another program changed a file.

There is no format number to maintain. The facts are keyed by a digest of this folder's source code,
so any change of the structs invalidates them.
"""

import os
import shutil
import sqlite3
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b, file_digest
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
from msgspec import Struct

from seamwise import check
from seamwise.check._mypy.build import Build
from seamwise.check._mypy.versions import MYPY_VERSION
from seamwise.check.facts import FileFacts

if sys.platform != 'win32':
    import fcntl

_CACHEDIR_TAG = """\
Signature: 8a477f597d28d172789f06886806bc55
# This file is a cache directory tag, made by seamwise; see https://bford.info/cachedir/
"""


class CachedFile(Struct, frozen=True):
    """Facts of one file, and a digest of everything they depend on."""

    digest: bytes
    facts: FileFacts


class CacheContents(Struct, frozen=True):
    """Everything that is stored next to the cache of mypy."""

    mypy_digest: bytes = b''
    """Digest of mypy's cache, as the last check left it."""
    code_digest: bytes = b''
    """Digest of the code that collected the facts."""
    files: dict[str, CachedFile] = {}
    """Facts by path."""


@contextmanager
def locked_folder(folder: Path | None) -> Generator[Path | None]:
    """Create and lock the cache folder; yield None if it is in use or not writable."""
    lock = _lock(folder) if folder is not None else None
    try:
        yield folder if lock is not None else None
    finally:
        if lock is not None:
            os.close(lock)


def _lock(folder: Path) -> int | None:
    if sys.platform == 'win32':
        # There is no flock, so checks on Windows run without a cache.
        return None
    try:
        _create(folder)
        lock = os.open(folder / 'lock', os.O_CREAT | os.O_RDWR, 0o644)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _create(folder: Path) -> None:
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / '.gitignore').write_text('# Made by seamwise.\n*\n', encoding='utf-8')
        (folder / 'CACHEDIR.TAG').write_text(_CACHEDIR_TAG, encoding='utf-8')


class FactsCache:
    """Cache of one mypy build."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._contents = self._load()

    @property
    def mypy_folder(self) -> Path:
        """Folder of mypy's own cache."""
        return self._folder / 'mypy'

    def facts(self, module: str, build: Build) -> FileFacts | None:
        """Return the facts of a module; None if they are not stored or no longer valid."""
        file = self._contents.files.get(build.path(module))
        return file.facts if file is not None and file.digest == _inputs(module, build) else None

    def save(self, facts: Mapping[str, FileFacts], build: Build) -> None:
        """Store the facts of modules, by name; if that fails, discard the cache."""
        try:
            files = {
                path: file for path, file in self._contents.files.items() if Path(path).exists()
            }
            for module, file_facts in facts.items():
                files[build.path(module)] = CachedFile(_inputs(module, build), file_facts)
            contents = CacheContents(self._checkpoint(), code_digest(), files)
            if contents != self._contents:
                self._write(msgspec.msgpack.encode(contents))
                self._contents = contents
        except (OSError, sqlite3.Error):
            self.clear()

    def digest(self, paths: Iterable[str]) -> bytes:
        """Digest everything that the stored facts of files depend on.

        Args:
            paths: Paths of the files, relative to the current directory.
        """
        wanted = {os.path.normpath(path) for path in paths}
        files = sorted(
            (path, file.digest)
            for path, file in self._contents.files.items()
            if os.path.normpath(file.facts.path) in wanted
        )
        parts = [part for path, digest in files for part in (os.fsencode(path), digest)]
        return digest_of([code_digest(), *parts])

    def clear(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _load(self) -> CacheContents:
        try:
            contents = msgspec.msgpack.decode(
                (self._folder / 'facts').read_bytes(), type=CacheContents
            )
            if contents.mypy_digest == self._mypy_digest():
                if contents.code_digest == code_digest():
                    return contents
                # The facts are outdated, but mypy's cache is still valid.
                return CacheContents(contents.mypy_digest)
        except (OSError, msgspec.DecodeError):
            pass
        self.clear()
        return CacheContents()

    def _checkpoint(self) -> bytes:
        """Move the write-ahead logs into the databases, and return their digest."""
        for database in self._databases():
            connection = sqlite3.connect(database)
            connection.execute('PRAGMA wal_checkpoint(TRUNCATE)')
            connection.close()
        return self._mypy_digest()

    def _mypy_digest(self) -> bytes:
        """Digest the databases and the sizes of their write-ahead logs."""
        digest = blake2b()
        for database in self._databases():
            log = database.with_name(f'{database.name}-wal')
            digest.update(f'{database} {log.stat().st_size if log.exists() else 0} '.encode())
            with database.open('rb') as file:
                digest.update(file_digest(file, blake2b).digest())
        return digest.digest()

    def _databases(self) -> list[Path]:
        return sorted(self.mypy_folder.glob('*/*.db'))

    def _write(self, encoded: bytes) -> None:
        with NamedTemporaryFile(dir=self._folder, delete=False) as file:
            file.write(encoded)
        Path(file.name).replace(self._folder / 'facts')


def _inputs(module: str, build: Build) -> bytes:
    return digest_of([build.inputs(module)])


@cache
def code_digest() -> bytes:
    """Return a digest of the code that computes the facts: the check, Python and mypy."""
    files = sorted(Path(check.__path__[0]).rglob('*.py'))
    return digest_of(
        [sys.version.encode(), MYPY_VERSION.encode(), *(file.read_bytes() for file in files)]
    )


def digest_of(parts: Iterable[bytes]) -> bytes:
    """Return one digest of several texts."""
    return blake2b(b'\0'.join(parts), digest_size=32).digest()
