"""The regex worker, run inside the test process."""

import json
import re
import signal
import sys
from io import BytesIO
from types import SimpleNamespace

import pytest

from seamwise.toolhost.builtin.processes import regex_worker


def answers(pattern: str, *requests: bytes, name_pattern: str = '') -> list[object]:
    job = json.dumps(
        {'pattern': pattern, 'ignore_case': False, 'name_pattern': name_pattern}
    ).encode()
    sink = BytesIO()
    regex_worker.serve(BytesIO(job + b'\n' + b''.join(requests)), sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_each_request_is_answered_in_one_line() -> None:
    results = answers(
        'b',
        b'text 4 9\na\nb\n',
        b'text 3 9\nbcb',
        b'name 3 0\na\nx',
        b'name 1 0\ny',
        name_pattern='x$',
    )
    assert results == [None, [[1, 'b']], [[0, 'bcb']], True, False]


def test_an_invalid_pattern_is_the_only_answer() -> None:
    assert answers('([', b'text 1 9\na') == ['unterminated character set at position 1']


def test_a_line_ends_at_a_line_feed_only() -> None:
    text = 'a\u2028b\x0bc\x85d\re\r\nf\n'.encode()
    assert regex_worker.find_lines(re.compile('.'), text, 9) == [
        (0, 'a\u2028b\x0bc\x85d\re'),
        (1, 'f'),
    ]


def test_the_worker_uses_standard_streams_and_an_alarm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old_handler = signal.getsignal(signal.SIGALRM)
    sink = BytesIO()
    monkeypatch.setattr(sys, 'argv', ['regex_worker', '100'])
    monkeypatch.setattr(
        sys,
        'stdin',
        SimpleNamespace(
            buffer=BytesIO(b'{"pattern": "a", "ignore_case": false, "name_pattern": ""}\n')
        ),
    )
    monkeypatch.setattr(sys, 'stdout', SimpleNamespace(buffer=sink))
    try:
        regex_worker._main()
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        assert 90 < signal.setitimer(signal.ITIMER_REAL, 0)[0] <= 100
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler)
    assert sink.getvalue() == b'null\n'
