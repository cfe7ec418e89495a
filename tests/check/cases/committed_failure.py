import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager

from django.db import transaction  # type: ignore[import-untyped]
from sqlalchemy import Connection, Engine, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_sessionmaker
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, sessionmaker

from seamwise import Category, Do, Failure, Result, Success, TaggedError, fallible, is_failure, or_raise


class SoldOut(TaggedError, category=Category.CONFLICT, message='sold out'):
    pass


class Base(DeclarativeBase):
    pass


class Book(Base):
    __tablename__ = 'books'
    id: Mapped[int] = mapped_column(primary_key=True)
    count: Mapped[int]


def take(session: object, number: int) -> Result[int, SoldOut]:
    return Success(number) if number else Failure(SoldOut())


async def take_async(session: object, number: int) -> Result[int, SoldOut]:
    return take(session, number)


# case: the transaction of a session
def session_begin(session: Session) -> Result[int, SoldOut]:
    with session.begin():
        session.add(Book(id=1, count=1))
        return Failure(SoldOut())  # finds: SW116


# case: the same, asynchronous, with a name
async def async_session_begin(session: AsyncSession) -> Result[int, SoldOut]:
    async with session.begin() as transaction:
        session.add(Book(id=1, count=1))
        if transaction.is_active:
            return Failure(SoldOut())  # finds: SW116
    return Success(1)


# case: an engine
def engine_begin(engine: Engine) -> Result[int, SoldOut]:
    with engine.begin() as connection:
        connection.execute(insert(Book).values(id=1))
        return Failure(SoldOut())  # finds: SW116


# case: an asynchronous engine
async def async_engine_begin(engine: AsyncEngine) -> Result[int, SoldOut]:
    async with engine.begin() as connection:
        await connection.execute(text('DELETE FROM books'))
        return Failure(SoldOut())  # finds: SW116


# case: session factories
async def factories(sync: sessionmaker[Session], factory: async_sessionmaker[AsyncSession]) -> Result[int, SoldOut]:
    with sync.begin() as session:
        session.add(Book(id=1))
        if session.new:
            return Failure(SoldOut())  # finds: SW116
    async with factory.begin() as async_session:
        async_session.add(Book(id=1))
        return Failure(SoldOut())  # finds: SW116


# case: connections, and a savepoint
async def connections(connection: Connection, other: AsyncConnection, session: Session) -> Result[int, SoldOut]:
    with connection.begin():
        connection.execute(insert(Book))
        if connection.closed:
            return Failure(SoldOut())  # finds: SW116
    async with other.begin():
        await other.execute(insert(Book))
        if other.closed:
            return Failure(SoldOut())  # finds: SW116
    with session.begin_nested():
        session.add(Book(id=1))
        return Failure(SoldOut())  # finds: SW116


# case: sqlite3
def sqlite(db: sqlite3.Connection) -> Result[int, SoldOut]:
    with db:
        db.execute('DELETE FROM books')
        return Failure(SoldOut())  # finds: SW116


# case: a transaction in a variable
def variable(session: Session) -> Result[int, SoldOut]:
    transaction = session.begin()
    with transaction:
        session.add(Book(id=1))
        return Failure(SoldOut())  # finds: SW116


# case: a narrowed result
def narrowed(session: Session) -> Result[int, SoldOut]:
    with session.begin():
        first = take(session, 1)
        if isinstance(first, Failure):
            return first  # finds: SW116
        second = take(session, 2)
        if is_failure(second):
            return second  # finds: SW116
        return Success(first.unwrap() + second.unwrap())


# case: a match
async def matched(session: AsyncSession) -> Result[int, SoldOut]:
    async with session.begin():
        match await take_async(session, 1):
            case Success(value):
                return Success(value)
            case Failure() as failure:
                return failure  # finds: SW116


# case: a conditional expression
def conditional(session: Session, number: int) -> Result[int, SoldOut]:
    with session.begin():
        session.add(Book(id=number))
        return Success(number) if number else Failure(SoldOut())  # finds: SW116


# case: a result that may be both is left to its author
def both(session: Session) -> Result[int, SoldOut]:
    with session.begin():
        return take(session, 1)


# case: returned after the block
def after(session: Session) -> Result[int, SoldOut]:
    with session.begin():
        session.add(Book(id=1))
        taken = take(session, 1)
    if isinstance(taken, Failure):
        return taken
    return Failure(SoldOut())


# case: rolled back
async def rolled_back(session: AsyncSession, other: Session) -> Result[int, SoldOut]:
    async with session.begin() as transaction:
        session.add(Book(id=1))
        if not await take_async(session, 1):
            await transaction.rollback()
            return Failure(SoldOut())
    with other.begin():
        other.add(Book(id=1))
        other.rollback()
        return Failure(SoldOut())


