"""Writing of several files while signals arrive."""

import itertools
import signal
import sys
from pathlib import Path
from types import FrameType

import pytest

from seamwise.check.migrate import writing

OLD = {'one.py': b'1\n', 'two.py': b'2\n', 'three.py': b'3\n'}
NEW = {'one.py': b'one\n', 'two.py': b'two\n', 'three.py': b'three\n'}


class Interrupt:
    """Trace function that sends SIGINT before one line of the module."""

    def __init__(self, line: int) -> None:
        self.lines = itertools.count()
        self.line = line
        self.is_sent = False

    def __call__(self, frame: FrameType, event: str, _: object) -> 'Interrupt | None':
        if frame.f_code.co_filename != writing.__file__:
            return None
        if event == 'line' and next(self.lines) == self.line:
            self.is_sent = True
            signal.raise_signal(signal.SIGINT)
        return self


def write_interrupted(folder: Path, line: int) -> tuple[bool, bool]:
    """Return whether SIGINT was sent before a line, and whether it arrived."""
    contents = {folder / name: (OLD[name], NEW[name]) for name in OLD}
    interrupt = Interrupt(line)
    tracer = sys.gettrace()
    sys.settrace(interrupt)
    try:
        writing.write_all(contents)
    except KeyboardInterrupt:
        return interrupt.is_sent, True
    finally:
        sys.settrace(tracer)
    return interrupt.is_sent, False


@pytest.mark.slow
def test_an_interrupt_before_any_line_leaves_all_files_or_none_changed(tmp_path: Path) -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    outcomes: list[bool] = []
    for line in itertools.count():
        for name, content in OLD.items():
            (tmp_path / name).write_bytes(content)
        is_sent, has_arrived = write_interrupted(tmp_path, line)
        found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        assert found in (OLD, NEW), f'interrupted before line event {line}'
        assert has_arrived == is_sent
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
        if not is_sent:
            break
        outcomes.append(found == NEW)
    assert len(outcomes) > 50
    assert {*outcomes} == {True, False}
