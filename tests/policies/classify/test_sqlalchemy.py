"""Classifier of SQLAlchemy, with a real SQLite and simulated errors of other drivers."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, ExceptionContext, String, create_engine, event, exc, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.pool import QueuePool

from seamwise import Category, Failure, Result, Success, error_chain, refine
from seamwise.catalog.network import CredentialsRejected
from seamwise.catalog.storage import RecordExists, RecordNotFound, StoreUnavailable
from seamwise.policies.classify.driver_codes import driver_error_type
from seamwise.policies.classify.sqlalchemy import sqlalchemy_failures

PASSWORD = 'hunter2'  # noqa: S105

StoreError = StoreUnavailable | CredentialsRejected
FAILURES = sqlalchemy_failures('shop')


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = 'users'
    email: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    age: Mapped[int | None]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    sqlite_engine = create_engine(f'sqlite:///{tmp_path / "shop.db"}', connect_args={'timeout': 0})
    Base.metadata.create_all(sqlite_engine)
    yield sqlite_engine
    sqlite_engine.dispose()


def add(engine: Engine, email: str, name: str) -> str:
    with Session(engine) as session, session.begin():
        session.add(User(email=email, name=name))
    return email


def run(engine: Engine, statement: str, **parameters: object) -> object:
    with engine.begin() as connection:
        return connection.execute(text(statement), parameters)


def classified_error(call: Callable[[], object]) -> StoreError:
    result: Result[object, StoreError] = refine(call, FAILURES)
    assert isinstance(result, Failure)
    error = result.failure()
    assert not [cause for cause in error_chain(error) if PASSWORD in str(cause)]
    return error


def test_returned_value_is_a_success(engine: Engine) -> None:
    assert refine(lambda: add(engine, 'ann@example.org', 'ann'), FAILURES) == Success(
        'ann@example.org'
    )


def test_locked_database_is_an_unavailable_store_and_the_error_contains_no_parameters(
    engine: Engine,
) -> None:
    with engine.connect() as writer:
        writer.execute(text("insert into users values ('bob@example.org', 'bob', 7)"))
        error = classified_error(lambda: add(engine, 'ann@example.org', PASSWORD))
    assert error == StoreUnavailable('shop', 'database is locked', cause=error.cause)
    assert (error.category, error.retryable) == (Category.UNAVAILABLE, True)
    assert isinstance(error.cause, sqlite3.OperationalError)


def test_database_that_cannot_be_opened_is_an_unavailable_store(tmp_path: Path) -> None:
    engine = create_engine(f'sqlite:///{tmp_path / "no" / "shop.db"}')
    error = classified_error(engine.connect)
    assert error == StoreUnavailable('shop', 'unable to open database file', cause=error.cause)


def test_pool_without_a_free_connection_is_an_unavailable_store(tmp_path: Path) -> None:
    engine = create_engine(
        f'sqlite:///{tmp_path / "shop.db"}',
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=0,
        pool_timeout=0.01,
    )
    with engine.connect():
        error = classified_error(engine.connect)
    assert isinstance(error, StoreUnavailable)
    assert isinstance(error.cause, exc.TimeoutError)
    engine.dispose()


def test_missing_table_is_a_defect(engine: Engine) -> None:
    with pytest.raises(exc.OperationalError, match='no such table'):
        refine(lambda: run(engine, 'select * from orders'), FAILURES)


def test_invalid_statement_is_a_defect(engine: Engine) -> None:
    with pytest.raises(exc.OperationalError, match='syntax error'):
        refine(lambda: run(engine, 'selekt'), FAILURES)
    with pytest.raises(exc.StatementError, match='bind parameter'):
        refine(lambda: run(engine, 'select :missing'), FAILURES)
    with pytest.raises(exc.ResourceClosedError):
        refine(lambda: execute_on_closed_connection(engine), FAILURES)


def execute_on_closed_connection(engine: Engine) -> object:
    connection = engine.connect()
    connection.close()
    return connection.execute(text('select 1'))


@pytest.mark.parametrize(
    ('email', 'name'), [('ann@example.org', 'other'), ('other@example.org', 'ann')]
)
def test_duplicate_key_is_the_error_passed_as_exists(engine: Engine, email: str, name: str) -> None:
    add(engine, 'ann@example.org', 'ann')
    exists = RecordExists('user', email)
    result: Result[str, StoreError | RecordExists] = refine(
        lambda: add(engine, email, name), sqlalchemy_failures('shop', exists=exists)
    )
    assert result == Failure(exists)
    with pytest.raises(exc.IntegrityError, match='UNIQUE'):
        refine(lambda: add(engine, email, name), FAILURES)


def test_missing_required_value_is_a_defect(engine: Engine) -> None:
    with pytest.raises(exc.IntegrityError, match='NOT NULL'):
        refine(
            lambda: run(engine, "insert into users (email) values ('x')"),
            sqlalchemy_failures('shop', exists=RecordExists('user', 'x')),
        )


def test_missing_row_is_the_error_passed_as_missing(engine: Engine) -> None:
    def find() -> User:
        with Session(engine) as session:
            return session.get_one(User, 'nobody@example.org')

    missing = RecordNotFound('user', 'nobody@example.org')
    result: Result[User, StoreError | RecordNotFound] = refine(
        find, sqlalchemy_failures('shop', missing=missing)
    )
    assert result == Failure(missing)
    with pytest.raises(exc.NoResultFound):
        refine(find, FAILURES)


class DriverError(sqlite3.OperationalError):
    """An error of another driver; SQLAlchemy wraps it like one of SQLite."""

    sqlstate: str | None = None
    pgcode: str | None = None


class ConnectionBroken(sqlite3.DatabaseError):
    """An error that is not an OperationalError."""


@pytest.fixture
def query_raising(engine: Engine) -> Callable[[Exception], Callable[[], object]]:
    def create_query(error: Exception) -> Callable[[], object]:
        def raise_error(*_: object) -> None:
            raise error

        event.listen(engine, 'do_execute', raise_error)
        return lambda: run(engine, 'select :password', password=PASSWORD)

    return create_query


QueryRaising = Callable[[Exception], Callable[[], object]]


def error_with_sqlstate(sqlstate: str, name: str = 'sqlstate') -> DriverError:
    error = DriverError('of a driver')
    setattr(error, name, sqlstate)
    return error


@pytest.mark.parametrize('name', ['sqlstate', 'pgcode'])
@pytest.mark.parametrize(
    'sqlstate',
    ['08006', '40001', '40P01', '53300', '55P03', '57P01', '57P02', '57P03', 'HYT00', 'HYT01'],
)
def test_sqlstate_of_an_outage_is_an_unavailable_store(
    query_raising: QueryRaising, sqlstate: str, name: str
) -> None:
    error = classified_error(query_raising(error_with_sqlstate(sqlstate, name)))
    assert error == StoreUnavailable('shop', 'of a driver', cause=error.cause)
    assert type(error.cause) is DriverError


@pytest.mark.parametrize('sqlstate', ['28000', '28P01'])
def test_sqlstate_of_wrong_credentials_is_rejected_credentials(
    query_raising: QueryRaising, sqlstate: str
) -> None:
    call = query_raising(error_with_sqlstate(sqlstate))
    assert classified_error(call) == CredentialsRejected(
        'shop', (), cause=classified_error(call).cause
    )
    error = refine(call, sqlalchemy_failures('shop', required_config=('DATABASE_URL',))).failure()
    assert error == CredentialsRejected('shop', ('DATABASE_URL',), cause=error.cause)


def test_sqlstate_of_a_unique_violation_is_the_error_passed_as_exists(
    query_raising: QueryRaising,
) -> None:
    exists = RecordExists('user', 'ann')
    assert refine(
        query_raising(error_with_sqlstate('23505')), sqlalchemy_failures('shop', exists=exists)
    ) == Failure(exists)


@pytest.mark.parametrize(
    'sqlstate', ['22001', '23502', '23503', '40002', '42601', '42P01', '57014', 'XX000', '']
)
def test_other_sqlstate_is_a_defect(query_raising: QueryRaising, sqlstate: str) -> None:
    with pytest.raises(exc.OperationalError):
        refine(query_raising(error_with_sqlstate(sqlstate)), FAILURES)


@pytest.mark.parametrize(
    'number', [1040, 1053, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 2002, 2003, 2006, 2013, 2055]
)
def test_mysql_number_of_an_outage_is_an_unavailable_store(
    query_raising: QueryRaising, number: int
) -> None:
    error = classified_error(query_raising(DriverError(number, 'of MySQL')))
    assert type(error) is StoreUnavailable


@pytest.mark.parametrize('number', [1044, 1045, 1698])
def test_mysql_number_of_wrong_credentials_is_rejected_credentials(
    query_raising: QueryRaising, number: int
) -> None:
    assert (
        type(classified_error(query_raising(DriverError(number, 'of MySQL'))))
        is CredentialsRejected
    )


@pytest.mark.parametrize('number', [1062, 1586])
def test_mysql_number_of_a_duplicate_key_is_the_error_passed_as_exists(
    query_raising: QueryRaising, number: int
) -> None:
    exists = RecordExists('user', 'ann')
    assert refine(
        query_raising(DriverError(number, 'of MySQL')), sqlalchemy_failures('shop', exists=exists)
    ) == Failure(exists)


@pytest.mark.parametrize('number', [0, 5, 1064, 1146, 1452])
def test_other_mysql_number_is_a_defect(query_raising: QueryRaising, number: int) -> None:
    with pytest.raises(exc.OperationalError):
        refine(query_raising(DriverError(number, 'of MySQL')), FAILURES)


def test_sqlstate_in_the_first_argument_is_recognized(query_raising: QueryRaising) -> None:
    assert (
        type(classified_error(query_raising(DriverError('08S01', 'the link failed'))))
        is StoreUnavailable
    )
    assert driver_error_type(DriverError('08s01', 'no state')) is None
    assert driver_error_type(DriverError('08S012', 'no state')) is None
    assert driver_error_type(DriverError('40001', 'a deadlock')) == 'unavailable'
    assert driver_error_type(DriverError('08 S1', 'no state')) is None
    assert driver_error_type(DriverError()) is None


def test_error_type_is_that_of_the_first_known_code() -> None:
    error = DriverError(1213, 'HY000')
    error.sqlstate = 'HY000'
    assert driver_error_type(error) == 'unavailable'
    error.sqlstate = '28000'
    assert driver_error_type(error) == 'credentials'


@pytest.mark.parametrize(
    ('code', 'expected'),
    [
        (sqlite3.SQLITE_BUSY_SNAPSHOT, 'unavailable'),
        (sqlite3.SQLITE_LOCKED_SHAREDCACHE, 'unavailable'),
        (sqlite3.SQLITE_IOERR_READ, 'unavailable'),
        (sqlite3.SQLITE_FULL, 'unavailable'),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, 'unavailable'),
        (sqlite3.SQLITE_PROTOCOL, 'unavailable'),
        (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, 'duplicate_key'),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, 'duplicate_key'),
        (sqlite3.SQLITE_CONSTRAINT_ROWID, 'duplicate_key'),
        (sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY, None),
        (sqlite3.SQLITE_ERROR, None),
        (sqlite3.SQLITE_CORRUPT, None),
        (sqlite3.SQLITE_READONLY, None),
    ],
)
def test_sqlite_code_has_an_error_type(code: int, expected: str | None) -> None:
    error = DriverError('of SQLite')
    error.sqlite_errorcode = code
    assert driver_error_type(error) == expected


def test_broken_connection_is_an_unavailable_store(
    engine: Engine, query_raising: QueryRaising
) -> None:
    call = query_raising(
        ConnectionBroken('server closed the connection unexpectedly\n\tThis probably means…')
    )
    with pytest.raises(exc.DatabaseError):
        refine(call, FAILURES)

    @event.listens_for(engine, 'handle_error')
    def _(context: ExceptionContext) -> None:
        context.is_disconnect = True

    error = classified_error(call)
    assert error == StoreUnavailable(
        'shop', 'server closed the connection unexpectedly', cause=error.cause
    )


def test_connection_error_without_a_code_is_an_unavailable_store() -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise DriverError(f'no connection to postgresql://ann:{PASSWORD}@db/shop: refused')

    engine = create_engine('sqlite://', creator=refuse)
    error = refine(engine.connect, FAILURES).failure()
    assert error == StoreUnavailable(
        'shop', 'no connection to postgresql://***@db/shop: refused', cause=error.cause
    )


def test_programming_error_of_a_connection_is_a_defect() -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise sqlite3.ProgrammingError('no such database')

    with pytest.raises(exc.ProgrammingError):
        refine(create_engine('sqlite://', creator=refuse).connect, FAILURES)


@pytest.mark.parametrize(
    'error',
    [
        error_with_sqlstate('3D000'),
        DriverError(1049, 'unknown database'),
        error_with_sqlstate('', 'pgcode'),
    ],
)
def test_connection_error_with_another_code_is_a_defect(error: Exception) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise error

    with pytest.raises(exc.OperationalError):
        refine(create_engine('sqlite://', creator=refuse).connect, FAILURES)


def test_connection_error_with_another_sqlite_code_is_a_defect(tmp_path: Path) -> None:
    def refuse(*_: object, **__: object) -> Any:
        error = DriverError('of SQLite')
        error.sqlite_errorcode = sqlite3.SQLITE_ERROR
        raise error

    with pytest.raises(exc.OperationalError):
        refine(create_engine('sqlite://', creator=refuse).connect, FAILURES)


def test_query_error_without_a_code_is_a_defect(query_raising: QueryRaising) -> None:
    with pytest.raises(exc.OperationalError):
        refine(query_raising(DriverError('could not decode')), FAILURES)


@pytest.mark.parametrize(
    'error',
    [
        OSError(1213, 'no driver'),
        TimeoutError(),
        sqlite3.OperationalError('locked'),
        ValueError('1'),
    ],
)
def test_exception_of_another_library_is_a_defect(error: Exception) -> None:
    assert FAILURES(error) is None


def test_asyncio_engine_is_classified_like_the_synchronous_one(tmp_path: Path) -> None:
    async def main() -> list[Result[None, StoreError | RecordExists]]:
        engine = create_async_engine(
            f'sqlite+aiosqlite:///{tmp_path / "shop.db"}', connect_args={'timeout': 0}
        )

        async def add() -> None:
            async with engine.begin() as connection:
                await connection.execute(text("insert into users values ('ann@example.org')"))

        async with engine.begin() as connection:
            await connection.execute(text('create table users (email text primary key)'))
        exists = RecordExists('user', 'ann')
        failures = sqlalchemy_failures('shop', exists=exists)
        results: list[Result[None, StoreError | RecordExists]] = [
            await refine(add, failures),
            await refine(add, failures),
        ]
        async with engine.connect() as writer:
            await writer.execute(text('insert into users values (1)'))
            results.append(await refine(add, failures))
        await engine.dispose()
        return results

    first, second, third = asyncio.run(main())
    assert first == Success(None)
    assert second == Failure(RecordExists('user', 'ann'))
    assert isinstance(third, Failure)
    assert str(third.failure()) == "The store 'shop' is not available: database is locked."


def test_transaction_is_rolled_back_before_the_failure_is_returned(engine: Engine) -> None:
    def insert_twice() -> None:
        with engine.begin() as connection:
            insert(connection, 'ann')
            insert(connection, 'ann')

    def insert(connection: Connection, name: str) -> None:
        connection.execute(
            text('insert into users (email, name) values (:name, :name)'), {'name': name}
        )

    exists = RecordExists('user', 'ann')
    assert refine(insert_twice, sqlalchemy_failures('shop', exists=exists)) == Failure(exists)
    with engine.connect() as connection:
        assert connection.execute(text('select count(*) from users')).scalar_one() == 0


def test_import_without_sqlalchemy_names_the_package_to_install() -> None:
    code = (
        "import sys; sys.modules['sqlalchemy'] = None; import seamwise.policies.classify.sqlalchemy"
    )
    completed = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert completed.stderr.splitlines()[-1] == (
        'ImportError: seamwise.policies.classify.sqlalchemy needs SQLAlchemy: '
        'pip install sqlalchemy'
    )