# case: rolled back at the end
def rolled_back_at_the_end(db: sqlite3.Connection) -> Result[int, SoldOut]:
    with db:
        try:
            db.execute('DELETE FROM books')
            return Failure(SoldOut())
        finally:
            db.rollback()


# case: rolled back in another branch only
def rolled_back_elsewhere(session: Session, number: int) -> Result[int, SoldOut]:
    with session.begin():
        session.add(Book(id=1))
        if number:
            session.rollback()
            return Failure(SoldOut())
        else:
            return Failure(SoldOut())  # finds: SW116


# case: raised, which rolls back
@fallible
def raised(do: Do[SoldOut], session: Session) -> int:
    with session.begin():
        session.add(Book(id=1))
        if session.dirty:
            do.fail(SoldOut())
        return do(take(session, 1)) + or_raise(take(session, 2))


# case: before the first write
def only_reads(session: Session, number: int) -> Result[int, SoldOut]:
    with session.begin():
        book = session.get(Book, number)
        if book is None:
            return Failure(SoldOut())
        rows = session.execute(select(Book).where(Book.id == number)).scalars().all()
        if not rows or not isinstance(rows[0], Book):
            return Failure(SoldOut())
        if session.scalar(text('SELECT 1')) is None:
            return Failure(SoldOut())
        book.count -= 1
        if book.count < 0:
            return Failure(SoldOut())  # finds: SW116
        return Success(book.count)


# case: reads with sqlite3
def sqlite_reads(db: sqlite3.Connection) -> Result[int, SoldOut]:
    with db:
        row = db.execute('select count from books').fetchone()
        if row is None:
            return Failure(SoldOut())
        db.execute('UPDATE books SET count = count - 1')
        return Success(row[0])


# case: a write in an earlier iteration
def loop(session: Session, numbers: list[int]) -> Result[int, SoldOut]:
    with session.begin():
        for number in numbers:
            if number < 0:
                return Failure(SoldOut())  # finds: SW116
            session.add(Book(id=number))
    return Success(len(numbers))


# case: reads in a loop
def loop_of_reads(session: Session, numbers: list[int]) -> Result[int, SoldOut]:
    with session.begin():
        for number in numbers:
            if session.get(Book, number) is None:
                return Failure(SoldOut())
    return Success(len(numbers))


# case: in an error handler
def handler(session: Session) -> Result[int, SoldOut]:
    with session.begin():
        try:
            session.add(Book(id=1))
        except ValueError:
            return Failure(SoldOut())  # finds: SW116
    return Success(1)


# case: context managers that do not commit
def no_commit(session: Session, engine: Engine) -> Result[int, SoldOut]:
    with session, closing(sqlite3.connect(':memory:')) as db, engine.connect() as connection:
        session.add(Book(id=1))
        db.execute('DELETE FROM books')
        connection.execute(insert(Book))
        return Failure(SoldOut())


# case: a function in the block
def inner(session: Session) -> Result[int, SoldOut]:
    with session.begin():
        session.add(Book(id=1))

        def failed() -> Result[int, SoldOut]:
            return Failure(SoldOut())

        result = failed()
    return result


# case: one of several context managers
def several(session: Session, path: str) -> Result[int, SoldOut]:
    with open(path) as file, session.begin():
        session.add(Book(id=len(file.read())))
        return Failure(SoldOut())  # finds: SW116


# case: an own class with the same method
class Game:
    @contextmanager
    def begin(self) -> Iterator[None]:
        yield

    def play(self) -> Result[int, SoldOut]:
        with self.begin():
            print('play')
            return Failure(SoldOut())


# case: an untyped library
def django(books: list[int]) -> Result[int, SoldOut]:
    with transaction.atomic():
        books.append(1)
        return Failure(SoldOut())  # finds: SW116


# case: a decorator, and a rollback
@transaction.atomic
def django_decorator(books: list[int]) -> Result[int, SoldOut]:
    books.append(1)
    if books:
        transaction.set_rollback(True)
        return Failure(SoldOut())
    return Failure(SoldOut())  # finds: SW116


# case: a decorator with arguments
@transaction.atomic(savepoint=False)
def django_arguments(books: list[int]) -> Result[int, SoldOut]:
    books.append(1)
    return Failure(SoldOut())  # finds: SW116


# case: a unit of work that commits
class UnitOfWork:
    def __init__(self, session: Session) -> None:
        self.session = session

    def __enter__(self) -> 'UnitOfWork':
        return self

    def __exit__(self, kind: type[BaseException] | None, *others: object) -> None:
        if kind is None:
            self.session.commit()
        else:
            self.session.rollback()

    def rollback(self) -> None:
        self.session.rollback()


def own_unit(session: Session) -> Result[int, SoldOut]:
    with UnitOfWork(session) as work:
        work.session.add(Book(id=1))
        return Failure(SoldOut())  # finds: SW116


