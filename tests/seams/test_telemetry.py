"""Telemetry seam, with the SDK of OpenTelemetry."""

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

from seamwise import Category, Cause, Failure, Recovery, Result, Success, TaggedError, report_defect
from seamwise._errors import errors
from seamwise._errors.errors import ErrorMeta
from seamwise.catalog.access import Unauthenticated
from seamwise.catalog.network import CredentialsRejected, HostUnreachable, NetworkTimedOut
from seamwise.catalog.storage import RecordNotFound
from seamwise.catalog.streaming import StreamAborted
from seamwise.catalog.tools import FileNotFound, ToolCancelled, ToolFailed
from seamwise.policies import RateLimited, bulkhead, circuit, consecutive, retry
from seamwise.policies.events import CircuitChanged, FellBack, GaveUp, Recovered, Refused, Retrying
from seamwise.seams.telemetry import Telemetry, fingerprint
from seamwise.seams.telemetry.label_limit import PATHS_LIMIT
from seamwise.testing import FakeWorld, fake_world
from tests.strategies import EVERY_CLASS, PLANTED

BUSY = RateLimited('bank', 5, 1.0, 0.5)
"""A constant, since errors can be reused."""


class Odd(TaggedError, namespace='test_telemetry', category=Category.EXECUTION, message='{what}'):
    what: str = ''
    cause: Cause | None = None


class RecordedTelemetry:
    """Telemetry with a meter and a logger of the SDK that record in memory."""

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
                metric
                for resource in data.resource_metrics
                for scope in resource.scope_metrics
                for metric in scope.metrics
            ]
        )
        return [
            point
            for metric in metrics
            if metric.name == instrument
            for point in metric.data.data_points
        ]

    def by(self, instrument: str, *attributes: str) -> dict[Any, float]:
        values: Counter[Any] = Counter()
        for point in self.points(instrument):
            key = tuple(point.attributes.get(name) for name in attributes)
            values[key[0] if len(key) == 1 else key] += point.value
        return dict(values)

    def total(self, instrument: str = 'seamwise.errors') -> float:
        return sum(self.by(instrument).values())

    def records(self) -> list[Any]:
        return [log.log_record for log in self._exporter.get_finished_logs()]

    def close(self) -> None:
        self._meters.shutdown()
        self._loggers.shutdown()


@pytest.fixture
def recorded() -> Iterator[RecordedTelemetry]:
    recorded_telemetry = RecordedTelemetry()
    yield recorded_telemetry
    recorded_telemetry.close()


@pytest.fixture(autouse=True)
def without_log_output(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, 'seamwise')


# Errors


def test_error_is_counted_by_type_category_and_seam(recorded: RecordedTelemetry) -> None:
    recorded.telemetry.count(FileNotFound('read_file', 'a.txt'), seam='http', operation='read')
    [point] = recorded.points('seamwise.errors')
    assert (point.value, dict(point.attributes)) == (
        1,
        {
            'error.type': 'FileNotFound',
            'seamwise.error.category': 'not_found',
            'seamwise.seam': 'http',
        },
    )


def test_error_path_is_counted_by_operation_and_fingerprint(recorded: RecordedTelemetry) -> None:
    error = FileNotFound('read_file', 'a.txt')
    recorded.telemetry.count(error, seam='http', operation='read')
    assert recorded.by(
        'seamwise.error.paths', 'seamwise.operation', 'seamwise.error.fingerprint'
    ) == {('read', fingerprint(error, 'read')): 1}


def test_cancellations_are_not_counted(recorded: RecordedTelemetry) -> None:
    cancellations = (asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(), GeneratorExit())
    for exception in cancellations:
        recorded.telemetry.count(exception, seam='http', operation='read')
    assert recorded.total() == 0
    assert not recorded.records()


