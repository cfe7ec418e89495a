"""Tests of defect reports: logging once, masked secrets and limited length."""

import asyncio
import concurrent.futures.thread
import logging
import pickle
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from typing_extensions import override

import seamwise
from seamwise import (
    Category,
    Cause,
    Do,
    Failure,
    Raised,
    TaggedError,
    attempt,
    fallible,
    on_defect,
    report_defect,
    when,
)
from seamwise._defects import defects
from seamwise._defects.entries import DefectReport, Link
from seamwise._errors.reported import ReportedCause
from tests.core.raised import raised


class SyncFailed(TaggedError, category=Category.EXECUTION, message='The sync of {name} failed.'):
    name: str
    cause: Cause | None = None


def test_a_reference_has_eight_characters_of_base32() -> None:
    refs = {report_defect(ValueError(str(number))).ref for number in range(50)}
    assert len(refs) == 50
    assert all(re.fullmatch('err_[a-z2-7]{8}', ref) for ref in refs)


def test_a_defect_is_logged_once_if_it_is_reported_several_times(
    caplog: pytest.LogCaptureFixture,
) -> None:
    defect = raised(ValueError('bad'))
    with caplog.at_level(logging.ERROR, 'seamwise'):
        reports = [report_defect(defect) for _ in range(3)]
    assert reports[0] is reports[1] is reports[2]
    assert len(caplog.records) == 1
    assert reports[0].ref in caplog.text
    assert 'ValueError: bad' in caplog.text


def test_a_defect_is_logged_once_if_several_threads_report_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    defect = raised(ValueError('bad'))
    gate = threading.Barrier(8)
    refs: list[str] = []

    def report() -> None:
        gate.wait()
        refs.append(report_defect(defect).ref)

    threads = [threading.Thread(target=report) for _ in range(8)]
    with caplog.at_level(logging.ERROR, 'seamwise'):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(set(refs)) == 1
    assert len(caplog.records) == 1


def test_the_chain_starts_with_the_newest_exception() -> None:
    def fail() -> None:
        try:
            raise KeyError('key')
        except KeyError as error:
            raise ValueError('bad') from error

    with pytest.raises(ValueError, match='bad') as caught:
        fail()
    report = report_defect(caught.value)
    assert report.chain == (Link('ValueError', 'bad'), Link('KeyError', "'key'"))
    lines = report.pretty.splitlines()
    assert lines[0] == 'ValueError: bad'
    assert any(line.startswith('caused by KeyError:') for line in lines)
    assert any('test_defects.py' in line and 'in fail' in line for line in lines)


def test_the_report_contains_the_members_of_a_group_and_the_notes() -> None:
    defect = ValueError('bad')
    defect.add_note('while syncing')
    defect.__cause__ = ExceptionGroup('several', [KeyError('a'), OSError('b')])
    pretty = report_defect(defect).pretty.splitlines()
    assert pretty == [
        'ValueError: bad',
        '  note: while syncing',
        'caused by ExceptionGroup: several (2 sub-exceptions)',
        "  - KeyError: 'a'",
        '  - OSError: b',
    ]


def test_a_cycle_of_causes_ends_the_chain() -> None:
    first, second = ValueError('1'), ValueError('2')
    first.__cause__, second.__cause__ = second, first
    assert [link.message for link in report_defect(first).chain] == ['1', '2']


def test_a_long_chain_is_cut_with_a_note() -> None:
    first = error = ValueError('0')
    for number in range(1, 100_000):
        error.__cause__ = ValueError(str(number))
        error = error.__cause__
    report = report_defect(first)
    assert len(report.chain) == 100
    assert report.pretty.endswith('caused by ValueError: 99\n… (more causes)')


def test_a_chain_of_the_maximum_length_is_complete() -> None:
    first = error = ValueError('0')
    for number in range(1, 100):
        error.__cause__ = ValueError(str(number))
        error = error.__cause__
    assert report_defect(first).pretty.endswith('caused by ValueError: 99')


def test_a_large_group_is_cut() -> None:
    report = report_defect(
        ExceptionGroup('many', [ValueError(str(number)) for number in range(100_000)])
    )
    assert report.pretty.splitlines()[-2:] == ['  - ValueError: 98', '… (more causes)']


def test_nested_groups_are_indented() -> None:
    inner = KeyError('b')
    inner.__cause__ = OSError('disk')
    defect = ExceptionGroup(
        'outer', [ExceptionGroup('inner', [ValueError('a'), inner]), TypeError('c')]
    )
    assert report_defect(defect).pretty.splitlines() == [
        'ExceptionGroup: outer (2 sub-exceptions)',
        '  - ExceptionGroup: inner (2 sub-exceptions)',
        '    - ValueError: a',
        "    - KeyError: 'b'",
        '    caused by OSError: disk',
        '  - TypeError: c',
    ]