# case: it is rolled back, or nothing was written yet
def own_unit_rolled_back(session: Session, number: int) -> Result[int, SoldOut]:
    with UnitOfWork(session) as work:
        if work.session.get(Book, number) is None:
            return Failure(SoldOut())
        work.session.add(Book(id=1))
        work.rollback()
        return Failure(SoldOut())


# case: it inherits its exit, behind a variable
class SmallUnit(UnitOfWork):
    pass


def inherited(session: Session) -> Result[int, SoldOut]:
    work = SmallUnit(session)
    with work:
        work.session.add(Book(id=1))
        return Failure(SoldOut())  # finds: SW116


# case: it calls the exit of its base class, and a method that gets the exception
class LargeUnit(UnitOfWork):
    def __exit__(self, *error: object) -> None:
        print('end')
        super().__exit__(None)


class ClosedUnit:
    def __init__(self, session: Session | None) -> None:
        self.session = session

    async def __aenter__(self) -> 'ClosedUnit':
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close(error[0])

    async def close(self, error: object) -> None:
        failed = error is not None
        try:
            if self.session is None:
                return
            if not failed:
                self.session.commit()
        finally:
            print('closed')

    def add(self, number: int) -> None:
        print(number)


async def other_exits(session: Session) -> Result[int, SoldOut]:
    with LargeUnit(session) as work:
        work.session.add(Book(id=1))
        if work.session.new:
            return Failure(SoldOut())  # finds: SW116
    async with ClosedUnit(session) as closed:
        closed.add(1)
        return Failure(SoldOut())  # finds: SW116


# case: it commits only if it is told so
class ToldUnit:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.is_complete = False

    def __enter__(self) -> 'ToldUnit':
        return self

    def __exit__(self, *error: object) -> None:
        if self.is_complete:
            self.session.commit()
        self.session.close()

    def complete(self) -> None:
        self.is_complete = True


class RollingUnit(ToldUnit):
    def __exit__(self, *error: object) -> None:
        self.session.rollback()

    def commit(self) -> None:
        self.session.commit()


class SkippedUnit(ToldUnit):
    def __exit__(self, *error: object) -> None:
        if not self.is_complete:
            return
        self.session.commit()


class FailingUnit(ToldUnit):
    def __exit__(self, kind: object = None, *error: object) -> None:
        if kind is not None:
            self.session.commit()


def told(session: Session) -> Result[int, SoldOut]:
    with ToldUnit(session) as work:
        work.session.add(Book(id=1))
        if session.new:
            return Failure(SoldOut())
        work.complete()
    with RollingUnit(session) as rolling:
        rolling.session.add(Book(id=1))
        if session.new:
            return Failure(SoldOut())
        rolling.commit()
    with SkippedUnit(session) as skipped, FailingUnit(session):
        skipped.session.add(Book(id=1))
        return Failure(SoldOut())


# case: a generator that commits behind its yield
@contextmanager
def work_with(session: Session) -> Iterator[Session]:
    try:
        yield session
        session.commit()
    except BaseException:
        session.rollback()
        raise
    finally:
        session.close()


@asynccontextmanager
async def work_later(session: AsyncSession) -> AsyncIterator[AsyncSession]:
    async with session.begin():
        yield session


class Shop:
    def __init__(self, session: Session) -> None:
        self.session = session

    @contextmanager
    def unit(self) -> Iterator[Session]:
        with work_with(self.session) as session:
            yield session

    def sell(self) -> Result[int, SoldOut]:
        with self.unit() as session:
            session.add(Book(id=1))
            return Failure(SoldOut())  # finds: SW116


@work_with(Session())
def decorated(books: list[int]) -> Result[int, SoldOut]:
    books.append(1)
    return Failure(SoldOut())  # finds: SW116


async def generators(session: Session, later: AsyncSession) -> Result[int, SoldOut]:
    with work_with(session):
        session.add(Book(id=1))
        if session.new:
            return Failure(SoldOut())  # finds: SW116
    async with work_later(later):
        later.add(Book(id=1))
        return Failure(SoldOut())  # finds: SW116


# case: a generator that commits before its yield, or in one case only
@contextmanager
def prepared(session: Session, *, done: bool = False) -> Iterator[Session]:
    session.commit()
    yield session
    if done:
        session.commit()


@contextmanager
def nested(session: Session) -> Iterator[Session]:
    if session.in_transaction():
        yield session
        return
    yield session
    session.commit()


def uncertain(session: Session) -> Result[int, SoldOut]:
    with prepared(session):
        session.add(Book(id=1))
        if session.new:
            return Failure(SoldOut())
    with nested(session):
        session.add(Book(id=1))
        return Failure(SoldOut())