@pytest.mark.parametrize(
    ('error', 'is_counted'),
    [
        (CredentialsRejected('bank', ('KEY',)), True),
        (Unauthenticated('Bearer'), True),
        (FileNotFound('t', 'p'), False),
        (HostUnreachable('h', 'r'), False),
        (ToolCancelled('t', 'ann'), False),
        (StreamAborted('stop'), False),
        (ZeroDivisionError(), True),
    ],
)
def test_errors_without_recovery_are_counted_as_unrecoverable(
    recorded: RecordedTelemetry, error: TaggedError | BaseException, is_counted: bool
) -> None:
    assert getattr(error, 'recovery', Recovery.STOP) is Recovery.STOP or not is_counted
    recorded.telemetry.count(error, seam='session', operation='chat')
    assert recorded.total('seamwise.session.unrecoverable') == is_counted


# error.type


def test_error_type_is_a_tag_or_a_class_but_no_local_class(
    recorded: RecordedTelemetry,
) -> None:
    class Local(TaggedError, category=Category.EXECUTION):
        pass

    for error in (Local(), KeyError('a'), Odd()):
        recorded.telemetry.count(error, seam='http', operation='read')
    assert recorded.by('seamwise.errors', 'error.type', 'seamwise.error.category') == {
        ('_OTHER', 'execution'): 1,
        ('KeyError', 'defect'): 1,
        ('Odd', 'execution'): 1,
    }


@pytest.mark.slow
def test_number_of_error_types_is_limited(
    recorded: RecordedTelemetry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, '_registry', {})

    def build_error(number: int, qualname: str) -> TaggedError:
        body: dict[str, Any] = {
            '__module__': 'dynamic',
            '__qualname__': qualname,
            '__annotations__': {},
        }
        class_: Any = ErrorMeta(f'Error{number}', (TaggedError,), body, category=Category.EXECUTION)
        error: TaggedError = class_()
        return error

    for number in range(2500):
        recorded.telemetry.count(
            build_error(number, f'Error{number}'), seam=f'seam-{number}', operation=f'op-{number}'
        )
        recorded.telemetry.count(
            build_error(number, f'f.<locals>.Error{number}'), seam='http', operation='op'
        )
        recorded.telemetry.observer()(
            Retrying(f'guard-{number}', build_error(number, f'Error{number}'), 1, 3, 0.1)
        )
    for kind in EVERY_CLASS:
        error: Any = kind(**dict.fromkeys(kind.__struct_fields__))
        assert recorded.telemetry._types.get(error) == kind.__traits__.tag
    types = set(recorded.by('seamwise.errors', 'error.type')) | set(
        recorded.by('seamwise.retry.attempts', 'error.type')
    )
    assert '_OTHER' in types
    assert len(types | {kind.__traits__.tag for kind in EVERY_CLASS}) < 200
    assert len(recorded.by('seamwise.errors', 'seamwise.seam')) <= 101
    assert len(recorded.by('seamwise.retry.attempts', 'seamwise.guard.name')) <= 101
    assert len(recorded.points('seamwise.error.paths')) <= PATHS_LIMIT + 1
    assert recorded.total() == recorded.total('seamwise.error.paths') == 5000


# Once per operation


def test_error_is_counted_once_in_several_layers(recorded: RecordedTelemetry) -> None:
    for seam in ('toolhost', 'planner', 'http'):
        recorded.telemetry.count(BUSY, seam=seam, operation=f'at {seam}')
    assert recorded.by('seamwise.errors', 'seamwise.seam') == {'toolhost': 1}


def test_constant_error_is_counted_once_per_operation(recorded: RecordedTelemetry) -> None:
    for _ in range(3):
        recorded.telemetry.count(BUSY, seam='toolhost', operation='pay')
        recorded.telemetry.count(BUSY, seam='http', operation='POST /pay')
    assert recorded.total() == 3


def test_started_operations_of_several_seams_are_counted_separately(
    recorded: RecordedTelemetry,
) -> None:
    for seam in ('http', 'session', 'http', 'cli'):
        with recorded.telemetry.operation():
            recorded.telemetry.count(BUSY, seam=seam, operation='pay')
    assert recorded.by('seamwise.errors', 'seamwise.seam') == {'http': 2, 'session': 1, 'cli': 1}


