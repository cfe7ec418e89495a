"""What drivers of databases say by code, and never by text: whether to try again, to sign in otherwise, or that a key is taken."""

from collections.abc import Iterator
from re import compile as compile_pattern
from typing import Literal, TypeAlias

Meaning: TypeAlias = Literal['not_now', 'credentials', 'taken']
"""The database cannot serve this now, wants other credentials, or has a record under this key already."""

_SQLITE_BY_FAMILY: dict[int, Meaning] = {
    5: 'not_now',  # SQLITE_BUSY: another connection writes
    6: 'not_now',  # SQLITE_LOCKED
    10: 'not_now',  # SQLITE_IOERR
    13: 'not_now',  # SQLITE_FULL
    14: 'not_now',  # SQLITE_CANTOPEN
    15: 'not_now',  # SQLITE_PROTOCOL: the race for a lock was lost too often
}
_SQLITE: dict[int, Meaning] = {1555: 'taken', 2067: 'taken', 2579: 'taken'}
"""SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID: extended codes, whose low byte is that of the family."""

_STATES: dict[str, Meaning] = {
    '08': 'not_now',  # connection exception
    '28': 'credentials',  # invalid authorization specification
    '40001': 'not_now',  # serialization failure: the whole transaction may be tried again
    '40P01': 'not_now',  # deadlock detected, likewise
    '53': 'not_now',  # insufficient resources: connections, memory, disk
    '55P03': 'not_now',  # lock not available
    '57P01': 'not_now',  # the server is shut down
    '57P02': 'not_now',  # it has crashed
    '57P03': 'not_now',  # it starts
    '23505': 'taken',  # unique violation
    'HYT00': 'not_now',  # ODBC: timeout
    'HYT01': 'not_now',  # ODBC: connection timeout
}
"""By SQLSTATE, whole or its class, the first two characters: SQL:2023, PostgreSQL's appendix A, ODBC's appendix A."""

_MYSQL: dict[int, Meaning] = {
    1040: 'not_now',  # too many connections
    1044: 'credentials',  # this user may not use this database
    1045: 'credentials',
    1053: 'not_now',  # the server is shut down
    1062: 'taken',
    1158: 'not_now', 1159: 'not_now', 1160: 'not_now', 1161: 'not_now',  # the connection broke
    1203: 'not_now',  # too many connections of this user
    1205: 'not_now',  # waited too long for a lock
    1213: 'not_now',  # deadlock: the whole transaction may be tried again
    1586: 'taken',
    1698: 'credentials',
    2002: 'not_now', 2003: 'not_now', 2006: 'not_now', 2013: 'not_now', 2055: 'not_now',  # no connection, or it broke
}  # fmt: skip
"""By MySQL's and MariaDB's own numbers of errors."""

_STATE = compile_pattern('[0-9A-Z]{5}')


def meaning(raised: BaseException, /) -> Meaning | None:
    """Give what the exception of a driver means by its codes, or None where they do not say.

    Read are `sqlite_errorcode` (sqlite3, aiosqlite), `sqlstate` and `pgcode` (psycopg, asyncpg, pyodbc's first
    argument), and the number that drivers of MySQL put first.

    >>> raised = OSError(1213, 'Deadlock found when trying to get lock')
    >>> meaning(raised), meaning(OSError('what'))
    ('not_now', None)
    """
    return next((found for found in _meanings(raised) if found is not None), None)


def says_nothing(raised: BaseException, /) -> bool:
    """Tell whether the exception of a driver has no code at all, as that of a connection that never came about."""
    return _sqlite_code(raised) is None and _state(raised) is None and _number(raised) is None


def _meanings(raised: BaseException) -> Iterator[Meaning | None]:
    if (code := _sqlite_code(raised)) is not None:
        yield _SQLITE.get(code) or _SQLITE_BY_FAMILY.get(code & 0xFF)
    if (state := _state(raised)) is not None:
        yield _STATES.get(state) or _STATES.get(state[:2])
    if (number := _number(raised)) is not None:
        yield _MYSQL.get(number)


def _sqlite_code(raised: BaseException) -> int | None:
    code: object = getattr(raised, 'sqlite_errorcode', None)
    return code if isinstance(code, int) else None


def _state(raised: BaseException) -> str | None:
    for name in ('sqlstate', 'pgcode'):
        said: object = getattr(raised, name, None)
        if isinstance(said, str):
            return said
    first = _first(raised)
    return first if isinstance(first, str) and _STATE.fullmatch(first) else None


def _number(raised: BaseException) -> int | None:
    first = _first(raised)
    return first if isinstance(first, int) else None


def _first(raised: BaseException) -> object:
    return raised.args[0] if raised.args else None
