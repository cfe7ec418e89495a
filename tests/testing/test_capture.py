"""Tests of the fixtures `failures` and `defects`."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient

from seamwise import DefectReport, Failure, Result, Success, TaggedError, report_defect
from seamwise.seams import cli, http
from seamwise.seams.adapter import Adapter
from seamwise.testing.capture import captured_defects
from tests.testing.errors import Busy, Empty, Gone, SyncFailed

TABLE = (
    http.on(Gone).responds(404, 'GONE')
    | http.on(Busy).responds(503, 'BUSY')
    | http.on(Empty).hidden()
)


def test_failures_are_the_errors_that_adapters_translate(failures: Sequence[TaggedError]) -> None:
    assert failures == []
    TABLE(Gone(8))
    TABLE(Busy())
    assert failures == [Gone(8), Busy()]


def test_a_failure_that_two_seams_show_is_captured_by_each(failures: Sequence[TaggedError]) -> None:
    as_text = cli.on(Gone).exits(66)
    TABLE(error := Gone(8))
    as_text(error)
    assert failures == [error, error]


def test_an_error_that_an_arm_passes_on_is_not_captured_again(
    failures: Sequence[TaggedError],
) -> None:
    def of_cause(error: SyncFailed) -> http.HttpError:
        assert isinstance(error.cause, Gone)
        return TABLE(error.cause)

    outer: Adapter[SyncFailed, http.HttpError] = Adapter({SyncFailed: of_cause})
    outer(SyncFailed(cause=Gone(8)))
    TABLE(Gone(9))
    assert failures == [SyncFailed(cause=Gone(8)), Gone(9)]


def test_an_error_whose_arm_raises_is_a_defect_and_not_captured(
    failures: Sequence[TaggedError],
) -> None:
    with pytest.raises(RuntimeError):
        TABLE(Empty())
    TABLE(Gone(8))
    assert failures == [Gone(8)]


def test_failures_of_all_threads_are_captured(failures: Sequence[TaggedError]) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(TABLE, [Gone(number) for number in range(100)]))
    assert sorted(error.key for error in failures if isinstance(error, Gone)) == [*range(100)]


def test_the_result_of_an_adapter_is_the_same_under_capture(
    failures: Sequence[TaggedError],
) -> None:
    assert TABLE(Gone(8)).status == 404
    assert len(failures) == 1


def test_a_response_of_an_endpoint_is_captured(failures: Sequence[TaggedError]) -> None:
    @http.endpoint(TABLE)
    def show(request: Request) -> Result[str, Gone]:
        key = int(request.path_params['key'])
        return Success('book') if key == 1 else Failure(Gone(key))

    client = TestClient(Starlette(routes=[Route('/{key}', show)]))
    assert client.get('/1').status_code == 200
    assert client.get('/8').status_code == 404
    assert failures == [Gone(8)]


def test_defects_are_captured_once_each(defects: Sequence[DefectReport]) -> None:
    defect = ZeroDivisionError('division by zero')
    report = report_defect(defect)
    report_defect(defect)
    report_defect(ValueError('password=FAKE-1'))
    assert [captured.ref for captured in defects][:1] == [report.ref]
    assert [captured.pretty for captured in defects] == [
        'ZeroDivisionError: division by zero',
        'ValueError: password=***',
    ]


def test_no_defect_is_an_empty_sequence(defects: Sequence[DefectReport]) -> None:
    logging.getLogger('seamwise').error('no defect')
    assert defects == []


def test_defects_of_all_threads_are_captured(defects: Sequence[DefectReport]) -> None:
    threads = [
        threading.Thread(target=report_defect, args=(ValueError(str(number)),))
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {report.pretty for report in defects} == {f'ValueError: {n}' for n in range(20)}


def test_defects_are_captured_next_to_caplog(
    defects: Sequence[DefectReport], caplog: pytest.LogCaptureFixture
) -> None:
    report = report_defect(ValueError('x'))
    assert [captured.ref for captured in defects] == [report.ref]
    assert report.ref in caplog.text


def test_defects_are_captured_if_the_logger_does_not_propagate(
    defects: Sequence[DefectReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger('seamwise'), 'propagate', False)
    report = report_defect(ValueError('x'))
    assert [captured.ref for captured in defects] == [report.ref]


def test_defects_after_the_block_are_not_captured() -> None:
    with captured_defects() as first:
        report_defect(ValueError('x'))
    report_defect(ValueError('y'))
    assert len(first) == 1


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger('seamwise')
    level, disabled, filters = logger.level, logger.disabled, [*logger.filters]
    yield logger
    logging.disable(logging.NOTSET)
    logger.setLevel(level)
    logger.disabled, logger.filters = disabled, filters


def drop_by_level(logger: logging.Logger) -> None:
    logger.setLevel(logging.CRITICAL + 1)


def drop_by_flag(logger: logging.Logger) -> None:
    logger.disabled = True


def drop_by_filter(logger: logging.Logger) -> None:
    logger.addFilter(lambda _record: False)


def drop_all(_logger: logging.Logger) -> None:
    logging.disable(logging.CRITICAL)


@pytest.mark.parametrize('drop', [drop_by_level, drop_by_flag, drop_by_filter, drop_all])
def test_defects_are_captured_even_if_logging_drops_them(
    defects: Sequence[DefectReport],
    logger: logging.Logger,
    drop: Callable[[logging.Logger], None],
) -> None:
    drop(logger)
    report = report_defect(ValueError('x'))
    assert [captured.ref for captured in defects] == [report.ref]


def test_defects_that_go_to_another_logger_are_captured(defects: Sequence[DefectReport]) -> None:
    report = report_defect(ValueError('x'), log=logging.getLogger('own'))
    assert [captured.ref for captured in defects] == [report.ref]
