"""Writing of several files, all or none, and their differences as a patch."""

import contextlib
import difflib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success

Contents = Mapping[Path, tuple[bytes, bytes]]


class NotWritten(Struct, frozen=True):
    """Reason why no file was written."""

    path: str
    reason: str


def uncommitted(paths: Sequence[str]) -> Result[list[str], str]:
    """Return the files with uncommitted changes, or the reason why git does not say."""
    try:
        done = subprocess.run(  # noqa: S603 -- no shell
            ['git', 'status', '--porcelain', '-z', '--no-renames', '--', *paths],  # noqa: S607 -- git of the user
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        return Failure('git is not installed')
    if done.returncode:
        return Failure('git finds no repository here')
    entries = (os.fsdecode(entry)[3:] for entry in done.stdout.split(b'\0')[:-1])
    return Success([entry for entry in entries if entry.endswith('.py')])


def patch(contents: Contents) -> bytes:
    """Return the changes as a patch for `git apply`."""
    chunks: list[bytes] = []
    for path, (old, new) in contents.items():
        name = os.fsencode(os.path.relpath(path))
        lines = difflib.diff_bytes(
            difflib.unified_diff,
            _lines(old),
            _lines(new),
            b'a/' + name,
            b'b/' + name,
            lineterm=b'\n',
        )
        for line in lines:
            chunks.append(line)
            if not line.endswith(b'\n'):
                chunks.append(b'\n\\ No newline at end of file\n')
    return b''.join(chunks)


def _lines(content: bytes) -> list[bytes]:
    *lines, last = content.split(b'\n')
    return [*(line + b'\n' for line in lines), *([last] if last else [])]


def write_all(contents: Contents) -> Result[int, NotWritten]:
    """Replace all files or none, and return their number.

    New contents are written beside the files first. A signal waits until the files are replaced, or
    stops the command before the first one.
    """
    with _signals_deferred() as arrived:
        prepared: list[tuple[Path, Path]] = []
        path = Path()
        try:
            for path, (_, new) in contents.items():
                target = path.resolve()
                if arrived:
                    return Failure(NotWritten(str(path), 'the command was interrupted'))
                if not os.access(target, os.W_OK):
                    return Failure(NotWritten(str(path), 'the file is read-only'))
                handle, name = tempfile.mkstemp(dir=target.parent, prefix=f'.{target.name}.')
                prepared.append((Path(name), target))
                with os.fdopen(handle, 'wb') as file:
                    file.write(new)
                    file.flush()
                    os.fsync(file.fileno())
                shutil.copymode(target, name)
            return _rename_all(prepared, list(contents.values()))
        except OSError as error:
            return Failure(NotWritten(str(path), error.strerror or str(error)))
        finally:
            for temporary, _ in prepared:
                temporary.unlink(missing_ok=True)


def _rename_all(
    prepared: Sequence[tuple[Path, Path]], contents: Sequence[tuple[bytes, bytes]]
) -> Result[int, NotWritten]:
    done = 0
    for temporary, target in prepared:
        try:
            temporary.replace(target)
        except OSError as error:
            for (_, renamed), (old, _) in zip(prepared[:done], contents, strict=False):
                renamed.write_bytes(old)
            return Failure(NotWritten(str(target), error.strerror or str(error)))
        done += 1
    return Success(done)


@contextlib.contextmanager
def _signals_deferred() -> Generator[list[int]]:
    """Handle SIGINT, SIGTERM and SIGHUP after the block, and yield those that have arrived."""
    arrived: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        arrived.append(number)

    numbers: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.signal(number, note) for number in numbers}
    try:
        yield arrived
    finally:
        # SIGINT last: until then, a second Ctrl-C must not leave the other handlers replaced.
        for number, handler in reversed(handlers.items()):
            signal.signal(number, handler)
        for number in arrived:
            signal.raise_signal(number)
