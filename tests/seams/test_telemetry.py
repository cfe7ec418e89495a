"""The telemetry seam, read back from the real SDK of OpenTelemetry."""

import asyncio
import contextvars
import logging
import pickle
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from seamwise import (
    Category,
    Cause,
    Failure,
    Recovery,
    Result,
    Success,
    TaggedError,
    errors,
    report_defect,
)
from seamwise.catalog.access import Unauthenticated
from seamwise.catalog.network import CredentialsRejected, HostUnreachable, NetworkTimedOut
from seamwise.catalog.storage import RecordNotFound
from seamwise.catalog.streaming import StreamAborted
from seamwise.catalog.tools import FileNotFound, ToolCancelled, ToolFailed
from seamwise.errors import ErrorMeta
from seamwise.policies import RateLimited
from seamwise.policies.events import CircuitChanged, FellBack, GaveUp, Recovered, Refused, Retrying
from seamwise.seams.telemetry import Telemetry, fingerprint
from seamwise.seams.telemetry.label_limit import PATHS_LIMIT
from tests.strategies import EVERY_CLASS, PLANTED

BUSY = RateLimited('bank', 5, 1.0, 0.5)
"""A failure may be a constant."""


class Odd(TaggedError, namespace='test_telemetry', category=Category.EXECUTION, message='{what}'):
    what: str = ''
    cause: Cause | None = None


class Seen:
    """A telemetry on a real meter and a real logger, both of which keep what they get."""

    def __init__(self) -> None:
        self._reader = InMemoryMetricReader()
        self._meters = MeterProvider([self._reader], shutdown_on_exit=False)
        exporter: Any = InMemoryLogRecordExporter
        self._exporter = exporter()
        self._loggers = LoggerProvider(shutdown_on_exit=False)
        self._loggers.add_log_record_processor(SimpleLogRecordProcessor(self._exporter))
        self.telemetry = Telemetry(self._meters.get_meter('test'), self._loggers.get_logger('test'))

    def points(self, instrument: str) -> list[Any]:
        data = self._reader.get_metrics_data()
        metrics = (
            []
            if data is None
            else [
                one
                for place in data.resource_metrics
                for scope in place.scope_metrics
                for one in scope.metrics
            ]
        )
        return [
            point
            for metric in metrics
            if metric.name == instrument
            for point in metric.data.data_points
        ]

    def by(self, instrument: str, *attributes: str) -> dict[Any, float]:
        found: Counter[Any] = Counter()
        for point in self.points(instrument):
            key = tuple(point.attributes.get(one) for one in attributes)
            found[key[0] if len(key) == 1 else key] += point.value
        return dict(found)

    def total(self, instrument: str = 'seamwise.errors') -> float:
        return sum(self.by(instrument).values())

    def records(self) -> list[Any]:
        return [one.log_record for one in self._exporter.get_finished_logs()]

    def close(self) -> None:
        self._meters.shutdown()
        self._loggers.shutdown()


@pytest.fixture
def seen() -> Iterator[Seen]:
    made = Seen()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, 'seamwise')


# What is counted


def test_an_error_is_counted_by_type_category_and_seam(seen: Seen) -> None:
    seen.telemetry.count(FileNotFound('read_file', 'a.txt'), seam='http', operation='read')
    [point] = seen.points('seamwise.errors')
    assert (point.value, dict(point.attributes)) == (
        1,
        {'error.type': 'FileNotFound', 'category': 'not_found', 'seam': 'http'},
    )


def test_a_path_is_an_operation_and_a_fingerprint(seen: Seen) -> None:
    error = FileNotFound('read_file', 'a.txt')
    seen.telemetry.count(error, seam='http', operation='read')
    assert seen.by('seamwise.error.paths', 'operation', 'fingerprint') == {
        ('read', fingerprint(error, 'read')): 1
    }


def test_cancellation_is_never_counted(seen: Seen) -> None:
    for one in (asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(), GeneratorExit()):
        seen.telemetry.count(one, seam='http', operation='read')
    assert seen.total() == 0
    assert not seen.records()


