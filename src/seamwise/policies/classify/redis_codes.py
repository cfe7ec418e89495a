"""What Redis says by code, where redis-py has no class for it, or does not see it."""

from re import compile as compile_pattern

_NOT_NOW = frozenset({'BUSY', 'MISCONF', 'NOREPLICAS', 'OOM', 'READONLY'})

_IN_A_SCRIPT = compile_pattern(r'(?:ERR )?Error running script .*?: -([A-Z]+) ')


def cannot_now(reply: str, /) -> bool:
    """Say whether an error that Redis replies means that it cannot serve now: it is busy, full, cut off, or a replica.

    The code is the first word. Before Redis 7, that of a command in a script stands behind where in the script it was.

    >>> cannot_now('MISCONF Errors writing to the AOF file'), cannot_now('WRONGTYPE Operation against a key')
    (True, False)
    """
    inner = _IN_A_SCRIPT.match(reply)
    return (inner[1] if inner else reply.partition(' ')[0]) in _NOT_NOW
