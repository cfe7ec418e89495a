"""Program that runs an example with marked secrets, and writes what it emits to a file.

It runs in a process of its own, because logging, Sentry and the examples have global state.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3] / 'examples'))

from seamwise.redaction import containers, redactor
from seamwise.redaction.call_values import CallValues
from seamwise.seams import log
from tests.examples.leaks.agent_program import run_agent, serve_agent
from tests.examples.leaks.emitted import Emitted
from tests.examples.leaks.shop_program import run_shop

_PROGRAMS = {'shop': run_shop, 'agent': run_agent}


def _switch_redaction_off() -> None:
    """Let every secret through, so that the search has something to find."""
    redaction: Any = containers._Redaction
    texts: Any = redactor
    texts.may_contain_secret = lambda text, settings: False
    redaction._is_harmless = lambda self, name, value: True
    redaction._argument = lambda self, argument, flag, command: None
    CallValues.mask = lambda self, text: text  # type: ignore[method-assign]  # on purpose


def main(example: str, style: str, file: str, control: str = '') -> None:
    """Run an example.

    Args:
        example: `shop`, `agent`, or `mcp` for the server of the tools of the agent.
        style: Style of the log.
        file: Receives what is emitted, except the standard error of the process.
        control: If it is not empty, redaction is off.
    """
    if control:
        _switch_redaction_off()
    if example == 'mcp':
        log.setup()
        serve_agent()
        return
    emitted = Emitted()
    if example == 'agent' or style == 'console':
        log.setup('console' if style == 'console' else 'json')
    _PROGRAMS[example](emitted)
    Path(file).write_text(json.dumps(emitted.texts()), encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