@pytest.mark.parametrize(
    ('error', 'counts'),
    [
        (CredentialsRejected('bank', 'KEY'), True),
        (Unauthenticated('Bearer'), True),
        (FileNotFound('t', 'p'), False),
        (HostUnreachable('h', 'r'), False),
        (ToolCancelled('t', 'ann'), False),
        (StreamAborted('stop'), False),
        (ZeroDivisionError(), True),
    ],
)
def test_what_nothing_helps_against_is_unrecoverable(
    seen: Seen, error: TaggedError | BaseException, counts: bool
) -> None:
    assert getattr(error, 'recovery', Recovery.STOP) is Recovery.STOP or not counts
    seen.telemetry.count(error, seam='session', operation='chat')
    assert seen.total('seamwise.session.unrecoverable') == counts


# error.type


def test_a_tag_that_nobody_declared_is_other(seen: Seen) -> None:
    class Local(TaggedError, category=Category.EXECUTION):
        pass

    for error in (Local(), KeyError('a'), Odd()):
        seen.telemetry.count(error, seam='http', operation='read')
    assert seen.by('seamwise.errors', 'error.type', 'category') == {
        ('_OTHER', 'execution'): 1,
        ('_OTHER', 'defect'): 1,
        ('Odd', 'execution'): 1,
    }


def test_the_types_stay_below_200_whatever_comes_in(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, '_registry', {})

    def made(number: int, qualname: str) -> TaggedError:
        body: dict[str, Any] = {
            '__module__': 'dynamic',
            '__qualname__': qualname,
            '__annotations__': {},
        }
        kind: Any = ErrorMeta(f'Made{number}', (TaggedError,), body, category=Category.EXECUTION)
        error: TaggedError = kind()
        return error

    for number in range(2500):
        seen.telemetry.count(
            made(number, f'Made{number}'), seam=f'seam-{number}', operation=f'op-{number}'
        )
        seen.telemetry.count(made(number, f'f.<locals>.Made{number}'), seam='http', operation='op')
        seen.telemetry.observer()(
            Retrying(f'guard-{number}', made(number, f'Made{number}'), 1, 3, 0.1)
        )
    for kind in EVERY_CLASS:
        error: Any = kind(**dict.fromkeys(kind.__struct_fields__))
        assert seen.telemetry._types.word(error) == kind.__traits__.tag
    types = set(seen.by('seamwise.errors', 'error.type')) | set(
        seen.by('seamwise.retry.attempts', 'error.type')
    )
    assert '_OTHER' in types
    assert len(types | {kind.__traits__.tag for kind in EVERY_CLASS}) < 200
    assert len(seen.by('seamwise.errors', 'seam')) <= 101
    assert len(seen.by('seamwise.retry.attempts', 'name')) <= 101
    assert len(seen.points('seamwise.error.paths')) <= PATHS_LIMIT + 1
    assert seen.total() == seen.total('seamwise.error.paths') == 5000


# Once, where the operation ends


def test_layers_count_an_error_once(seen: Seen) -> None:
    for seam in ('toolhost', 'planner', 'http'):
        seen.telemetry.count(BUSY, seam=seam, operation=f'at {seam}')
    assert seen.by('seamwise.errors', 'seam') == {'toolhost': 1}


def test_a_constant_is_counted_as_often_as_operations_end(seen: Seen) -> None:
    for _ in range(3):
        seen.telemetry.count(BUSY, seam='toolhost', operation='pay')
        seen.telemetry.count(BUSY, seam='http', operation='POST /pay')
    assert seen.total() == 3


def test_operations_of_several_seams_are_told_apart_where_they_begin(seen: Seen) -> None:
    for seam in ('http', 'session', 'http', 'cli'):
        with seen.telemetry.operation():
            seen.telemetry.count(BUSY, seam=seam, operation='pay')
    assert seen.by('seamwise.errors', 'seam') == {'http': 2, 'session': 1, 'cli': 1}


