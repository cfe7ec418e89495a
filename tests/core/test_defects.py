"""Tests of defect reports: logging once, masked secrets and limited length."""

import asyncio
import concurrent.futures.thread
import logging
import pickle
import re
import threading
from collections.abc import Callable

import anyio
import pytest
from typing_extensions import override

from seamwise import (
    Category,
    Cause,
    Do,
    Raised,
    TaggedError,
    attempt,
    fallible,
    report_defect,
    when,
)
from seamwise.codec import ReportedCause
from seamwise.defects import DefectReport, Link


class SyncFailed(TaggedError, category=Category.EXECUTION, message='The sync of {name} failed.'):
    name: str
    cause: Cause | None = None


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001 -- returned with its traceback
        return caught


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
    assert (record.name, vars(record)['ref'], vars(record)['request_id']) == (
        'mine',
        report.ref,
        'r-1',
    )
    assert report.pretty == 'ValueError: no\nrequest_id: r-1\nuser: password=***'
