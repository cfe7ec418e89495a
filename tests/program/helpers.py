"""What the tests of the command share: running it, and comparing what came with what was expected."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from seamwise._text.jsonable import Json

SEAMS = ['cli', 'http', 'session', 'model', 'planner', 'log', 'jsonrpc']
COMMAND = [sys.executable, '-m', 'seamwise']
CLEAN = {
    name: value for name, value in os.environ.items() if name not in {'NO_COLOR', 'COLUMNS', 'TERM'}
} | {'TERM': 'xterm'}


def call(tool: str, *, id: str | None = None, **arguments: object) -> str:  # noqa: A002 -- the word of the wire
    """Write a call as a line."""
    own = {} if id is None else {'id': id}
    return json.dumps({**own, 'tool': tool, 'arguments': arguments}, ensure_ascii=False) + '\n'


def objects(output: str | bytes) -> list[dict[str, Any]]:
    """Read lines of JSON."""
    return [json.loads(line) for line in output.splitlines()]


def run(
    *arguments: str | Path,
    calls: str | bytes = '',
    env: Mapping[str, str] = CLEAN,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    command = [*COMMAND, *map(str, arguments)]
    given = calls.encode() if isinstance(calls, str) else calls
    return subprocess.run(
        command, input=given, capture_output=True, check=False, timeout=60, env=env, cwd=cwd
    )


def matches(found: Json, expected: Json) -> bool:
    """Whether `found` is as `expected`: objects may hold more, `$any`, `$none` and the like say what else counts."""
    if isinstance(expected, dict):
        if any(key.startswith('$') for key in expected):
            return _holds(found, expected)
        return isinstance(found, dict) and all(
            key in found and matches(found[key], one) for key, one in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(map(matches, found, expected))
        )
    return found == expected and type(found) is type(expected)


def _holds(found: Any, rules: dict[str, Any]) -> bool:
    if '$pluck' in rules:
        rest = {rule: wanted for rule, wanted in rules.items() if rule != '$pluck'}
        return _holds([one[rules['$pluck']] for one in found], rest)
    return all(_RULES[rule](found, wanted) for rule, wanted in rules.items())


def _some(found: Sequence[Any], wanted: Any) -> bool:
    return any(matches(one, wanted) for one in found)


_RULES: Mapping[str, Callable[[Any, Any], bool]] = {
    '$any': lambda found, wanted: all(_some(found, one) for one in wanted),
    '$none': lambda found, wanted: not any(_some(found, one) for one in wanted),
    '$has': lambda found, wanted: wanted in found,
    '$eq': lambda found, wanted: bool(found == wanted),
    '$len': lambda found, wanted: bool(len(found) == wanted),
    '$minlen': lambda found, wanted: bool(len(found) >= wanted),
    '$maxbytes': lambda found, wanted: bool(len(found.encode()) <= wanted),
    '$re': lambda found, wanted: re.search(wanted, found) is not None,
}
