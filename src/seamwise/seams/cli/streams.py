"""Writing to standard streams that can be closed, full or without a reader."""

import os
import select
import sys
from errno import ENOSPC
from typing import TextIO

CANNOT_WRITE = 74
"""EX_IOERR of sysexits.h."""

READER_GONE = 141
"""128 + SIGPIPE: the code that shells report for a program whose reader has ended."""


def write(text: str, stream: TextIO | None) -> None:
    """Write lines to a stream and flush it; an empty text writes nothing.

    Raises:
        OSError: The stream is closed, its disk is full, or its reader has ended.
    """
    if not text:
        return
    # Python sets a standard stream to None if it is closed when the process starts.
    if stream is None:
        raise OSError('it is closed')
    stream.write(encode_for_stream(text + '\n', stream).decode(stream.encoding or 'utf-8'))
    stream.flush()


def write_or_discard(text: str, stream: TextIO | None) -> None:
    """Write lines to standard error; if that fails, only the exit code reports the failure."""
    try:
        write(text, stream)
    except OSError:
        discard_buffer(stream)


def exit_code_of(error: OSError, stdout: TextIO | None, stderr: TextIO | None) -> int:
    """Report that standard output cannot be written; return the exit code."""
    discard_buffer(stdout)
    if isinstance(error, BrokenPipeError):
        return READER_GONE
    write_or_discard(f'cannot write to standard output: {error.strerror or error}.', stderr)
    return CANNOT_WRITE


def has_failed(stream: TextIO | None, error: OSError) -> bool:
    """Return whether an OSError comes from a stream, and not from a file or socket of the program.

    The exception itself does not name the stream, whose buffer may have been discarded by then.
    """
    try:
        descriptor = -1 if stream is None else stream.fileno()
    except (OSError, ValueError):
        return False
    if descriptor < 0:
        return False
    if isinstance(error, BrokenPipeError):
        poll = select.poll()
        poll.register(descriptor, 0)
        return bool(poll.poll(0))
    if error.errno != ENOSPC:
        return False
    try:
        os.write(descriptor, b'')
    except OSError:
        return True
    return os.fstatvfs(descriptor).f_bavail == 0


def discard_buffer(stream: TextIO | None) -> None:
    """Discard the buffer of a standard stream, which Python would try to write again at exit."""
    # Other streams are closed by their owner, who sees the error.
    if stream is None or not (stream is sys.stdout or stream is sys.stderr):
        return
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


def encode_for_stream(text: str, stream: TextIO) -> bytes:
    """Encode a text for a stream; characters that its encoding lacks are escaped."""
    return text.encode(stream.encoding or 'utf-8', 'backslashreplace')
