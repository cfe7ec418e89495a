"""Held-out lists of secrets and of innocent texts, with a source for each group."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from seamwise import redact
from tests.core.redacted import texts

_FOLDER = Path(__file__).parent
# `⟦…⟧` encloses a secret. `¦` interrupts keys, so that no scanner takes a fake one for a real one.
_SECRET = re.compile('⟦(.*?)⟧', re.DOTALL)
_MARKS = re.compile('[⟦⟧¦]')


def _rows(file: str) -> Iterator[Any]:
    for line in (_FOLDER / file).read_text(encoding='utf-8').splitlines():
        row: dict[str, Any] = json.loads(line)
        if 'value' in row:
            yield row['value']


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    kind: object = value.__class__
    if kind is dict:
        return {change(key): _mapped(item, change) for key, item in value.items()}
    if kind is list:
        return [_mapped(item, change) for item in value]
    return change(value) if kind is str else value


def _unmarked(value: Any) -> Any:
    return _mapped(value, lambda text: _MARKS.sub('', text))


def _secrets(value: Any) -> list[str]:
    """Return the marked secrets of a row; in a row without marks, the number is one."""
    secrets: list[str] = []

    def collect(text: str) -> str:
        secrets.extend(secret.replace('¦', '') for secret in _SECRET.findall(text))
        return text

    _mapped(value, collect)
    return secrets or [str(number) for number in value.values()]


SECRETS = [(_unmarked(row), _secrets(row)) for row in _rows('redaction_secrets.jsonl')]
INNOCENT = [_unmarked(row) for row in _rows('redaction_innocent.jsonl')]

FIRST_SECRETS = [(_unmarked(row), _secrets(row)) for row in _rows('redaction_first_secrets.jsonl')]
FIRST_INNOCENT = [_unmarked(row) for row in _rows('redaction_first_innocent.jsonl')]
SECOND_SECRETS = [
    (_unmarked(row), _secrets(row)) for row in _rows('redaction_second_secrets.jsonl')
]
SECOND_INNOCENT = [_unmarked(row) for row in _rows('redaction_second_innocent.jsonl')]
"""Held-out corpora: written without knowledge of the rules, which learned from them later."""
CORPORA = ((FIRST_SECRETS, FIRST_INNOCENT), (SECOND_SECRETS, SECOND_INNOCENT))


def test_the_lists_are_large_and_each_row_is_distinct() -> None:
    assert len({repr(row) for row in SECRETS}) == len(SECRETS) >= 200
    assert len({repr(row) for row in INNOCENT}) == len(INNOCENT) >= 250


@pytest.mark.parametrize(('corpus', 'innocent'), CORPORA, ids=('first', 'second'))
def test_of_each_corpus_99_percent_are_masked_and_1_percent_changed(
    corpus: Sequence[tuple[Any, list[str]]], innocent: Sequence[Any]
) -> None:
    leaks = [
        value
        for value, secrets in corpus
        if any(secret in texts(redact(value)) for secret in secrets)
    ]
    assert len(corpus) >= 590
    assert len(leaks) <= 0.01 * len(corpus), leaks
    changed = [value for value in innocent if redact(value) != value]
    assert len(innocent) >= 590
    assert len(changed) <= 0.01 * len(innocent), changed


def test_nearly_all_secrets_are_masked() -> None:
    leaks = [
        value
        for value, secrets in SECRETS
        if any(secret in texts(redact(value)) for secret in secrets)
    ]
    assert len(leaks) <= 0.05 * len(SECRETS), leaks


def test_nearly_all_innocent_values_are_unchanged() -> None:
    changed = [value for value in INNOCENT if redact(value) != value]
    assert len(changed) <= 0.03 * len(INNOCENT), changed


def test_redaction_of_the_lists_is_idempotent() -> None:
    values = [*(value for value, _ in (*SECRETS, *FIRST_SECRETS, *SECOND_SECRETS))]
    values += [*INNOCENT, *FIRST_INNOCENT, *SECOND_INNOCENT]
    assert [value for value in map(redact, values) if redact(value) != value] == []
