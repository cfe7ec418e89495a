"""Tests of the event log in SQLite with damaged files, and with files that are none of its own."""

import asyncio
import fcntl
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path
from random import Random

import pytest

from seamwise import Failure, Success
from seamwise.catalog.sessions import SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live import Event, EventLog, Position, SqliteLog, Stored
from tests.live.stores.contents import SESSION, UNLIMITED, begin, contents, numbered
from tests.live.stores.sqlite_laboratory import SqliteLaboratory, start_writer

pytestmark = pytest.mark.anyio

Damage = Callable[[Path], None]

RANDOM_BYTES = Random(3).randbytes(64)  # noqa: S311 -- no secret


def overwrite(path: Path, offset: int, data: bytes = RANDOM_BYTES) -> None:
    with path.open('r+b') as file:
        file.seek(offset)
        file.write(data)


def truncate(path: Path, size: int) -> None:
    os.truncate(path, size)


def wal(path: Path) -> Path:
    return Path(f'{path}-wal')


DAMAGES: Mapping[str, Damage] = {
    'random header': lambda path: overwrite(path, 0),
    'random root page of the sessions': lambda path: overwrite(path, 2 * 4096),
    'random schema': lambda path: overwrite(path, 100),
    # The message of SQLite then quotes bytes that are no text.
    'name of a table': lambda path: overwrite(
        path, path.read_bytes().index(b'leases'), b'\xf0\x9d'
    ),
    'half of it': lambda path: truncate(path, path.stat().st_size // 2),
    'one page': lambda path: truncate(path, 4096),
    'part of the header': lambda path: truncate(path, 50),
    'one byte': lambda path: truncate(path, 1),
    'nothing': lambda path: truncate(path, 0),
    'zeros': lambda path: overwrite(path, 0, bytes(path.stat().st_size)),
    'a text': lambda path: overwrite(path, 0, b'These are the notes of another program. ' * 50),
}

WAL_DAMAGES: Mapping[str, Damage] = {
    'cut in the middle': lambda path: truncate(wal(path), wal(path).stat().st_size // 2),
    'without its last frame': lambda path: truncate(wal(path), wal(path).stat().st_size - 4120),
    'cut in the last frame': lambda path: truncate(wal(path), wal(path).stat().st_size - 10),
    'header only': lambda path: truncate(wal(path), 32),
    'empty': lambda path: truncate(wal(path), 0),
    'deleted': lambda path: wal(path).unlink(),
    'random header': lambda path: overwrite(wal(path), 0),
    'random frame': lambda path: overwrite(wal(path), wal(path).stat().st_size // 2),
}


@pytest.fixture
def laboratory(tmp_path: Path) -> SqliteLaboratory:
    return SqliteLaboratory(tmp_path)


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == 'WARNING']


async def replayed(log: EventLog, session: str) -> tuple[Stored, ...]:
    """Return all events of a session, although it has a snapshot."""
    start = Position((await begin(log, session)).epoch, 0)
    return (await log.replay(session, start)).unwrap().events


async def fill(laboratory: SqliteLaboratory) -> dict[str, tuple[Stored, ...]]:
    """Store events of several sessions, close the log, and return them."""
    stored: dict[str, tuple[Stored, ...]] = {}
    async with laboratory.log(limits=UNLIMITED) as log:
        async with asyncio.TaskGroup() as tasks:
            for number, part in product(range(20), range(10)):
                event = Event('agent.partial', f'{number}:{part} ' + 'x' * 100 * number)
                tasks.create_task(log.append(f's-{number}', event, batch_id=f'b-{part}'))
        async for session in log.sessions():
            await log.snapshot(session, await begin(log, session), {'state': session})
            stored[session] = await replayed(log, session)
    return stored


async def assert_begins_again(laboratory: SqliteLaboratory, session: str, old: Position) -> None:
    """Open the log, and check that it is empty, usable, and in another epoch."""
    async with laboratory.log() as log:
        assert [name async for name in log.sessions()] == []
        assert await log.replay(session, old) == Failure(SessionNotFound(session))
        new = (await log.append(session, numbered(1))).unwrap().position
        assert new.seq == 1
        assert await log.replay(session, old) == Failure(UnknownEpoch(old.epoch, new.epoch))
    async with laboratory.log() as log:
        assert await contents(log, session=session) == ['1']


async def copy_of_open_log(
    laboratory: SqliteLaboratory, *, checkpoint: bool = False
) -> tuple[SqliteLaboratory, Position]:
    """Return a copy of an open log, as if its process were killed, and its last position."""
    copy = SqliteLaboratory(laboratory.path.parent / 'copy')
    copy.path.parent.mkdir()
    async with laboratory.log() as log:
        for number in range(20):
            await log.append(SESSION, numbered(number))
        if checkpoint:
            make_database(laboratory.path, 'PRAGMA wal_checkpoint(PASSIVE)')
        # Another process: if this one closed the files, it would release the locks of the log.
        files = laboratory.path.parent.glob('events.db*')
        process = await asyncio.create_subprocess_exec('cp', *files, copy.path.parent)
        assert await process.wait() == 0
        return copy, (await log.begin(SESSION)).unwrap()


@pytest.mark.parametrize('damage', DAMAGES.values(), ids=DAMAGES.keys())
async def test_a_damaged_file_is_kept_beside_the_new_one_and_a_warning_names_it(
    damage: Damage, laboratory: SqliteLaboratory, caplog: pytest.LogCaptureFixture
) -> None:
    old = (await fill(laboratory))['s-3'][-1].position
    damage(laboratory.path)
    data = laboratory.path.read_bytes()
    await assert_begins_again(laboratory, 's-3', old)
    (kept,) = laboratory.damaged
    assert kept.read_bytes() == data
    (warning,) = warnings_of(caplog)
    assert str(laboratory.path) in warning
    assert str(kept) in warning


@pytest.mark.parametrize('damage', WAL_DAMAGES.values(), ids=WAL_DAMAGES.keys())
async def test_a_damaged_write_ahead_log_is_no_older_state_of_the_log(
    damage: Damage, laboratory: SqliteLaboratory, caplog: pytest.LogCaptureFixture
) -> None:
    laboratory, old = await copy_of_open_log(laboratory)
    damage(laboratory.path)
    data = wal(laboratory.path).read_bytes() if wal(laboratory.path).exists() else None
    await assert_begins_again(laboratory, SESSION, old)
    (kept,) = laboratory.damaged
    (warning,) = warnings_of(caplog)
    assert str(kept) in warning
    assert data is None or wal(kept).read_bytes() == data


async def test_a_write_ahead_log_without_new_events_can_be_deleted(
    laboratory: SqliteLaboratory, caplog: pytest.LogCaptureFixture
) -> None:
    laboratory, old = await copy_of_open_log(laboratory, checkpoint=True)
    wal(laboratory.path).unlink()
    async with laboratory.log() as log:
        assert (await log.begin(SESSION)).unwrap() == old
    assert warnings_of(caplog) == []


async def test_a_killed_writer_is_no_damage(
    laboratory: SqliteLaboratory, caplog: pytest.LogCaptureFixture
) -> None:
    with start_writer(laboratory.path, 'w') as writer:
        await asyncio.to_thread(writer.wait_for, 20)
    async with laboratory.log(limits=UNLIMITED) as log:
        assert (await log.replay(SESSION, writer.confirmed[0])).unwrap().top >= writer.confirmed[19]
    assert not laboratory.damaged
    assert warnings_of(caplog) == []


async def test_a_log_that_was_deleted_with_its_companions_is_no_damage(
    laboratory: SqliteLaboratory, caplog: pytest.LogCaptureFixture
) -> None:
    old = (await fill(laboratory))['s-3'][-1].position
    laboratory.forget()
    await assert_begins_again(laboratory, 's-3', old)
    assert warnings_of(caplog) == []


async def test_several_damaged_files_are_all_kept(laboratory: SqliteLaboratory) -> None:
    for number in range(3):
        laboratory.path.write_text(f'damaged {number}')
        async with laboratory.log() as log:
            await log.append(SESSION, numbered(number))
    texts = sorted(path.read_text() for path in laboratory.damaged)
    assert texts == ['damaged 0', 'damaged 1', 'damaged 2']


async def damage_at_random(
    laboratory: SqliteLaboratory, caplog: pytest.LogCaptureFixture, rounds: int
) -> None:
    """Overwrite a few bytes: each session is as before, unavailable, or gone with a warning."""
    stored = await fill(laboratory)
    pristine = laboratory.path.read_bytes()
    random = Random(17)  # noqa: S311 -- no secret
    outcomes = {'intact': 0, 'unavailable': 0, 'gone': 0}
    for _ in range(rounds):
        laboratory.forget()
        laboratory.path.write_bytes(pristine)
        for _ in range(random.randint(1, 3)):
            length = random.choice([1, 2, 16, 512])
            overwrite(laboratory.path, random.randrange(len(pristine)), random.randbytes(length))
        caplog.clear()
        async with laboratory.log(limits=UNLIMITED) as log:
            assert len(warnings_of(caplog)) == len(laboratory.damaged)
            for session, events in stored.items():
                start = Position(events[0].position.epoch, 0)
                result = await log.replay(session, start)
                state = await log.replay(session, None)
                if type(state) is Success:
                    assert state.unwrap().state == {'state': session}
                if type(result) is Success:
                    assert result.unwrap().events == events
                    # Its batches have checksums of their own.
                    repeated = await log.append(session, numbered(1), batch_id='b-5')
                    assert repeated.value_or(events[5]).position == events[5].position
                    outcomes['intact'] += 1
                elif type(result.failure()) is StoreUnavailable:
                    outcomes['unavailable'] += 1
                    # The operator can end it.
                    await log.delete(session)
                else:
                    assert laboratory.damaged
                    outcomes['gone'] += 1
    assert all(outcomes.values()), outcomes


async def test_random_damage_never_changes_an_answer(
    laboratory: SqliteLaboratory, caplog: pytest.LogCaptureFixture
) -> None:
    await damage_at_random(laboratory, caplog, 20)


@pytest.mark.nightly
async def test_much_random_damage_never_changes_an_answer(
    laboratory: SqliteLaboratory, caplog: pytest.LogCaptureFixture
) -> None:
    await damage_at_random(laboratory, caplog, 1000)


async def test_a_session_with_a_damaged_event_is_unavailable_and_can_be_deleted(
    laboratory: SqliteLaboratory,
) -> None:
    stored = await fill(laboratory)
    # The body is stored with its batch too.
    for match in re.finditer(b'3:5 xxx', laboratory.path.read_bytes()):
        overwrite(laboratory.path, match.end(), b'y')
    async with laboratory.log() as log:
        start = Position(stored['s-3'][0].position.epoch, 0)
        failure = (await log.replay('s-3', start)).failure()
        assert isinstance(failure, StoreUnavailable)
        assert await replayed(log, 's-4') == stored['s-4']
        assert await log.delete('s-3') == Success(None)
        assert (await log.append('s-3', numbered(1))).unwrap().position.seq == 1
        assert await contents(log, session='s-3') == ['1']
    assert not laboratory.damaged


@pytest.mark.parametrize(
    'damage',
    [
        'UPDATE events SET at = 0 WHERE stream = :id',
        "UPDATE events SET at = '', seq = 'x' || seq WHERE stream = :id",
        'UPDATE events SET seq = -seq WHERE stream = :id',
        'UPDATE events SET at = 0, body = 1 WHERE stream = :id',
        'DELETE FROM events WHERE stream = :id',
    ],
)
async def test_damaged_events_do_not_look_like_events_that_are_too_old(
    laboratory: SqliteLaboratory, damage: str
) -> None:
    stored = await fill(laboratory)
    with closing(sqlite3.connect(laboratory.path)) as connection:
        (id_,) = connection.execute("SELECT id FROM streams WHERE session = 's-3'").fetchone()
        assert connection.execute(damage, {'id': id_}).rowcount == 10
        connection.commit()
    async with laboratory.log() as log:
        # A snapshot must not replace events that are not too old.
        for since in (Position(stored['s-3'][0].position.epoch, 0), None):
            failure = (await log.replay('s-3', since)).failure()
            assert isinstance(failure, StoreUnavailable)
        assert await replayed(log, 's-4') == stored['s-4']


async def test_processes_that_open_a_damaged_file_at_once_agree(
    laboratory: SqliteLaboratory,
) -> None:
    await fill(laboratory)
    overwrite(laboratory.path, 0)
    arguments = ['-m', 'tests.live.stores.sqlite_writer', str(laboratory.path)]
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, *arguments, f'w{number}', '0', '3', stdout=PIPE, stderr=PIPE
        )
        for number in range(3)
    ]
    outputs = await asyncio.gather(*[process.communicate() for process in processes])
    assert [process.returncode for process in processes] == [0] * 3, outputs
    lines = [line for text, _ in outputs for line in text.decode().splitlines()]
    epochs = {line.split()[1].split(':')[0] for line in lines}
    assert len(epochs) == 1
    (kept,) = laboratory.damaged
    errors = ''.join(text.decode() for _, text in outputs)
    assert errors.count('is damaged') == errors.count(str(kept)) == 1
    async with laboratory.log() as log:
        replay = (await log.replay(SESSION, None)).unwrap()
        assert {replay.epoch} == epochs
        assert replay.top.seq == 18