def test_error_of_a_nested_operation_is_not_counted_in_the_outer_one(
    recorded: RecordedTelemetry,
) -> None:
    with recorded.telemetry.operation():
        for _ in range(2):
            with recorded.telemetry.operation():
                recorded.telemetry.count(BUSY, seam='toolhost', operation='pay')
        recorded.telemetry.count(BUSY, seam='http', operation='POST /pay')
    assert recorded.by('seamwise.errors', 'seamwise.seam') == {'toolhost': 2}


def test_error_with_a_counted_cause_is_not_counted(recorded: RecordedTelemetry) -> None:
    recorded.telemetry.count(BUSY, seam='guard', operation='pay')
    recorded.telemetry.count(ToolFailed('pay', BUSY), seam='toolhost', operation='pay')
    recorded.telemetry.count(Odd('no', BUSY), seam='http', operation='pay')
    assert recorded.by('seamwise.errors', 'error.type') == {'RateLimited': 1}


def test_different_errors_of_one_operation_are_all_counted(recorded: RecordedTelemetry) -> None:
    recorded.telemetry.count(FileNotFound('t', 'a'), seam='toolhost', operation='read')
    recorded.telemetry.count(FileNotFound('t', 'a'), seam='http', operation='read')
    assert recorded.total() == 2


def test_error_is_counted_once_across_tasks(recorded: RecordedTelemetry) -> None:
    async def tool_call() -> None:
        await asyncio.sleep(0)
        recorded.telemetry.count(BUSY, seam='toolhost', operation='pay')

    async def request() -> None:
        with recorded.telemetry.operation():
            await asyncio.create_task(tool_call())
            recorded.telemetry.count(BUSY, seam='http', operation='POST /pay')

    async def serve() -> None:
        await asyncio.gather(*(request() for _ in range(20)))

    asyncio.run(serve())
    assert recorded.by('seamwise.errors', 'seamwise.seam') == {'toolhost': 20}


def test_error_is_counted_once_across_threads(recorded: RecordedTelemetry) -> None:
    async def request() -> None:
        with recorded.telemetry.operation():
            await asyncio.to_thread(
                recorded.telemetry.count, BUSY, seam='toolhost', operation='pay'
            )
            recorded.telemetry.count(BUSY, seam='http', operation='POST /pay')

    asyncio.run(request())
    with ThreadPoolExecutor() as pool, recorded.telemetry.operation():
        context = contextvars.copy_context()
        pool.submit(
            context.run, lambda: recorded.telemetry.count(BUSY, seam='toolhost', operation='pay')
        ).result()
        recorded.telemetry.count(BUSY, seam='http', operation='POST /pay')
    assert recorded.by('seamwise.errors', 'seamwise.seam') == {'toolhost': 2}


