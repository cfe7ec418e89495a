"""What the last check has left: the cache of mypy, and the facts of each file.

mypy gives no types of what it takes from its cache: there the facts are those that were kept, for as long as everything that
they were read from is the same. The cache counts only as the last check left it: one that was ended while it wrote, or a file
that somebody else has touched, makes it empty.
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
from mypy.build import BuildResult, State, get_cache_names, options_snapshot
from mypy.options import Options
from mypy.version import __version__ as mypy_version

from seamwise.check.facts import FileFacts
from seamwise.check.mypy_sources import relative_path

if sys.platform != 'win32':
    import fcntl

TAG = """\
Signature: 8a477f597d28d172789f06886806bc55
# This file is a cache directory tag, made by seamwise; see https://bford.info/cachedir/
"""


class CachedFile(Struct, frozen=True):
    """The facts of one file."""

    inputs: bytes
    """A digest of all that they were read from."""
    facts: FileFacts


class CacheContents(Struct, frozen=True):
    """All that is kept beside the cache of mypy."""

    seal: bytes = b''
    """A digest of the cache of mypy, as it was left."""
    reader: bytes = b''
    """A digest of the program that has read the facts."""
    files: dict[str, CachedFile] = {}


@contextmanager
def locked_folder(folder: Path | None) -> Generator[Path | None]:
    """Hold the folder against other processes; gives None where it cannot be had: another has it, or nobody may write."""
    lock = _locked(folder) if folder is not None else None
    try:
        yield folder if lock is not None else None
    finally:
        if lock is not None:
            os.close(lock)


def _locked(folder: Path) -> int | None:
    if sys.platform == 'win32':
        # Without such a lock nothing is kept there.
        return None
    try:
        _make(folder)
        lock = os.open(folder / 'lock', os.O_CREAT | os.O_RDWR, 0o644)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _make(folder: Path) -> None:
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / '.gitignore').write_text('# Made by seamwise.\n*\n', encoding='utf-8')
        (folder / 'CACHEDIR.TAG').write_text(TAG, encoding='utf-8')


class FactsCache:
    """The cache of one build."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept = self._read()

    def used_by(self, options: Options) -> None:
        """Let mypy keep its cache here."""
        options.incremental = True
        options.cache_dir = str(self._folder / 'mypy')
        options.sqlite_cache = True
        options.sqlite_num_shards = 1
        options.cache_map = {}
        options.cache_fine_grained = False
        options.skip_version_check = False

    def facts(self, state: State, result: BuildResult) -> FileFacts | None:
        """Give the facts of a file that mypy took from its cache; None where they are not kept, or no longer true."""
        found = self._kept.files.get(state.path or '')
        return found.facts if found is not None and found.inputs == _inputs(state, result) else None

    def forget(self, states: Iterable[State], result: BuildResult) -> None:
        """Let mypy read these files anew the next time."""
        store = result.manager.metastore
        for state in states:
            store.remove(get_cache_names(state.id, state.path or '', result.manager.options)[0])
        store.commit()

    def keep(self, found: Mapping[str, FileFacts], result: BuildResult) -> None:
        """Keep the facts of modules, by name, and seal what mypy has left; what cannot be written is not kept."""
        try:
            files = {path: entry for path, entry in self._kept.files.items() if Path(path).exists()}
            for name, facts in found.items():
                state = result.graph[name]
                files[state.path or ''] = CachedFile(_inputs(state, result), facts)
            kept = CacheContents(self._sealed(), _reader(), files)
            if kept != self._kept:
                self._write(msgspec.msgpack.encode(kept))
        except (OSError, sqlite3.Error):
            self.drop()

    def drop(self) -> None:
        """Remove everything."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _read(self) -> CacheContents:
        try:
            kept = msgspec.msgpack.decode((self._folder / 'facts').read_bytes(), type=CacheContents)
            if kept.seal == self._seal():
                # What another version of the rules has said is gone; what mypy knows is not.
                return kept if kept.reader == _reader() else CacheContents(kept.seal)
        except (OSError, msgspec.DecodeError):
            pass
        self.drop()
        return CacheContents()

    def _sealed(self) -> bytes:
        for database in self._databases():
            connection = sqlite3.connect(database)
            connection.execute('PRAGMA wal_checkpoint(TRUNCATE)')
            connection.close()
        return self._seal()

    def _seal(self) -> bytes:
        """Digest the databases; what is still to go into one is in a file beside it, which must be empty."""
        seal = blake2b()
        for database in self._databases():
            behind = database.with_name(f'{database.name}-wal')
            seal.update(f'{database} {behind.stat().st_size if behind.exists() else 0} '.encode())
            with database.open('rb') as file:
                seal.update(file_digest(file, blake2b).digest())
        return seal.digest()

    def _databases(self) -> list[Path]:
        return sorted((self._folder / 'mypy').glob('*/*.db'))

    def _write(self, encoded: bytes) -> None:
        with NamedTemporaryFile(dir=self._folder, delete=False) as file:
            file.write(encoded)
        Path(file.name).replace(self._folder / 'facts')


def _inputs(state: State, result: BuildResult) -> bytes:
    """Digest what the facts of a file are read from: itself, the interfaces of what it uses, options, and its place."""
    manager, graph = result.manager, result.graph
    source = (
        state.meta.hash
        if state.meta is not None and state.id not in manager.rechecked_modules
        else state.source_hash
    )
    inputs = (
        state.path,
        relative_path(state.path or ''),
        source,
        sorted((one, graph[one].interface_hash) for one in state.dependencies if one in graph),
        sorted(state.suppressed),
        options_snapshot(state.id, manager),
        manager.plugins_snapshot,
    )
    return _digest(msgspec.msgpack.encode(inputs))


@cache
def _reader() -> bytes:
    """Digest the program that reads: this folder, Python and mypy."""
    files = sorted(Path(__file__).parent.rglob('*.py'))
    return _digest(
        b'\0'.join(
            [sys.version.encode(), mypy_version.encode(), *(one.read_bytes() for one in files)]
        )
    )


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=32).digest()