async def test_opening_waits_for_another_process_that_checks_the_file(
    laboratory: SqliteLaboratory,
) -> None:
    await fill(laboratory)
    overwrite(laboratory.path, 0)
    folder = os.open(laboratory.path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        log = laboratory.log()
        opening = asyncio.ensure_future(log.__aenter__())
        await asyncio.sleep(0.05)
        assert not opening.done()
        assert not laboratory.damaged
    finally:
        os.close(folder)
    await opening
    assert len(laboratory.damaged) == 1
    await log.__aexit__(None, None, None)


async def test_a_log_that_is_open_notices_that_its_file_was_replaced(
    laboratory: SqliteLaboratory,
) -> None:
    async with laboratory.log() as log:
        old = (await log.append(SESSION, numbered(1))).unwrap().position
        truncate(laboratory.path, 0)
        async with laboratory.log() as other:
            new = (await other.append(SESSION, numbered(1))).unwrap().position
            assert await log.replay(SESSION, old) == Failure(UnknownEpoch(old.epoch, new.epoch))
            stored = (await log.append(SESSION, numbered(2))).unwrap()
            assert stored.position == Position(new.epoch, 2)
            assert await contents(other) == await contents(log) == ['1', '2']
    assert len(laboratory.damaged) == 1


# Files that are no event logs


def make_database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


FOREIGN: Mapping[str, Damage] = {
    'tables of another program': lambda path: make_database(path, 'CREATE TABLE users (id)'),
    'tables with our names': lambda path: make_database(path, 'CREATE TABLE streams (id)'),
    'another application': lambda path: make_database(path, 'PRAGMA application_id = 77'),
    'directory': lambda path: path.mkdir(),
    'device': lambda path: path.symlink_to('/dev/null'),
}


async def assert_unavailable(log: SqliteLog) -> None:
    for result in (
        await log.append(SESSION, numbered(1)),
        await log.begin(SESSION),
        await log.replay(SESSION, None),
        await log.delete(SESSION),
        await log.leases.acquire('a', 'A', seconds=1.0),
    ):
        assert isinstance(result.failure(), StoreUnavailable)
    async with log.subscribe(SESSION, None) as subscribed:
        assert isinstance(subscribed.failure(), StoreUnavailable)


def fingerprint(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b''


@pytest.mark.parametrize('make', FOREIGN.values(), ids=FOREIGN.keys())
async def test_a_file_that_is_no_event_log_is_never_changed(
    make: Damage, laboratory: SqliteLaboratory, caplog: pytest.LogCaptureFixture
) -> None:
    make(laboratory.path)
    before = fingerprint(laboratory.path)
    async with laboratory.log() as log:
        await assert_unavailable(log)
        assert fingerprint(laboratory.path) == before
        assert not laboratory.damaged
        # The log works as soon as the path is free.
        if laboratory.path.is_dir():
            laboratory.path.rmdir()
        elif not laboratory.path.is_symlink():
            laboratory.path.unlink()
        else:
            return
        assert (await log.append(SESSION, numbered(1))).unwrap().position.seq == 1
    assert warnings_of(caplog) == []


async def test_a_database_of_another_program_is_not_changed_even_if_it_is_damaged(
    laboratory: SqliteLaboratory, tmp_path: Path
) -> None:
    open_path = tmp_path / 'open' / 'events.db'
    open_path.parent.mkdir()
    with closing(sqlite3.connect(open_path, isolation_level=None)) as connection:
        for statement in (
            'PRAGMA application_id = 77',
            'PRAGMA journal_mode = WAL',
            'CREATE TABLE users (id)',
            'CREATE TABLE groups (id)',
        ):
            connection.execute(statement)
        files = open_path.parent.iterdir()
        process = await asyncio.create_subprocess_exec('cp', *files, tmp_path)
        assert await process.wait() == 0
    truncate(wal(laboratory.path), wal(laboratory.path).stat().st_size // 2)
    async with laboratory.log() as log:
        assert 'another program' in str((await log.begin(SESSION)).failure())
    assert laboratory.path.exists()
    assert not laboratory.damaged


async def test_a_log_of_a_newer_version_is_not_changed(laboratory: SqliteLaboratory) -> None:
    await fill(laboratory)
    make_database(laboratory.path, 'PRAGMA user_version = 99')
    before = laboratory.path.read_bytes()
    async with laboratory.log() as log:
        failure = (await log.begin(SESSION)).failure()
        assert 'version 99 of the event log is newer' in str(failure)
    assert laboratory.path.read_bytes() == before


async def test_a_folder_that_does_not_exist_is_a_failure_until_it_does(tmp_path: Path) -> None:
    laboratory = SqliteLaboratory(tmp_path / 'missing')
    async with laboratory.log() as log:
        await assert_unavailable(log)
        laboratory.path.parent.mkdir()
        assert (await log.append(SESSION, numbered(1))).unwrap().position.seq == 1


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Yield a folder that other users can enter, unlike `tmp_path`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path


@contextmanager
def another_user() -> Generator[None]:
    """Give up the rights of the superuser."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize('mode', [0o000, 0o444])
async def test_a_file_without_permission_is_a_failure_until_it_is_given(
    mode: int, public_folder: Path
) -> None:
    laboratory = SqliteLaboratory(public_folder)
    stored = await fill(laboratory)
    before = laboratory.path.read_bytes()
    laboratory.path.chmod(mode)
    async with laboratory.log() as log:
        pass
    laboratory.path.chmod(mode)
    with another_user():
        log = laboratory.log()
        await log.__aenter__()
        await assert_unavailable(log)
    laboratory.path.chmod(0o644)
    assert laboratory.path.read_bytes() == before
    assert await replayed(log, 's-3') == stored['s-3']
    await log.__aexit__(None, None, None)
    assert not laboratory.damaged


async def test_a_copy_of_a_log_is_a_log(laboratory: SqliteLaboratory, tmp_path: Path) -> None:
    stored = await fill(laboratory)
    copy = tmp_path / 'copy.db'
    shutil.copy(laboratory.path, copy)
    async with SqliteLog(copy) as log:
        assert await replayed(log, 's-3') == stored['s-3']
