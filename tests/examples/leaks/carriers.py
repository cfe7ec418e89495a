# The programs find the examples at run time.
# mypy: disable-error-code="import-not-found"
"""Functions that raise exceptions or return errors, each with a marked secret."""

import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NoReturn
from urllib.parse import quote

import msgspec
import pydantic
import sqlalchemy
from shop.errors import CardDeclined, ProductNotFound
from typing_extensions import override

from seamwise import Category, Cause, Failure, Internal, Result, Secret, TaggedError
from seamwise.catalog.network import HostUnreachable, UpstreamFailed
from seamwise.catalog.storage import RecordNotFound, StoreUnavailable
from tests.examples.leaks.marks import mark


class VaultClosed(
    TaggedError,
    category=Category.CONFLICT,
    message='The vault {name!r} is closed: {reason}.',
    public='The vault {name!r} is closed.',
    namespace='tests.leaks',
):
    """Error with a field of every kind."""

    name: str
    details: object = None
    reason: Internal[str] = ''
    key: Secret[str] | None = None
    cause: Cause | None = None


class _Login(pydantic.BaseModel):
    password: pydantic.SecretStr = pydantic.Field(min_length=80)


class _Account(msgspec.Struct):
    user: str
    password: str


class _Settings(Mapping[str, str]):
    def __init__(self, items: dict[str, str]) -> None:
        self._items = items

    @override
    def __getitem__(self, key: str) -> str:
        return self._items[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    @override
    def __len__(self) -> int:
        return len(self._items)


def _message() -> NoReturn:
    raise RuntimeError(f'login with password={mark("message")} failed')


def _bytes() -> NoReturn:
    raise RuntimeError(f'POST / Authorization: Bearer {mark("bytes")}'.encode())


def _cause() -> NoReturn:
    try:
        raise OSError(111, f'could not connect to postgresql://app:{mark("cause")}@db/shop')
    except OSError as error:
        raise RuntimeError('no orders') from error


def _context() -> NoReturn:
    try:
        raise ValueError(f'api_key: {mark("context")}')
    except ValueError:
        raise RuntimeError('no orders')  # noqa: B904 -- a context without `from`


def _note() -> NoReturn:
    error = RuntimeError('no orders')
    error.add_note(f'client_secret="{mark("note")}"')
    raise error


def _group() -> NoReturn:
    inner = ExceptionGroup('inner', [ValueError(f'token={mark("group")}')])
    raise ExceptionGroup('outer', [KeyError('a'), inner])


def _attribute() -> NoReturn:
    error = RuntimeError('no orders')
    error.headers = {'X-Api-Key': mark('attribute')}  # type: ignore[attr-defined]  # as clients of HTTP do
    raise error


def _file_name() -> NoReturn:
    raise FileNotFoundError(2, 'No such file', f'/var/password={mark("file_name")}')


def _command() -> NoReturn:
    command = [sys.executable, '-c', 'raise SystemExit(3)', '--password', mark('command')]
    subprocess.run(command, check=True)
    raise AssertionError


def _output() -> NoReturn:
    program = f'print("DB_PASSWORD={mark("output")}"); raise SystemExit(3)'
    command = [sys.executable, '-c', program]
    subprocess.run(command, check=True, capture_output=True)
    raise AssertionError


def _key() -> NoReturn:
    settings: dict[str, str] = {}
    settings[f'secret={mark("key")}']
    raise AssertionError


def _json() -> NoReturn:
    raise RuntimeError(json.dumps({'request': json.dumps({'password': mark('json')})}))


def _percent() -> NoReturn:
    raise ConnectionError('GET http://h/?q=' + quote(f'password={mark("percent")}', safe=''))


def _basic() -> NoReturn:
    credentials = b64encode(b'ann:' + mark('basic').encode()).decode()
    raise RuntimeError(f'Basic {credentials}')


def _validation() -> NoReturn:
    _Login.model_validate({'password': mark('validation')})
    raise AssertionError


_ROWS: Final = 'INSERT INTO users (name, password) VALUES (:name, :password)'


def _row() -> NoReturn:
    with sqlalchemy.create_engine('sqlite://').connect() as connection:
        connection.execute(sqlalchemy.text(_ROWS), {'name': 'ann', 'password': mark('row')})
    raise AssertionError


def _rows() -> NoReturn:
    rows = [{'name': name, 'password': mark('rows')} for name in ('ann', 'bob')]
    with sqlalchemy.create_engine('sqlite://').connect() as connection:
        connection.execute(sqlalchemy.text(_ROWS), rows)
    raise AssertionError


def _literal() -> NoReturn:
    password = 'quokka99zebra99'  # noqa: S105 -- the mark in a line of source code
    raise RuntimeError(f'{len(password)} characters')


def _private_key() -> NoReturn:
    key = f'-----BEGIN PRIVATE KEY-----\n{mark("private_key")}\n-----END PRIVATE KEY-----'
    raise RuntimeError(f'no key in {key}')


def _local() -> NoReturn:
    password = mark('local')
    raise RuntimeError(f'{len(password)} characters')


def _local_mapping() -> NoReturn:
    settings = _Settings({'DB_PASSWORD': mark('local_mapping')})
    proxy = MappingProxyType({'Cookie': mark('local_mapping')})
    raise RuntimeError(f'{len(settings)} settings, {len(proxy)} headers')


def _local_record() -> NoReturn:
    account = _Account('ann', mark('local_record'))
    raise RuntimeError(f'no {account.user}')


def _deep_local() -> NoReturn:
    requests = [{'headers': [('Authorization', f'Bearer {mark("deep_local")}')]}]
    raise RuntimeError(f'{len(requests)} requests')


def _long_text() -> NoReturn:
    # A text is cut in many places; the cut must not separate a name from its value.
    raise RuntimeError('x' * 1015 + f' password={mark("long_text")} ' + 'y' * 100_000)


def _dsn() -> NoReturn:
    dsn = f'Server=db;Uid=app;Pwd={mark("dsn")};'
    raise RuntimeError(f'no connection with {dsn}')


def _environment() -> NoReturn:
    settings = {name: os.environ[name] for name in ('BANK_URL', 'DB_PASSWORD')}
    raise RuntimeError(f'no orders, {settings}')


EXCEPTIONS: Final[tuple[Callable[[], NoReturn], ...]] = (
    *(_message, _bytes, _cause, _context, _note, _group, _attribute, _file_name, _command),
    *(_output, _key, _json, _percent, _basic, _validation, _row, _rows, _literal, _private_key),
    *(_local, _local_mapping, _local_record, _deep_local, _long_text, _dsn, _environment),
)


def errors() -> Iterator[TaggedError]:
    """Yield an error of every kind with a secret."""
    yield ProductNotFound(f'https://ann:{mark("sku")}@example.org/')
    yield CardDeclined(f'card with token={mark("field")}')
    yield HostUnreachable('bank', f'no route to https://ann:{mark("field")}@bank/')
    yield UpstreamFailed('bank', 500, json.dumps({'api_key': mark('field')}))
    yield StoreUnavailable('shop', f'postgresql://app:{mark("field")}@db/shop')
    yield VaultClosed(f'password={mark("field")}')
    yield VaultClosed('a', {'items': [{'headers': (('X-Api-Key', mark('nested_field')),)}]})
    yield VaultClosed('a', _Account('ann', mark('nested_field')))
    yield VaultClosed('a', _Settings({'password': mark('nested_field')}))
    yield VaultClosed('a', key=Secret(mark('secret_field')))
    yield VaultClosed('a', Secret(mark('secret_field')))
    yield VaultClosed('a', reason=f'lock held by {mark("internal_field")}')
    inner = VaultClosed('b', reason=f'lock held by {mark("error_in_error")}')
    yield VaultClosed('a', inner)
    yield VaultClosed('a', {'errors': [inner]})
    yield VaultClosed('a', cause=StoreUnavailable('shop', f'password={mark("error_cause")}'))
    yield VaultClosed('a', cause=RuntimeError(f'Cookie: sid={mark("error_cause")}'))
    yield RecordNotFound('user', f'token={mark("field")}')


def failing(error: TaggedError) -> Result[NoReturn, TaggedError]:
    """Return a failure."""
    return Failure(error)
