"""Defects are recorded once, under a reference, without secrets and without end."""

import asyncio
import logging
import pickle
import re
import threading

import pytest
from typing_extensions import override

from seamwise import Category, Cause, Do, Raised, TaggedError, attempt, fallible, report_defect, when
from seamwise.defects import DefectReport, Link


class SyncFailed(TaggedError, category=Category.EXECUTION, message='The sync of {name} failed.'):
    name: str
    cause: Cause | None = None


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001 -- the test wants it with its traceback
        return caught


def test_a_reference_is_eight_characters_of_base32() -> None:
    refs = {report_defect(ValueError(str(number))).ref for number in range(50)}
    assert len(refs) == 50
    assert all(re.fullmatch('err_[a-z2-7]{8}', ref) for ref in refs)


def test_it_is_logged_once_however_often_it_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    defect = raised(ValueError('bad'))
    with caplog.at_level(logging.ERROR, 'seamwise'):
        reports = [report_defect(defect) for _ in range(3)]
    assert reports[0] is reports[1] is reports[2]
    assert len(caplog.records) == 1
    assert reports[0].ref in caplog.text
    assert 'ValueError: bad' in caplog.text


def test_it_is_logged_once_by_many_threads(caplog: pytest.LogCaptureFixture) -> None:
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


def test_the_chain_goes_from_the_newest_to_the_first_cause() -> None:
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


def test_the_members_of_a_group_and_a_note_stand_in_it() -> None:
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


def test_a_cycle_ends() -> None:
    one, other = ValueError('1'), ValueError('2')
    one.__cause__, other.__cause__ = other, one
    assert [link.message for link in report_defect(one).chain] == ['1', '2']


def test_a_long_chain_is_cut() -> None:
    first = error = ValueError('0')
    for number in range(1, 5000):
        error.__cause__ = ValueError(str(number))
        error = error.__cause__
    assert len(report_defect(first).chain) == 100


def test_at_most_fifty_frames_a_level() -> None:
    def down(depth: int) -> None:
        if not depth:
            raise ValueError('bottom')
        down(depth - 1)

    with pytest.raises(ValueError, match='bottom') as caught:
        down(200)
    lines = [line for line in report_defect(caught.value).pretty.splitlines() if 'File' in line]
    assert len(lines) == 50
    assert '… (152 more frames)' in report_defect(caught.value).pretty


def test_frames_of_the_core_and_of_the_loop_are_cut() -> None:
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


def test_frames_stay_where_there_are_no_others() -> None:
    with pytest.raises(TypeError) as caught:
        when(int)  # type: ignore[type-var]  # the misuse is the test
    error = caught.value
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next
    assert 'edges.py' in report_defect(error).pretty


def test_no_secret_of_a_message_is_recorded(caplog: pytest.LogCaptureFixture) -> None:
    defect = ValueError('could not reach postgresql://app:FAKE-db1@db.example.org/orders')
    defect.add_note('token=FAKE-note')
    defect.__cause__ = OSError('password=FAKE-cause')
    with caplog.at_level(logging.ERROR, 'seamwise'):
        report = report_defect(defect)
    assert 'FAKE' not in repr(report) + caplog.text
    assert 'db.example.org' in report.pretty


def test_a_message_that_cannot_be_shown_is_named() -> None:
    class Mute(Exception):
        @override
        def __str__(self) -> str:
            raise ZeroDivisionError

    assert report_defect(Mute()).chain == (Link('Mute', '(its message raised ZeroDivisionError)'),)


def test_a_report_is_a_value() -> None:
    report = report_defect(ValueError('bad'))
    assert pickle.loads(pickle.dumps(report)) == report == DefectReport(report.ref, report.pretty, report.chain)  # noqa: S301 -- our own bytes


def test_the_causes_of_an_error_of_ours_are_walked() -> None:
    assert report_defect(Raised(SyncFailed('orders', OSError('disk')))).pretty.splitlines() == [
        'Raised: The sync of orders failed.',
        'caused by SyncFailed: The sync of orders failed.',
        'caused by OSError: disk',
    ]


def test_it_is_logged_once_even_if_it_is_reported_while_it_is_being_reported(caplog: pytest.LogCaptureFixture) -> None:
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
