"""Held-out lists of secrets and of innocent texts, with a source for each group."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

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

Corpus: TypeAlias = tuple[list[tuple[Any, list[str]]], list[Any]]
"""Texts with their secrets, and innocent texts, written without knowledge of the rules."""


def _corpus(name: str) -> Corpus:
    return (
        [(_unmarked(row), _secrets(row)) for row in _rows(f'redaction_{name}_secrets.jsonl')],
        [_unmarked(row) for row in _rows(f'redaction_{name}_innocent.jsonl')],
    )


CORPORA = (_corpus('first'), _corpus('second'))
"""Corpora from which the rules learned later."""
HELD_OUT = _corpus('fourth')
"""The last corpus, from which no rule has learned; please keep it so."""


def test_the_lists_are_large_and_each_row_is_distinct() -> None:
    assert len({repr(row) for row in SECRETS}) == len(SECRETS) >= 200
    assert len({repr(row) for row in INNOCENT}) == len(INNOCENT) >= 250


def _leaks(corpus: Corpus) -> list[Any]:
    return [
        value
        for value, secrets in corpus[0]
        if any(secret in texts(redact(value)) for secret in secrets)
    ]


def _changed(corpus: Corpus) -> list[Any]:
    return [value for value in corpus[1] if redact(value) != value]


@pytest.mark.parametrize('corpus', CORPORA, ids=('first', 'second'))
def test_of_each_corpus_99_percent_are_masked_and_1_percent_changed(corpus: Corpus) -> None:
    assert min(map(len, corpus)) >= 590
    assert len(leaks := _leaks(corpus)) <= 0.01 * len(corpus[0]), leaks
    assert len(changed := _changed(corpus)) <= 0.01 * len(corpus[1]), changed


def test_of_a_corpus_unknown_to_the_rules_95_percent_are_masked_and_3_percent_changed() -> None:
    # The texts are not shown, so that nobody learns from them.
    assert min(map(len, HELD_OUT)) >= 590
    assert len(_leaks(HELD_OUT)) <= 0.05 * len(HELD_OUT[0])
    assert len(_changed(HELD_OUT)) <= 0.03 * len(HELD_OUT[1])


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
    values = [*(value for value, _ in SECRETS), *INNOCENT]
    for secrets, innocent in (*CORPORA, HELD_OUT):
        values += [*(value for value, _ in secrets), *innocent]
    assert [value for value in map(redact, values) if redact(value) != value] == []