def test_an_operation_inside_another_ends_for_both(seen: Seen) -> None:
    with seen.telemetry.operation():
        for _ in range(2):
            with seen.telemetry.operation():
                seen.telemetry.count(BUSY, seam='toolhost', operation='pay')
        seen.telemetry.count(BUSY, seam='http', operation='POST /pay')
    assert seen.by('seamwise.errors', 'seam') == {'toolhost': 2}


def test_an_error_that_was_caused_by_a_counted_one_is_the_same_trouble(seen: Seen) -> None:
    seen.telemetry.count(BUSY, seam='guard', operation='pay')
    seen.telemetry.count(ToolFailed('pay', BUSY), seam='toolhost', operation='pay')
    seen.telemetry.count(Odd('no', BUSY), seam='http', operation='pay')
    assert seen.by('seamwise.errors', 'error.type') == {'RateLimited': 1}


def test_two_errors_of_one_operation_are_two(seen: Seen) -> None:
    seen.telemetry.count(FileNotFound('t', 'a'), seam='toolhost', operation='read')
    seen.telemetry.count(FileNotFound('t', 'a'), seam='http', operation='read')
    assert seen.total() == 2


def test_tasks_of_an_operation_count_once(seen: Seen) -> None:
    async def inner() -> None:
        await asyncio.sleep(0)
        seen.telemetry.count(BUSY, seam='toolhost', operation='pay')

    async def request() -> None:
        with seen.telemetry.operation():
            await asyncio.create_task(inner())
            seen.telemetry.count(BUSY, seam='http', operation='POST /pay')

    async def serve() -> None:
        await asyncio.gather(*(request() for _ in range(20)))

    asyncio.run(serve())
    assert seen.by('seamwise.errors', 'seam') == {'toolhost': 20}


def test_threads_of_an_operation_count_once(seen: Seen) -> None:
    async def request() -> None:
        with seen.telemetry.operation():
            await asyncio.to_thread(seen.telemetry.count, BUSY, seam='toolhost', operation='pay')
            seen.telemetry.count(BUSY, seam='http', operation='POST /pay')

    asyncio.run(request())
    with ThreadPoolExecutor() as pool, seen.telemetry.operation():
        context = contextvars.copy_context()
        pool.submit(
            context.run, lambda: seen.telemetry.count(BUSY, seam='toolhost', operation='pay')
        ).result()
        seen.telemetry.count(BUSY, seam='http', operation='POST /pay')
    assert seen.by('seamwise.errors', 'seam') == {'toolhost': 2}


