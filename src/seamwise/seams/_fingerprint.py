"""Which errors are the same trouble: a fingerprint of what does not change from one time to the next."""

import sys
from collections.abc import Iterator
from hashlib import sha256
from re import compile as pattern
from types import CodeType

from seamwise.causes import chain
from seamwise.errors import TaggedError

_INSTALLED = pattern(r'[/\\](?:site|dist)-packages[/\\]')


def fingerprint(error: TaggedError | BaseException, operation: str | None) -> str:
    """Hash the class, the operation and our own frames, as 16 hexadecimal digits; no message, path, id or number has a part in it.

    >>> fingerprint(OSError('disk a'), 'sync') == fingerprint(OSError('disk b'), 'sync') != fingerprint(OSError('disk a'), 'save')
    True
    """
    frames = (
        frame
        for one in chain(error)
        if isinstance(one, BaseException)
        for frame in _own_frames(one)
    )
    # Each frame once: how deep a recursion was is a number too.
    parts = [_class_name(error), operation or '', *dict.fromkeys(frames)]
    return sha256('\0'.join(parts).encode('utf-8', 'backslashreplace')).hexdigest()[:16]


def _class_name(error: TaggedError | BaseException) -> str:
    if isinstance(error, TaggedError):
        return f'{type(error).__traits__.namespace}:{error.tag}'
    return f'{type(error).__module__}.{type(error).__qualname__}'


def _own_frames(error: BaseException) -> Iterator[str]:
    step = error.__traceback__
    while step is not None:
        module, code = str(step.tb_frame.f_globals.get('__name__', '')), step.tb_frame.f_code
        if _is_own(module, code):
            yield f'{module}:{code.co_qualname}'
        step = step.tb_next


def _is_own(module: str, code: CodeType) -> bool:
    """Whether a frame is neither of the standard library, of an installed package, nor of the plumbing of this library."""
    top, _, inner = module.partition('.')
    if top in sys.stdlib_module_names or _INSTALLED.search(code.co_filename):
        return False
    is_core = top == 'seamwise' and '.' not in inner
    return not is_core and not module.startswith(('seamwise.policies.', 'seamwise.seams.'))