def test_a_level_has_at_most_fifty_frames() -> None:
    def down(depth: int) -> None:
        if not depth:
            raise ValueError('bottom')
        down(depth - 1)

    with pytest.raises(ValueError, match='bottom') as caught:
        down(200)
    lines = [line for line in report_defect(caught.value).pretty.splitlines() if 'File' in line]
    assert len(lines) == 50
    assert '… (152 more frames)' in report_defect(caught.value).pretty


def test_frames_of_the_core_and_of_the_event_loop_are_omitted() -> None:
    @fallible
    async def scope(do: Do[str]) -> int:
        return do(attempt(lambda: 1 // 0, when(KeyError).becomes(str)))

    with pytest.raises(ZeroDivisionError) as caught:
        asyncio.run(scope())
    pretty = report_defect(caught.value).pretty
    assert 'scope.py' not in pretty
    assert 'edges.py' not in pretty
    assert 'asyncio' not in pretty
    assert 'in scope' in pretty


LOOP_FILES = [
    'uvloop/loop.pyx',
    '/opt/app/lib/python3.11/site-packages/uvloop/loop.pyx',
    '/opt/app/lib/python3.11/site-packages/anyio/_backends/_asyncio.py',
    '/usr/lib/python3/dist-packages/trio/_core/_run.py',
    asyncio.tasks.__file__,
    concurrent.futures.thread.__file__,
]
OWN_FILES = [
    '/srv/app/asyncio/jobs.py',
    '/srv/trio/main.py',
    '/srv/uvloop/loop.py',
    '/srv/site-packages/triolet/a.py',
]


def raised_in(file: str) -> BaseException:
    """Return an exception whose traceback has a frame of a file."""
    names: dict[str, Callable[[], None]] = {}
    exec(compile('def run():\n    1 / 0', file, 'exec'), names)  # noqa: S102 -- the only way to a frame of this file
    with pytest.raises(ZeroDivisionError) as caught:
        names['run']()
    return caught.value


@pytest.mark.parametrize('file', LOOP_FILES)
def test_frames_of_an_event_loop_are_omitted(file: str) -> None:
    assert file not in report_defect(raised_in(file)).pretty


@pytest.mark.parametrize('file', OWN_FILES)
def test_frames_of_a_program_with_the_name_of_a_loop_are_kept(file: str) -> None:
    assert file in report_defect(raised_in(file)).pretty


@pytest.mark.parametrize('backend', ['asyncio', 'trio'])
def test_frames_of_anyio_and_trio_are_omitted(backend: str) -> None:
    async def fail() -> None:
        raise ValueError('bad')

    async def start() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(fail)

    with pytest.raises(ExceptionGroup) as caught:
        anyio.run(start, backend=backend)
    pretty = report_defect(caught.value).pretty
    assert 'in fail' in pretty
    assert 'site-packages' not in pretty


def test_frames_of_the_core_are_kept_if_there_are_no_others() -> None:
    with pytest.raises(TypeError) as caught:
        when(int)  # type: ignore[type-var]  # the misuse is the test
    error = caught.value
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next
    assert 'edges.py' in report_defect(error).pretty


def test_secrets_in_messages_are_masked(caplog: pytest.LogCaptureFixture) -> None:
    defect = ValueError('could not reach postgresql://app:FAKE-db1@db.example.org/orders')
    defect.add_note('token=FAKE-note')
    defect.__cause__ = OSError('password=FAKE-cause')
    with caplog.at_level(logging.ERROR, 'seamwise'):
        report = report_defect(defect)
    assert 'FAKE' not in repr(report) + caplog.text
    assert 'db.example.org' in report.pretty


def test_a_message_that_raises_is_replaced_by_a_note() -> None:
    class Mute(Exception):
        @override
        def __str__(self) -> str:
            raise ZeroDivisionError

    assert report_defect(Mute()).chain == (Link('Mute', '(its message raised ZeroDivisionError)'),)


def test_a_credential_at_the_cut_is_masked_before_the_cut() -> None:
    defect = ValueError('x' * 1000 + ' https://ann:' + 'FAKE' * 20 + '@example.org/')
    defect.add_note('y' * 1000 + ' Authorization: Bearer ' + 'FAKE' * 20)
    assert 'FAKE' not in repr(report_defect(defect))


@pytest.mark.nightly
def test_a_long_message_is_cut() -> None:
    [link] = report_defect(ValueError('x' * 10_000_000)).chain
    assert link.message == 'x' * 1024 + '… (9998976 more)'


def test_a_frame_contains_no_source_line_and_no_secret_of_its_path() -> None:
    file = 'https://ann:FAKE-hunter2@example.org/a.py'
    assert 'FAKE' not in report_defect(raised_in(file)).pretty
    with pytest.raises(SyntaxError) as caught:
        compile("connect('FAKE-hunter2') +", 'a.py', 'exec')
    report = report_defect(caught.value)
    assert report.chain == (Link('SyntaxError', 'invalid syntax (a.py, line 1)'),)
    assert 'FAKE' not in report.pretty


def test_control_characters_and_line_ends_in_a_message_are_escaped() -> None:
    report = report_defect(ValueError('a\ncaused by KeyError: b\x1b[2J\0\r\ud800'))
    assert report.pretty == 'ValueError: a\n    caused by KeyError: b\\x1b[2J\\x00\\r\\ud800'
    report.pretty.encode()


def test_notes_that_are_not_texts_are_converted_or_replaced() -> None:
    class Mute:
        @override
        def __str__(self) -> str:
            raise ZeroDivisionError

    defect = ValueError('bad')
    defect.__notes__ = [5, None, 'one\ntwo', Mute()]  # type: ignore[list-item]  # Python does not check notes
    assert report_defect(defect).pretty.splitlines() == [
        'ValueError: bad',
        '  note: 5',
        '  note: None',
        '  note: one',
        '    two',
        '  note: (its text raised ZeroDivisionError)',
    ]
    defect = ValueError('bad')
    defect.__notes__ = 7  # type: ignore[assignment]  # as above
    assert report_defect(defect).pretty.splitlines() == ['ValueError: bad', '  note: 7']


def test_the_number_of_notes_is_limited() -> None:
    defect = ValueError('bad')
    for number in range(100_000):
        defect.add_note(str(number))
    assert report_defect(defect).pretty.splitlines()[-2:] == [
        '  note: 19',
        '  note: … (99980 more notes)',
    ]


def test_an_exception_whose_attributes_raise_is_reported() -> None:
    class Odd(Exception):
        def __getattr__(self, name: str) -> object:
            raise LookupError(name)

    assert report_defect(Odd('odd')).pretty.splitlines() == [
        'Odd: odd',
        '  note: (its notes raised LookupError)',
    ]


def test_a_reported_cause_keeps_the_name_of_its_type() -> None:
    assert report_defect(Raised(SyncFailed('a', ReportedCause('DiskFull', 'no room')))).chain[
        -1
    ] == Link('DiskFull', 'no room')


def test_a_defect_is_logged_once_if_every_layer_reports_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refs: list[str] = []

    async def layer(depth: int) -> None:
        try:
            await asyncio.create_task(layer(depth - 1)) if depth else 1 / 0
        except ZeroDivisionError as error:
            refs.append((await asyncio.to_thread(report_defect, error)).ref)
            raise

    with caplog.at_level(logging.ERROR, 'seamwise'), pytest.raises(ZeroDivisionError):
        asyncio.run(layer(5))
    assert (len(refs), len(set(refs)), len(caplog.records)) == (6, 1, 1)


def test_reports_are_compared_by_value() -> None:
    report = report_defect(ValueError('bad'))
    unpickled = pickle.loads(pickle.dumps(report))  # noqa: S301 -- own bytes
    assert unpickled == report == DefectReport(report.ref, report.pretty, report.chain)


def test_the_chain_contains_the_causes_of_a_tagged_error() -> None:
    assert report_defect(Raised(SyncFailed('orders', OSError('disk')))).pretty.splitlines() == [
        'Raised: The sync of orders failed.',
        'caused by SyncFailed: The sync of orders failed.',
        'caused by OSError: disk',
    ]


def test_a_defect_is_logged_once_if_its_text_reports_it_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    inner: list[DefectReport] = []

    class Nosy(Exception):
        @override
        def __str__(self) -> str:
            inner.append(DefectReport('', '', ()))
            if len(inner) == 1:
                inner[0] = report_defect(self)
            return 'nosy'

    with caplog.at_level(logging.ERROR, 'seamwise'):
        assert report_defect(Nosy()) is inner[0]
    assert len(caplog.records) == 1


def test_the_context_is_in_the_text_and_in_the_log_record(caplog: pytest.LogCaptureFixture) -> None:
    report = report_defect(
        ValueError('no'), log=logging.getLogger('mine'), request_id='r-1', user='password=hunter2'
    )
    [record] = caplog.records
    context = {'request_id': 'r-1', 'user': 'password=***'}
    assert (record.name, vars(record)['ref'], vars(record)['context']) == (
        'mine',
        report.ref,
        context,
    )
    assert report.pretty == 'ValueError: no\nrequest_id: r-1\nuser: password=***'


@pytest.mark.parametrize(
    'name',
    [
        'module',
        'name',
        'args',
        'message',
        'msg',
        'exc_info',
        'exc_text',
        'levelname',
        'ref',
        'error_type',
        'context',
        'defect',
        'stack_level',
    ],
)
def test_a_context_can_have_the_name_of_an_attribute_of_a_record(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    facts: dict[str, Any] = {name: 'x'}
    report = report_defect(ValueError('bad'), **facts)
    [record] = caplog.records
    assert vars(record)['context'] == facts
    assert report.pretty == f'ValueError: bad\n{name}: x'


def test_a_context_is_redacted_by_its_name_and_converted_to_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    number: Any = 5
    report = report_defect(ValueError('bad'), password='FAKE-hunter2', attempt=number)  # noqa: S106 -- a planted secret
    [record] = caplog.records
    assert vars(record)['context'] == {'password': '***', 'attempt': '5'}
    assert report.pretty.endswith('password: ***\nattempt: 5')


def test_the_record_has_the_exception_its_type_and_the_caller(
    caplog: pytest.LogCaptureFixture,
) -> None:
    defect = KeyError('bad')
    report = report_defect(defect)
    [record] = caplog.records
    assert record.exc_info == (KeyError, defect, None)
    assert vars(record)['error_type'] == 'KeyError'
    assert (record.levelname, record.pathname) == ('ERROR', __file__)
    assert record.funcName == 'test_the_record_has_the_exception_its_type_and_the_caller'
    assert (record.getMessage(), record.exc_text) == (
        f"defect {report.ref}: KeyError: 'bad'",
        report.pretty,
    )


def test_the_message_of_the_record_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    ref = report_defect(ValueError('a\nb')).ref
    assert caplog.records[0].getMessage() == f'defect {ref}: ValueError: a'
    report_defect(ValueError())
    assert caplog.records[1].getMessage().endswith(': ValueError')


def test_the_exception_of_the_record_has_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    defect = raised(PermissionError(13, 'password=FAKE-hunter2'))
    report_defect(defect)
    [record] = caplog.records
    assert record.exc_info is not None
    type_, clean, frames = record.exc_info
    assert (type_, str(clean)) == (PermissionError, '[Errno 13] password=***')
    assert clean is not defect
    assert frames is not None
    assert 'FAKE' in str(defect)


def test_a_disabled_logger_gets_no_record(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger('tests.disabled')
    logger.setLevel(logging.CRITICAL)
    assert report_defect(ValueError('bad'), log=logger).pretty == 'ValueError: bad'
    assert not caplog.records


class Refusing(logging.Handler):
    """Handler that raises the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.is_broken = True

    @override
    def handle(self, record: logging.LogRecord) -> bool:
        if self.is_broken:
            self.is_broken = False
            raise RuntimeError('the disk is full')
        self.records.append(record)
        return True


def test_a_defect_is_logged_again_under_its_reference_if_a_handler_raises() -> None:
    logger, handler, seen = logging.getLogger('tests.refusing'), Refusing(), list[str]()
    logger.addHandler(handler)
    defect = ValueError('bad')
    remove = on_defect(lambda report, _: seen.append(report.ref))
    with pytest.raises(RuntimeError, match='the disk is full'):
        report_defect(defect, log=logger)
    assert not seen
    refs = {report_defect(defect, log=logger).ref for _ in range(3)}
    remove()
    logger.removeHandler(handler)
    assert refs == {vars(record)['ref'] for record in handler.records} == set(seen)
    assert len(handler.records) == len(seen) == 1


def test_a_report_travels_with_a_pickled_exception(caplog: pytest.LogCaptureFixture) -> None:
    defect = ValueError('bad')
    report = report_defect(defect)
    unpickled = pickle.loads(pickle.dumps(defect))  # noqa: S301 -- own bytes
    assert report_defect(unpickled) == report
    assert len(caplog.records) == 1


def test_a_callback_gets_the_report_and_the_original_exception_once() -> None:
    calls: list[tuple[DefectReport, BaseException]] = []
    remove = on_defect(lambda report, error: calls.append((report, error)))
    defect = ValueError('password=FAKE-hunter2')
    report = report_defect(defect)
    report_defect(defect)
    assert calls == [(report, defect)]
    remove()
    remove()
    report_defect(ValueError('bad'))
    assert len(calls) == 1


def test_a_callback_that_is_added_twice_is_called_twice_and_removed_once() -> None:
    calls: list[str] = []

    def callback(report: DefectReport, error: BaseException) -> None:
        calls.append(report.ref)

    removers = [on_defect(callback), on_defect(callback)]
    report_defect(ValueError('bad'))
    removers[0]()
    report_defect(ValueError('bad'))
    removers[1]()
    assert len(calls) == 3


def test_an_exception_of_a_callback_is_logged_and_the_others_still_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls: list[str] = []

    class Broken:
        def __call__(self, report: DefectReport, error: BaseException) -> None:
            raise LookupError('token=FAKE-hunter2')

        @override
        def __repr__(self) -> str:
            raise ZeroDivisionError

    removers = [on_defect(Broken()), on_defect(lambda report, _: calls.append(report.ref))]
    report = report_defect(ValueError('bad'))
    for remove in removers:
        remove()
    first, second = caplog.records
    assert calls == [report.ref] == [vars(first)['ref']]
    assert vars(second)['error_type'] == 'LookupError'
    assert vars(second)['context'] == {'callback': 'Broken'}
    assert 'FAKE' not in caplog.text


def test_a_callback_that_reports_its_defect_again_is_called_once() -> None:
    calls: list[str] = []

    def callback(_: DefectReport, error: BaseException) -> None:
        calls.append(report_defect(error).ref)

    remove = on_defect(callback)
    report = report_defect(ValueError('bad'))
    remove()
    assert calls == [report.ref]


def test_a_callback_that_cannot_be_called_is_refused() -> None:
    wrong: Any = 'print'
    with pytest.raises(TypeError, match=r"on_defect takes a function .*, not 'print'"):
        on_defect(wrong)


FRAMEWORK_FILES = [
    '/opt/app/lib/python3.11/site-packages/starlette/routing.py',
    '/opt/app/lib/python3.11/site-packages/fastapi/routing.py',
    '/opt/app/lib/python3.11/site-packages/uvicorn/protocols/http/h11_impl.py',
    str(Path(seamwise.__file__).parent / 'seams' / 'http' / 'endpoint.py'),
    str(Path(seamwise.__file__).parent / 'policies' / '_engine' / 'pipeline.py'),
]


@pytest.mark.parametrize('file', FRAMEWORK_FILES)
def test_frames_of_a_framework_and_of_the_seams_are_omitted_beside_own_frames(file: str) -> None:
    defect = raised_in(file)
    assert file not in report_defect(defect).pretty
    alone = raised_in(file)
    assert alone.__traceback__ is not None
    alone.__traceback__ = alone.__traceback__.tb_next
    assert file in report_defect(alone).pretty


def test_frames_of_the_tool_host_are_kept() -> None:
    """A defect of the tool host itself is in these frames."""
    file = str(Path(seamwise.__file__).parent / 'toolhost' / 'toolset.py')
    assert file in report_defect(raised_in(file)).pretty


@pytest.mark.parametrize('value', ['late', None, Failure(ValueError('x')), ValueError])
def test_report_defect_raises_type_error_for_anything_but_an_exception(value: Any) -> None:
    with pytest.raises(TypeError, match='report_defect takes an exception, not '):
        report_defect(value)


async def notify(_report: DefectReport, _defect: BaseException) -> None: ...


def take_one(_report: DefectReport) -> None: ...


@pytest.mark.parametrize('callback', [None, list, take_one, notify])
def test_on_defect_raises_type_error_for_a_function_that_it_cannot_call(callback: Any) -> None:
    with pytest.raises(TypeError, match='on_defect takes a function of a report and an exception'):
        on_defect(callback)


def test_on_defect_accepts_a_function_without_a_signature(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(_function: object) -> Any:
        raise ValueError('no signature found')

    monkeypatch.setattr(defects, 'signature', unknown)
    on_defect(lambda _report, _defect: None)()


def test_an_exception_whose_class_hides_its_attributes_is_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # mypyc has compiled the class: its instances have no `__dict__`.
    error = pytest.importorskip('mypy.util').DecodeError('unknown encoding')
    assert not hasattr(error, '__dict__')
    assert report_defect(error).ref == report_defect(error).ref
    assert len(caplog.records) == 1
