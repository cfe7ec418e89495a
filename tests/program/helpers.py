"""Helpers for the tests of the command: running it, and comparing output with expectations."""

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


def call(tool: str, *, id: str | None = None, **arguments: object) -> str:  # noqa: A002 -- the key of the wire format
    """Return a call as a line of JSON."""
    fields = {} if id is None else {'id': id}
    return json.dumps({**fields, 'tool': tool, 'arguments': arguments}, ensure_ascii=False) + '\n'


def objects(output: str | bytes) -> list[dict[str, Any]]:
    """Parse JSON Lines."""
    return [json.loads(line) for line in output.splitlines()]


def run(
    *arguments: str | Path,
    calls: str | bytes = '',
    env: Mapping[str, str] = CLEAN,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a child process."""
    command = [*COMMAND, *map(str, arguments)]
    value = calls.encode() if isinstance(calls, str) else calls
    return subprocess.run(
        command, input=value, capture_output=True, check=False, timeout=60, env=env, cwd=cwd
    )


def is_match(actual: Json, expected: Json) -> bool:
    """Return whether `actual` matches `expected`.

    Objects can have further keys; operators such as `$any` and `$none` express other conditions.
    """
    if isinstance(expected, dict):
        if any(key.startswith('$') for key in expected):
            return _satisfies_rules(actual, expected)
        return isinstance(actual, dict) and all(
            key in actual and is_match(actual[key], value) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(actual) == len(expected)
            and all(map(is_match, actual, expected))
        )
    return actual == expected and type(actual) is type(expected)


def _satisfies_rules(actual: Any, rules: dict[str, Any]) -> bool:
    if '$pluck' in rules:
        rest = {rule: expected for rule, expected in rules.items() if rule != '$pluck'}
        return _satisfies_rules([item[rules['$pluck']] for item in actual], rest)
    return all(_RULES[rule](actual, expected) for rule, expected in rules.items())


def _contains(actual: Sequence[Any], expected: Any) -> bool:
    return any(is_match(item, expected) for item in actual)


_RULES: Mapping[str, Callable[[Any, Any], bool]] = {
    '$any': lambda actual, expected: all(_contains(actual, item) for item in expected),
    '$none': lambda actual, expected: not any(_contains(actual, item) for item in expected),
    '$has': lambda actual, expected: expected in actual,
    '$eq': lambda actual, expected: bool(actual == expected),
    '$len': lambda actual, expected: bool(len(actual) == expected),
    '$minlen': lambda actual, expected: bool(len(actual) >= expected),
    '$maxbytes': lambda actual, expected: bool(len(actual.encode()) <= expected),
    '$re': lambda actual, expected: re.search(expected, actual) is not None,
}
