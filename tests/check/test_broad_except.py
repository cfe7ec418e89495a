"""Severities of broad handlers, and handlers whose helpers are in other files."""

from pathlib import Path

import pytest

from seamwise.check.checking import run_check
from seamwise.check.settings import CheckSettings

START = """\
import asyncio
import logging
import sys
import traceback

logger = logging.getLogger(__name__)
debug, error = logger.debug, logger.error
log_exception = logger.exception


class Service:
    def log(self, message: str, **options: object) -> None:
        print(message, options)
"""
FUNCTION = """

{keyword} run_{number}(service: Service, task: asyncio.Task[int], *, quiet: bool) -> int:
    {before}
    try:
        return int('1')
    except {classes} as failure:
        {statement}
        return 2
"""
WITH_TRACEBACK = (
    "logger.error('failed', exc_info=True)",
    "error('failed', exc_info=True)",
    "log_exception('failed')",
    "service.log('failed', exc_info=sys.exc_info())",
    "service.log('failed', exc_info=failure)",
    'logger.error(traceback.format_exc())',
    "logger.error('failed: %s', ''.join(traceback.format_exception(failure)))",
    'print(traceback.format_exc(), file=sys.stderr)',
    'sys.stderr.write(traceback.format_exc())',
    'text = traceback.format_exc(); logger.error(text)',
    'traceback.print_exc()',
)
WITHOUT_TRACEBACK = (
    "logger.error('failed')",
    "error('failed: %s', failure)",
    "error('failed', exc_info=False)",
    "service.log('failed', exc_info=None)",
    'text = traceback.format_exc()',
    "logger.error('failed: %s', traceback.format_stack())",
)
CANCELLED = '(Exception, asyncio.CancelledError)'


def function(
    number: int,
    statement: str,
    *,
    classes: str = 'Exception',
    before: str = 'print(service)',
    keyword: str = 'async def',
) -> str:
    return FUNCTION.format(
        number=number, statement=statement, classes=classes, before=before, keyword=keyword
    )


def messages(source: str, tmp_path: Path) -> list[tuple[str, str]]:
    """Return severity and message of each finding."""
    (tmp_path / 'main.py').write_text(source, encoding='utf-8')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        report = run_check(['main.py'], CheckSettings(select=('SW103',)), no_cache=True)
    return [(finding.severity, finding.message) for finding in report.findings]


@pytest.mark.slow
def test_only_handlers_that_log_the_traceback_are_warnings(tmp_path: Path) -> None:
    statements = (*WITH_TRACEBACK, *WITHOUT_TRACEBACK)
    functions = [function(number, statement) for number, statement in enumerate(statements)]
    findings = messages(START + ''.join(functions), tmp_path)
    logs = '`except Exception` logs every defect, and continues as if nothing had happened.'
    assert dict(zip(statements, findings, strict=True)) == {
        **dict.fromkeys(WITH_TRACEBACK, ('warning', logs)),
        **dict.fromkeys(WITHOUT_TRACEBACK, ('error', '`except Exception` swallows every defect.')),
    }


@pytest.mark.slow
def test_logged_cancellation_is_an_error_unless_it_is_of_another_task(tmp_path: Path) -> None:
    log = "quiet or logger.exception('failed')"
    functions = [
        function(1, log, classes=CANCELLED),
        function(2, log, classes=CANCELLED, before='task.cancel()'),
        function(3, log, classes=CANCELLED, keyword='def'),
    ]
    findings = messages(START + ''.join(functions), tmp_path)
    assert [severity for severity, _ in findings] == ['error', 'warning', 'warning']
    assert findings[0][1] == f'`except {CANCELLED}` swallows every defect and cancellation.'


HANDLER = """\
from helpers import fail


def run() -> int:
    try:
        return 1
    except Exception as error:
        fail(error)
    return 2
"""
RAISES = 'def fail(error: Exception) -> None:\n    raise error\n'
PRINTS = 'def fail(error: Exception) -> None:\n    print(error)\n'


@pytest.mark.slow
def test_changed_helper_decides_about_a_handler_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'main.py').write_text(HANDLER, encoding='utf-8')
    counts: list[int] = []
    for helpers in (RAISES, PRINTS, RAISES):
        (tmp_path / 'helpers.py').write_text(helpers, encoding='utf-8')
        report = run_check(['.'], CheckSettings(select=('SW103',)))
        counts.append(len(report.findings))
    assert counts == [0, 1, 0]