def test_concurrent_operations_are_counted_separately(recorded: RecordedTelemetry) -> None:
    gate = threading.Barrier(8)

    def request() -> None:
        gate.wait()
        for _ in range(50):
            recorded.telemetry.count(BUSY, seam='toolhost', operation='pay')
            recorded.telemetry.count(BUSY, seam='http', operation='POST /pay')

    threads = [threading.Thread(target=request) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recorded.by('seamwise.errors', 'seamwise.seam') == {'toolhost': 400}


def test_telemetry_instances_count_independently(recorded: RecordedTelemetry) -> None:
    second = RecordedTelemetry()
    defect = ValueError('bad')
    for instance in (recorded, second):
        seam = 'toolhost' if instance is recorded else 'http'
        instance.telemetry.count(BUSY, seam=seam, operation='pay')
        instance.telemetry.count(defect, seam='http', operation='pay')
    assert recorded.total() == second.total() == 2
    second.close()


# Defects


def raised_defect() -> Exception:
    try:
        raise ValueError(f'password={PLANTED} \ud800')
    except ValueError as error:
        return error


def test_defect_is_logged_once_in_several_layers(recorded: RecordedTelemetry) -> None:
    defect = raised_defect()

    async def layers() -> None:
        for seam in ('toolhost', 'http', 'http'):
            await asyncio.create_task(
                asyncio.to_thread(recorded.telemetry.count, defect, seam=seam, operation='pay')
            )

    asyncio.run(layers())
    [record] = recorded.records()
    report = report_defect(defect)
    assert record.severity_text == 'ERROR'
    assert record.event_name == 'seamwise.defect'
    assert record.body == f'defect {report.ref}: ValueError: password=*** \\ud800'
    assert record.attributes == {
        'exception.type': 'ValueError',
        'exception.message': 'password=*** \\ud800',
        'exception.stacktrace': report.pretty,
        'seamwise.ref': report.ref,
        'seamwise.seam': 'toolhost',
        'seamwise.operation': 'pay',
        'seamwise.error.fingerprint': fingerprint(defect, 'pay'),
    }
    assert PLANTED not in repr(record.__dict__)
    assert recorded.by('seamwise.errors', 'error.type', 'seamwise.error.category') == {
        ('ValueError', 'defect'): 1
    }
    assert pickle.loads(pickle.dumps(defect)).args == defect.args  # noqa: S301 -- our own bytes


def test_each_defect_has_its_own_log_record(recorded: RecordedTelemetry) -> None:
    for _ in range(2):
        recorded.telemetry.count(raised_defect(), seam='http', operation='pay')
    assert len({record.attributes['seamwise.ref'] for record in recorded.records()}) == 2


def test_failure_is_not_logged(recorded: RecordedTelemetry) -> None:
    recorded.telemetry.count(BUSY, seam='http', operation='pay')
    assert not recorded.records()


def test_defects_are_only_counted_without_a_logger() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    Telemetry(provider.get_meter('test')).count(ValueError('bad'), seam='http', operation='pay')
    assert reader.get_metrics_data() is not None
    provider.shutdown()


# Guards


def test_observer_counts_events_of_guards(recorded: RecordedTelemetry) -> None:
    observer = recorded.telemetry.observer()
    observer(Retrying('bank', BUSY, 1, 3, 0.5))
    observer(Retrying('bank', BUSY, 2, 3, 1.0))
    observer(Recovered('bank', 3, 1.75))
    observer(GaveUp('bank', BUSY, 3, 4.0, 'attempts'))
    observer(GaveUp('bank', RecordNotFound('cart', '7'), 1, 0.1, 'not_retryable'))
    for event in (
        Refused('bank', BUSY),
        CircuitChanged('bank', 'closed', 'open', 5),
        FellBack('bank', BUSY),
    ):
        observer(event)
    assert recorded.by('seamwise.retry.attempts', 'seamwise.guard.name', 'error.type') == {
        ('bank', 'RateLimited'): 2
    }
    assert recorded.by(
        'seamwise.retry.outcomes', 'seamwise.guard.name', 'seamwise.guard.outcome', 'error.type'
    ) == {
        ('bank', 'recovered', None): 1,
        ('bank', 'gave_up', 'RateLimited'): 1,
        ('bank', 'not_retried', 'RecordNotFound'): 1,
    }
    [recovery] = recorded.points('seamwise.recovery.duration')
    assert (recovery.count, recovery.sum, dict(recovery.attributes)) == (
        1,
        1.75,
        {'seamwise.guard.name': 'bank'},
    )
    assert recorded.total() == 0


def test_all_guards_are_measured_with_one_call(recorded: RecordedTelemetry) -> None:
    def down() -> Result[str, HostUnreachable]:
        return Failure(HostUnreachable('bank', 'refused'))

    world = FakeWorld()
    bank = circuit(name='watched bank', trip=consecutive(1), world=world)
    full = bulkhead(2, name='watched pool', world=world)
    stop = recorded.telemetry.watch_guards()
    try:
        guard = bank >> retry(attempts=2, base=0.0, name='watched retry', world=world)
        guard.run_sync(down)
        guard.run_sync(down)
        with full:
            assert (
                recorded.by('seamwise.guard.in_flight', 'seamwise.guard.name')['watched pool'] == 1
            )
            states = recorded.by(
                'seamwise.circuit.state', 'seamwise.guard.name', 'seamwise.circuit.state'
            )
    finally:
        stop()
    bank.reset()
    assert states[('watched bank', 'open')] == 1
    assert states[('watched bank', 'closed')] == 0
    assert recorded.by(
        'seamwise.circuit.changes', 'seamwise.guard.name', 'seamwise.circuit.state'
    ) == {('watched bank', 'open'): 1}
    assert recorded.by('seamwise.guard.refusals', 'seamwise.guard.name', 'error.type') == {
        ('watched bank', 'CircuitOpen'): 1
    }
    assert recorded.by('seamwise.retry.attempts', 'seamwise.guard.name') == {'watched retry': 1}
    points = recorded.points('seamwise.guard.call.duration')
    assert {
        (
            point.attributes['seamwise.guard.outcome'],
            point.attributes.get('error.type'),
        ): point.count
        for point in points
        if point.attributes['seamwise.guard.name'] == 'watched bank >> watched retry'
    } == {('failure', 'HostUnreachable'): 1, ('failure', 'CircuitOpen'): 1}


# Workload


class Bank:
    """Service that fails by script, under a retry that reports to the observer of the telemetry."""

    def __init__(self, recorded: RecordedTelemetry) -> None:
        self._observer = recorded.telemetry.observer()
        self.clock = 0.0

    async def pay(
        self, script: str
    ) -> Result[str, HostUnreachable | NetworkTimedOut | CredentialsRejected]:
        started_at = self.clock
        attempts = len(script)
        for attempt, step in enumerate(script, 1):
            await asyncio.sleep(0)
            self.clock += 1.0
            result = self._call(step)
            if type(result) is Success:
                if attempt > 1:
                    self._observer(Recovered('bank', attempt, self.clock - started_at))
                return result
            error = result.failure()
            if not error.retryable or attempt == attempts:
                self._observer(
                    GaveUp(
                        'bank',
                        error,
                        attempt,
                        self.clock - started_at,
                        'attempts' if error.retryable else 'not_retryable',
                    )
                )
                return result
            self._observer(Retrying('bank', error, attempt, attempts, 0.0))
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
                return Failure(CredentialsRejected('bank', ('BANK_KEY',)))
            case 'x':
                raise ZeroDivisionError
            case _:
                return Success('paid')


async def run_session(recorded: RecordedTelemetry, scripts: list[str]) -> None:
    """Run each script as one operation, which the tool host and the session count."""
    recorded.telemetry.session()
    for script in scripts:
        with recorded.telemetry.operation():
            try:
                result = await asyncio.create_task(Bank(recorded).pay(script))
            except ZeroDivisionError as defect:
                recorded.telemetry.count(defect, seam='toolhost', operation='pay')
                recorded.telemetry.count(defect, seam='session', operation='chat')
                continue
            if type(result) is Failure:
                recorded.telemetry.count(result.failure(), seam='toolhost', operation='pay')
                recorded.telemetry.count(result.failure(), seam='session', operation='chat')


@pytest.mark.requirement('002-50', '002-51', '002-52', '002-53', '002-54')
def test_five_key_figures_can_be_computed(recorded: RecordedTelemetry) -> None:
    async def workload() -> None:
        await asyncio.gather(
            run_session(recorded, ['s', 'us', 'uus', 'tt']),
            run_session(recorded, ['c', 'us', 'x', 'uu']),
            run_session(recorded, ['s'] * 10),
            run_session(recorded, ['c', 'ut']),
        )

    asyncio.run(workload())
    # Error rate by type.
    assert recorded.by('seamwise.errors', 'error.type') == {
        'NetworkTimedOut': 2,
        'CredentialsRejected': 2,
        'HostUnreachable': 1,
        'ZeroDivisionError': 1,
    }
    # Retry success rate.
    outcomes = recorded.by('seamwise.retry.outcomes', 'seamwise.guard.outcome')
    assert outcomes['recovered'] / (outcomes['recovered'] + outcomes['gave_up']) == 0.5
    assert recorded.total('seamwise.retry.attempts') == 7
    # Time to recovery.
    [recovery] = recorded.points('seamwise.recovery.duration')
    assert recovery.sum / recovery.count == pytest.approx(7 / 3)
    # Unrecoverable per session.
    assert (
        recorded.total('seamwise.session.unrecoverable') / recorded.total('seamwise.session.count')
        == 3 / 4
    )
    # Most common error paths.
    paths = recorded.by('seamwise.error.paths', 'seamwise.operation', 'seamwise.error.fingerprint')
    assert {operation for operation, _ in paths} == {'pay'}
    assert sorted(paths.values()) == [1, 1, 2, 2]
    assert len(recorded.records()) == 1


# Fingerprints


def test_fingerprint_is_equal_for_the_same_class_and_operation() -> None:
    first, second = FileNotFound('t', 'a.txt'), FileNotFound('t', 'b/17.txt', ('c',))
    assert fingerprint(first, 'read') == fingerprint(second, 'read')
    assert fingerprint(first, 'read') != fingerprint(first, 'write')
    assert fingerprint(first, 'read') != fingerprint(RecordNotFound('t', 'a.txt'), 'read')
    assert len(fingerprint(first, 'read\ud800\0' * 100_000)) == 16


def raise_at_depth(depth: int, message: str) -> None:
    if not depth:
        raise ValueError(message)
    raise_at_depth(depth - 1, message)


@pytest.mark.parametrize(('depth', 'message'), [(0, 'a'), (3, '/srv/a 7'), (200, 'x' * 10_000)])
def test_fingerprint_does_not_depend_on_message_and_recursion_depth(
    depth: int, message: str
) -> None:
    with pytest.raises(ValueError, match=r'\w') as first:
        raise_at_depth(1, 'another')
    with pytest.raises(ValueError, match=r'\w') as second:
        raise_at_depth(depth, message)
    assert fingerprint(first.value, 'run') == fingerprint(second.value, 'run')


def test_fingerprint_ignores_a_hundred_thousand_causes() -> None:
    error = Odd()
    for _ in range(100_000):
        error = Odd('', error)
    assert fingerprint(error, 'run') == fingerprint(Odd(), 'run')


def test_import_without_opentelemetry_names_the_package_to_install() -> None:
    code = "import sys; sys.modules['opentelemetry'] = None; import seamwise.seams.telemetry"
    process = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert (
        "ImportError: seamwise.seams.telemetry needs OpenTelemetry: pip install 'seamwise[otel]'"
        in process.stderr
    )


def test_durations_have_buckets_for_seconds(recorded: RecordedTelemetry) -> None:
    stop = recorded.telemetry.watch_guards()
    with fake_world() as world:
        guard = retry(attempts=2, name='buckets')
        durations = iter((0.001, 0.2, 0.7, 4.0))
        attempts: list[float] = []

        def call() -> Result[int, HostUnreachable]:
            attempts.append(next(durations))
            world.advance(attempts[-1])
            return Success(1) if len(attempts) > 1 else Failure(HostUnreachable('db', 'reset'))

        for _ in range(3):
            guard.run_sync(call)
    stop()
    for instrument in ('seamwise.guard.call.duration', 'seamwise.recovery.duration'):
        [point] = [
            point
            for point in recorded.points(instrument)
            if point.attributes['seamwise.guard.name'] == 'buckets'
        ]
        assert {0.005, 0.25, 1, 5, 60} <= {*point.explicit_bounds}
        assert max(point.bucket_counts) == 1
