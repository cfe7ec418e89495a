"""Tests of the event `session.error`, which the document on error boundaries names."""

import json
from pathlib import Path
from typing import Any

import pytest

from seamwise.catalog.models import ModelNotFound
from seamwise.catalog.tools import FileNotFound
from seamwise.seams.session import StoredError, encode
from tests.strategies import PLANTED

VECTORS = Path(__file__).parents[1] / 'vectors' / 'named_bodies.json'
FACTS: dict[str, Any] = json.loads(VECTORS.read_text(encoding='utf-8'))['session_event']


@pytest.mark.parametrize(
    'stored',
    [
        StoredError.unknown('The share could not be made.'),
        StoredError.agent_not_found('plan', ('build',)),
        StoredError.model_not_found(ModelNotFound('acme', 'large-2', ('large-3',))),
        StoredError.of(FileNotFound('read_file', 'a.txt')),
    ],
    ids=lambda stored: stored.name,
)
def test_a_stored_error_is_published_under_its_name(stored: StoredError) -> None:
    event = json.loads(encode(stored.event('s-1')))
    assert list(event) == ['type', 'properties']
    assert event['type'] == FACTS['type']
    assert list(event['properties']) == FACTS['properties']
    assert event['properties']['sessionID'] == 's-1'
    assert event['properties']['error'] == {'name': stored.name, 'data': dict(stored.data)}


def test_an_error_outside_a_session_has_no_session() -> None:
    assert 'sessionID' in FACTS['optional']
    event = json.loads(encode(StoredError.unknown(f'password={PLANTED}').event()))
    assert list(event['properties']) == ['error']
    assert PLANTED not in repr(event)
