"""Error codes of database drivers and Redis; the other words of a message are not evaluated."""

from collections.abc import Iterator
from re import compile as compile_pattern
from typing import Literal, TypeAlias

ErrorType: TypeAlias = Literal['unavailable', 'credentials', 'duplicate_key']
"""The database cannot serve the request now, rejects the credentials, or already has the key."""

_SQLITE_PRIMARY_CODES: dict[int, ErrorType] = {
    5: 'unavailable',  # SQLITE_BUSY: another connection writes
    6: 'unavailable',  # SQLITE_LOCKED
    10: 'unavailable',  # SQLITE_IOERR
    13: 'unavailable',  # SQLITE_FULL
    14: 'unavailable',  # SQLITE_CANTOPEN
    15: 'unavailable',  # SQLITE_PROTOCOL: the race for a lock was lost too often
}
_SQLITE_EXTENDED_CODES: dict[int, ErrorType] = {
    1555: 'duplicate_key',  # SQLITE_CONSTRAINT_PRIMARYKEY
    2067: 'duplicate_key',  # SQLITE_CONSTRAINT_UNIQUE
    2579: 'duplicate_key',  # SQLITE_CONSTRAINT_ROWID
}
"""The low byte of an extended code is the primary code."""

_SQLSTATES: dict[str, ErrorType] = {
    '08': 'unavailable',  # connection exception
    '28': 'credentials',  # invalid authorization specification
    '40001': 'unavailable',  # serialization failure: the whole transaction may be retried
    '40P01': 'unavailable',  # deadlock detected: the whole transaction may be retried
    '53': 'unavailable',  # insufficient resources: connections, memory, disk
    '55P03': 'unavailable',  # lock not available
    '57P01': 'unavailable',  # admin shutdown
    '57P02': 'unavailable',  # crash shutdown
    '57P03': 'unavailable',  # cannot connect now: the server is starting
    '23505': 'duplicate_key',  # unique violation
    'HYT00': 'unavailable',  # ODBC: timeout expired
    'HYT01': 'unavailable',  # ODBC: connection timeout expired
}
"""By SQLSTATE, or by its class, the first two characters.

Sources: SQL:2023; appendix A of the PostgreSQL manual; appendix A of the ODBC reference.
"""

_MYSQL_CODES: dict[int, ErrorType] = {
    1040: 'unavailable',  # ER_CON_COUNT_ERROR: too many connections
    1044: 'credentials',  # ER_DBACCESS_DENIED_ERROR: the user may not access this database
    1045: 'credentials',  # ER_ACCESS_DENIED_ERROR
    1053: 'unavailable',  # ER_SERVER_SHUTDOWN
    1062: 'duplicate_key',  # ER_DUP_ENTRY
    1158: 'unavailable',  # ER_NET_READ_ERROR
    1159: 'unavailable',  # ER_NET_READ_INTERRUPTED
    1160: 'unavailable',  # ER_NET_ERROR_ON_WRITE
    1161: 'unavailable',  # ER_NET_WRITE_INTERRUPTED
    1203: 'unavailable',  # ER_TOO_MANY_USER_CONNECTIONS
    1205: 'unavailable',  # ER_LOCK_WAIT_TIMEOUT
    1213: 'unavailable',  # ER_LOCK_DEADLOCK: the whole transaction may be retried
    1586: 'duplicate_key',  # ER_DUP_ENTRY_WITH_KEY_NAME
    1698: 'credentials',  # ER_ACCESS_DENIED_NO_PASSWORD_ERROR
    2002: 'unavailable',  # CR_CONNECTION_ERROR
    2003: 'unavailable',  # CR_CONN_HOST_ERROR
    2006: 'unavailable',  # CR_SERVER_GONE_ERROR
    2013: 'unavailable',  # CR_SERVER_LOST
    2055: 'unavailable',  # CR_SERVER_LOST_EXTENDED
}
"""By error number of MySQL and MariaDB."""

_SQLSTATE_PATTERN = compile_pattern('[0-9A-Z]{5}')

_UNAVAILABLE_REDIS_CODES = frozenset({'BUSY', 'MISCONF', 'NOREPLICAS', 'OOM', 'READONLY'})

_REDIS_SCRIPT_ERROR = compile_pattern(r'(?:ERR )?Error running script .*?: -([A-Z]+) ')


def driver_error_type(error: BaseException, /) -> ErrorType | None:
    """Return the type of a driver's exception by its codes, or None if they are not known.

    It reads `sqlite_errorcode` (sqlite3, aiosqlite), `sqlstate` and `pgcode` (psycopg, asyncpg),
    the SQLSTATE in the first argument (pyodbc), and the number in the first argument (MySQL).

    >>> driver_error_type(OSError(1213, 'Deadlock found when trying to get lock'))
    'unavailable'
    """
    return next((type_ for type_ in _error_types(error) if type_ is not None), None)


def has_error_code(error: BaseException, /) -> bool:
    """Return whether a driver's exception has any code; many drivers have none for connections."""
    codes = (_sqlite_code(error), _sqlstate(error), _error_number(error))
    return any(code is not None for code in codes)


def is_redis_unavailable(message: str, /) -> bool:
    """Return whether an error reply means that Redis is busy, full, without replicas, or a replica.

    redis-py has no class for some of these codes, or does not recognize them. The code is the
    first word of the reply. Before Redis 7, an error in a script has it after the position.

    >>> is_redis_unavailable('MISCONF Errors writing to the AOF file')
    True
    >>> is_redis_unavailable('WRONGTYPE Operation against a key')
    False
    """
    match = _REDIS_SCRIPT_ERROR.match(message)
    code = match[1] if match else message.partition(' ')[0]
    return code in _UNAVAILABLE_REDIS_CODES


def _error_types(error: BaseException) -> Iterator[ErrorType | None]:
    if (code := _sqlite_code(error)) is not None:
        yield _SQLITE_EXTENDED_CODES.get(code) or _SQLITE_PRIMARY_CODES.get(code & 0xFF)
    if (sqlstate := _sqlstate(error)) is not None:
        yield _SQLSTATES.get(sqlstate) or _SQLSTATES.get(sqlstate[:2])
    if (number := _error_number(error)) is not None:
        yield _MYSQL_CODES.get(number)


def _sqlite_code(error: BaseException) -> int | None:
    code: object = getattr(error, 'sqlite_errorcode', None)
    return code if isinstance(code, int) else None


def _sqlstate(error: BaseException) -> str | None:
    for name in ('sqlstate', 'pgcode'):
        code: object = getattr(error, name, None)
        if isinstance(code, str):
            return code
    argument = _first_argument(error)
    if isinstance(argument, str) and _SQLSTATE_PATTERN.fullmatch(argument):
        return argument
    return None


def _error_number(error: BaseException) -> int | None:
    argument = _first_argument(error)
    return argument if isinstance(argument, int) else None


def _first_argument(error: BaseException) -> object:
    return error.args[0] if error.args else None
