"""Fingerprints, which group repeated occurrences of the same error."""

import sys
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from re import compile as pattern
from types import CodeType

from seamwise._defects.defects import PLUMBING
from seamwise._errors.causes import Raised, error_chain
from seamwise._errors.errors import TaggedError

_INSTALLED = pattern(r'[/\\](?:site|dist)-packages[/\\]')


def fingerprint(error: TaggedError | BaseException, operation: str | None) -> str:
    """Return a hash of the error class, the operation and the application's own frames.

    It has 16 hexadecimal digits. Messages, paths, ids and numbers do not affect it.

    >>> first, second = OSError('disk a'), OSError('disk b')
    >>> fingerprint(first, 'sync') == fingerprint(second, 'sync') != fingerprint(first, 'save')
    True
    """
    frames = (
        frame
        for item in error_chain(error)
        if isinstance(item, BaseException)
        for frame in _own_frames(item)
    )
    # Each frame once: the depth of a recursion must not change the fingerprint.
    return _hash((_class_name(type(error)), operation or '', *dict.fromkeys(frames)))


def class_fingerprint(kind: type[TaggedError], operation: str | None) -> str:
    """Return the fingerprint of the errors of a class that have no cause."""
    return _hash((_class_name(kind), operation or ''))


@lru_cache(maxsize=1024)
def _hash(parts: tuple[str, ...]) -> str:
    return sha256('\0'.join(parts).encode('utf-8', 'backslashreplace')).hexdigest()[:16]


def error_type(error: object) -> str:
    """Return the value of the attribute `error.type` of OpenTelemetry.

    It is the tag of an error, also of one in `Raised`, or the full class name of an exception and
    of any other value.

    >>> from msgspec import DecodeError
    >>> error_type(KeyError('a')), error_type(DecodeError())
    ('KeyError', 'msgspec.DecodeError')
    """
    if isinstance(error, Raised):
        error = error.error
    if isinstance(error, TaggedError):
        return error.tag
    class_ = type(error)
    # Like `exception.type` in the SDK of OpenTelemetry.
    if class_.__module__ == 'builtins':
        return class_.__qualname__
    return f'{class_.__module__}.{class_.__qualname__}'


def _class_name(kind: type[TaggedError | BaseException]) -> str:
    if issubclass(kind, TaggedError):
        return f'{kind.__traits__.namespace}:{kind.__traits__.tag}'
    return f'{kind.__module__}.{kind.__qualname__}'


def _own_frames(error: BaseException) -> Iterator[str]:
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        module = str(frame.f_globals.get('__name__', ''))
        if _is_own(module, frame.f_code):
            yield f'{module}:{frame.f_code.co_qualname}'
        traceback = traceback.tb_next


def _is_own(module: str, code: CodeType) -> bool:
    """Check that a frame is not of the standard library, an installed package or seamwise.

    The tool host of seamwise counts as an application.
    """
    top, _, submodule = module.partition('.')
    if top in sys.stdlib_module_names or _INSTALLED.search(code.co_filename):
        return False
    return top != 'seamwise' or submodule.partition('.')[0] not in {'', *PLUMBING}