def test_what_runs_side_by_side_is_not_mixed_up(seen: Seen) -> None:
    gate = threading.Barrier(8)

    def request() -> None:
        gate.wait()
        for _ in range(50):
            seen.telemetry.count(BUSY, seam='toolhost', operation='pay')
            seen.telemetry.count(BUSY, seam='http', operation='POST /pay')

    threads = [threading.Thread(target=request) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen.by('seamwise.errors', 'seam') == {'toolhost': 400}


def test_two_telemetries_do_not_know_of_each_other(seen: Seen) -> None:
    other = Seen()
    defect = ValueError('bad')
    for one in (seen, other):
        one.telemetry.count(BUSY, seam='toolhost' if one is seen else 'http', operation='pay')
        one.telemetry.count(defect, seam='http', operation='pay')
    assert seen.total() == other.total() == 2
    other.close()


# Defects


def failing() -> Exception:
    try:
        raise ValueError(f'password={PLANTED} \ud800')
    except ValueError as error:
        return error


def test_a_defect_is_one_log_record_however_many_layers_bring_it(seen: Seen) -> None:
    defect = failing()

    async def layers() -> None:
        for seam in ('toolhost', 'http', 'http'):
            await asyncio.create_task(
                asyncio.to_thread(seen.telemetry.count, defect, seam=seam, operation='pay')
            )

    asyncio.run(layers())
    [record] = seen.records()
    report = report_defect(defect)
    assert record.severity_text == 'ERROR'
    assert record.event_name == 'seamwise.defect'
    assert record.body == f'defect {report.ref}: ValueError: password=*** \\ud800'
    assert record.attributes == {
        'exception.type': 'builtins.ValueError',
        'exception.message': 'password=*** \\ud800',
        'exception.stacktrace': report.pretty,
        'ref': report.ref,
        'seam': 'toolhost',
        'operation': 'pay',
        'fingerprint': fingerprint(defect, 'pay'),
    }
    assert PLANTED not in repr(record.__dict__)
    assert seen.by('seamwise.errors', 'error.type', 'category') == {('_OTHER', 'defect'): 1}
    assert pickle.loads(pickle.dumps(defect)).args == defect.args  # noqa: S301 -- our own bytes


def test_two_defects_are_two_records(seen: Seen) -> None:
    for _ in range(2):
        seen.telemetry.count(failing(), seam='http', operation='pay')
    assert len({record.attributes['ref'] for record in seen.records()}) == 2


def test_a_failure_is_no_log_record(seen: Seen) -> None:
    seen.telemetry.count(BUSY, seam='http', operation='pay')
    assert not seen.records()


def test_without_a_logger_defects_are_counted_only() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    Telemetry(provider.get_meter('test')).count(ValueError('bad'), seam='http', operation='pay')
    assert reader.get_metrics_data() is not None
    provider.shutdown()


# Guards


def test_what_guards_tell_is_counted(seen: Seen) -> None:
    tell = seen.telemetry.observer()
    tell(Retrying('bank', BUSY, 1, 3, 0.5))
    tell(Retrying('bank', BUSY, 2, 3, 1.0))
    tell(Recovered('bank', 3, 1.75))
    tell(GaveUp('bank', BUSY, 3, 4.0, 'attempts'))
    tell(GaveUp('bank', RecordNotFound('cart', '7'), 1, 0.1, 'not_retryable'))
    for event in (
        Refused('bank', BUSY),
        CircuitChanged('bank', 'closed', 'open', 5),
        FellBack('bank', BUSY),
    ):
        tell(event)
    assert seen.by('seamwise.retry.attempts', 'name', 'error.type') == {('bank', 'RateLimited'): 2}
    assert seen.by('seamwise.retry.outcomes', 'name', 'outcome', 'error.type') == {
        ('bank', 'recovered', None): 1,
        ('bank', 'gave_up', 'RateLimited'): 1,
        ('bank', 'not_retried', 'RecordNotFound'): 1,
    }
    [recovery] = seen.points('seamwise.recovery.duration')
    assert (recovery.count, recovery.sum, dict(recovery.attributes)) == (1, 1.75, {'name': 'bank'})
    assert seen.total() == 0


# The five figures


class Bank:
    """A service that fails as it is told to, under a plain retry that tells its observer what it does."""

    def __init__(self, seen: Seen) -> None:
        self._tell = seen.telemetry.observer()
        self.clock = 0.0

    async def pay(
        self, script: str
    ) -> Result[str, HostUnreachable | NetworkTimedOut | CredentialsRejected]:
        began = self.clock
        attempts = len(script)
        for attempt, step in enumerate(script, 1):
            await asyncio.sleep(0)
            self.clock += 1.0
            result = self._call(step)
            if type(result) is Success:
                if attempt > 1:
                    self._tell(Recovered('bank', attempt, self.clock - began))
                return result
            error = result.failure()
            if not error.retryable or attempt == attempts:
                self._tell(
                    GaveUp(
                        'bank',
                        error,
                        attempt,
                        self.clock - began,
                        'attempts' if error.retryable else 'not_retryable',
                    )
                )
                return result
            self._tell(Retrying('bank', error, attempt, attempts, 0.0))
        raise AssertionError(script)

    def _call(
        self, step: str
    ) -> Result[str, HostUnreachable | NetworkTimedOut | CredentialsRejected]:
        match step:
            case 'u':
                return Failure(HostUnreachable('bank', 'refused'))
            case 't':
                return Failure(NetworkTimedOut('bank', 'pay', 1.0))
            case 'c':
                return Failure(CredentialsRejected('bank', 'BANK_KEY'))
            case 'x':
                raise ZeroDivisionError
            case _:
                return Success('paid')


async def session(seen: Seen, scripts: list[str]) -> None:
    """Chat: each script is one operation, counted by the tool host and told to the session."""
    seen.telemetry.session()
    for script in scripts:
        with seen.telemetry.operation():
            try:
                result = await asyncio.create_task(Bank(seen).pay(script))
            except ZeroDivisionError as defect:
                seen.telemetry.count(defect, seam='toolhost', operation='pay')
                seen.telemetry.count(defect, seam='session', operation='chat')
                continue
            if type(result) is Failure:
                seen.telemetry.count(result.failure(), seam='toolhost', operation='pay')
                seen.telemetry.count(result.failure(), seam='session', operation='chat')


def test_the_five_figures_can_be_read_back(seen: Seen) -> None:
    async def workload() -> None:
        await asyncio.gather(
            session(seen, ['s', 'us', 'uus', 'tt']),
            session(seen, ['c', 'us', 'x', 'uu']),
            session(seen, ['s'] * 10),
            session(seen, ['c', 'ut']),
        )

    asyncio.run(workload())
    # Error rate by type.
    assert seen.by('seamwise.errors', 'error.type') == {
        'NetworkTimedOut': 2,
        'CredentialsRejected': 2,
        'HostUnreachable': 1,
        '_OTHER': 1,
    }
    # Retry success rate.
    outcomes = seen.by('seamwise.retry.outcomes', 'outcome')
    assert outcomes['recovered'] / (outcomes['recovered'] + outcomes['gave_up']) == 0.5
    assert seen.total('seamwise.retry.attempts') == 7
    # Time to recovery.
    [recovery] = seen.points('seamwise.recovery.duration')
    assert recovery.sum / recovery.count == pytest.approx(7 / 3)
    # Unrecoverable per session.
    assert (
        seen.total('seamwise.session.unrecoverable') / seen.total('seamwise.session.count') == 3 / 4
    )
    # Most common error paths.
    paths = seen.by('seamwise.error.paths', 'operation', 'fingerprint')
    assert {operation for operation, _ in paths} == {'pay'}
    assert sorted(paths.values()) == [1, 1, 2, 2]
    assert len(seen.records()) == 1


# Fingerprints


def test_a_fingerprint_is_the_same_for_the_same_trouble() -> None:
    one, other = FileNotFound('t', 'a.txt'), FileNotFound('t', 'b/17.txt', ('c',))
    assert fingerprint(one, 'read') == fingerprint(other, 'read')
    assert fingerprint(one, 'read') != fingerprint(one, 'write')
    assert fingerprint(one, 'read') != fingerprint(RecordNotFound('t', 'a.txt'), 'read')
    assert len(fingerprint(one, 'read\ud800\0' * 100_000)) == 16


def recursive(depth: int, message: str) -> None:
    if not depth:
        raise ValueError(message)
    recursive(depth - 1, message)


@pytest.mark.parametrize(('depth', 'message'), [(0, 'a'), (3, '/srv/a 7'), (200, 'x' * 10_000)])
def test_neither_a_message_nor_how_deep_it_went_has_a_part_in_it(depth: int, message: str) -> None:
    with pytest.raises(ValueError, match=r'\w') as first:
        recursive(1, 'other')
    with pytest.raises(ValueError, match=r'\w') as second:
        recursive(depth, message)
    assert fingerprint(first.value, 'run') == fingerprint(second.value, 'run')


def test_a_fingerprint_of_a_hundred_thousand_causes_has_an_end() -> None:
    error = Odd()
    for _ in range(100_000):
        error = Odd('', error)
    assert fingerprint(error, 'run') == fingerprint(Odd(), 'run')


def test_without_opentelemetry_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['opentelemetry'] = None; import seamwise.seams.telemetry"
    found = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert (
        "ImportError: seamwise.seams.telemetry needs OpenTelemetry: pip install 'seamwise[otel]'"
        in found.stderr
    )
