"""Tests of the event log in SQLite on a full disk."""

import asyncio
import resource
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from seamwise import Failure
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live import Event, EventLog, Position
from tests.live.stores.contents import SESSION, UNLIMITED, begin, contents, numbered, within
from tests.live.stores.sqlite_laboratory import SqliteLaboratory

pytestmark = pytest.mark.anyio

LARGE = 'x' * 10_000


@contextmanager
def limited_files(size: int) -> Generator[None]:
    """Let the files of this process grow to a length and no further, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a file system of 4 MB."""
    folder = tmp_path / 'disk'
    folder.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', 'size=4m', 'none', str(folder)]
    try:
        mounted = subprocess.run(mount, check=False, capture_output=True)
    except FileNotFoundError:
        pytest.skip('no mount')
    if mounted.returncode != 0:
        pytest.skip('only the superuser can mount')
    try:
        yield folder
    finally:
        subprocess.run(['umount', str(folder)], check=True)


async def fill(log: EventLog, first: int = 0) -> list[str]:
    """Append batches of two events until the disk is full, and return the confirmed texts."""
    texts: list[str] = []
    for number in range(first, first + 10_000):
        batch = [f'{number}:{part}:{LARGE}' for part in 'ab']
        result = await log.append(
            SESSION, *[Event('agent.partial', text) for text in batch], batch_id=f'b-{number}'
        )
        if type(result) is Failure:
            assert isinstance(result.failure(), StoreUnavailable)
            return texts
        texts += batch
    pytest.fail('the disk is never full')


async def fill_up(log: EventLog) -> list[str]:
    """Append until nothing fits any more: after a failure, the write-ahead log can begin again."""
    texts = await fill(log)
    while more := await fill(log, len(texts) // 2):
        texts += more
    return texts


async def assert_goes_on(
    laboratory: SqliteLaboratory, log: EventLog, start: Position, texts: list[str]
) -> None:
    """Append after there is space again, and check that nothing is lost or doubled."""
    number = len(texts) // 2
    batch = [f'{number}:{part}:{LARGE}' for part in 'ab']
    events = [Event('agent.partial', text) for text in batch]
    # The batch that has failed comes again with its id.
    stored = (await log.append(SESSION, *events, batch_id=f'b-{number}')).unwrap()
    assert stored.position == Position(start.epoch, len(texts) + 2)
    assert await contents(log, start) == texts + batch
    async with laboratory.log(limits=UNLIMITED) as other:
        assert await contents(other, start) == texts + batch
        assert (await other.append(SESSION, numbered(1))).unwrap().position.seq == len(texts) + 3
    assert not laboratory.damaged


async def test_a_full_disk_is_a_failure_and_the_log_goes_on_with_space(small_disk: Path) -> None:
    laboratory = SqliteLaboratory(small_disk)
    filler = small_disk / 'filler'
    filler.write_bytes(bytes(2 * 2**20))
    async with laboratory.log(limits=UNLIMITED) as log:
        start = await begin(log)
        texts = await fill_up(log)
        assert texts
        # Readers need no space.
        assert await contents(log, start) == texts
        filler.unlink()
        await assert_goes_on(laboratory, log, start, texts)


async def test_a_file_that_cannot_grow_is_a_failure_and_the_log_goes_on(tmp_path: Path) -> None:
    laboratory = SqliteLaboratory(tmp_path)
    async with laboratory.log(limits=UNLIMITED) as log:
        start = await begin(log)
        with limited_files(2**20):
            texts = await fill_up(log)
            assert texts
            assert await contents(log, start) == texts
        await assert_goes_on(laboratory, log, start, texts)


async def test_a_full_log_that_is_opened_again_is_whole_with_space(small_disk: Path) -> None:
    laboratory = SqliteLaboratory(small_disk)
    filler = small_disk / 'filler'
    filler.write_bytes(bytes(2 * 2**20))
    async with laboratory.log(limits=UNLIMITED) as log:
        start = await begin(log)
        texts = await fill_up(log)
    async with laboratory.log(limits=UNLIMITED) as log:
        # SQLite needs a few pages to open a file.
        failure = (await log.begin(SESSION)).failure()
        assert isinstance(failure, StoreUnavailable)
        filler.unlink()
        await assert_goes_on(laboratory, log, start, texts)


async def test_a_log_that_is_opened_on_a_full_disk_works_with_space(small_disk: Path) -> None:
    filler = small_disk / 'filler'
    with suppress(OSError):
        filler.write_bytes(bytes(8 * 2**20))
    laboratory = SqliteLaboratory(small_disk)
    async with laboratory.log() as log:
        assert isinstance((await log.begin(SESSION)).failure(), StoreUnavailable)
        assert isinstance((await log.replay(SESSION, None)).failure(), StoreUnavailable)
        filler.unlink()
        assert (await log.append(SESSION, numbered(1))).unwrap().position.seq == 1
        assert await contents(log) == ['1']
    # What is left of a file that could not be created is no damaged log.
    assert not laboratory.damaged


async def test_calls_that_wait_together_fail_together_and_leave_nothing(tmp_path: Path) -> None:
    laboratory = SqliteLaboratory(tmp_path)
    async with laboratory.log(limits=UNLIMITED) as log:
        start = await begin(log)
        await log.append(SESSION, numbered(0))
        with limited_files(2**19):
            results = await within(
                30.0,
                asyncio.gather(
                    *[
                        log.append(SESSION, Event('agent.partial', f'{n}:{LARGE}'))
                        for n in range(100)
                    ]
                ),
            )
        confirmed = [
            result.unwrap().event.content for result in results if type(result) is not Failure
        ]
        assert len(confirmed) < 100
        assert await contents(log, start) == ['0', *confirmed]
        assert (await log.append(SESSION, numbered(1))).unwrap().position.seq == len(confirmed) + 2
