"""Tests of the event `session.error`, which the document on error boundaries names."""

import json
from pathlib import Path
from typing import Any

import pytest

from seamwise.catalog.models import ModelNotFound
from seamwise.catalog.tools import FileNotFound
from seamwise.seams.session import (
    NamedMessage,
    agent_not_found,
    encode,
    error_event,
    message,
    model_not_found,
    unknown,
)
from tests.strategies import PLANTED

VECTORS = Path(__file__).parents[1] / 'vectors' / 'named_bodies.json'
FACTS: dict[str, Any] = json.loads(VECTORS.read_text(encoding='utf-8'))['session_event']


@pytest.mark.parametrize(
    'stored',
    [
        unknown('The share could not be made.'),
        agent_not_found('plan', ('build',)),
        model_not_found(ModelNotFound('acme', 'large-2', ('large-3',))),
        message(FileNotFound('read_file', 'a.txt')),
    ],
    ids=lambda stored: stored.name,
)
def test_a_stored_error_is_published_under_its_name(stored: NamedMessage) -> None:
    event = json.loads(encode(error_event(stored, 's-1')))
    assert list(event) == ['type', 'properties']
    assert event['type'] == FACTS['type']
    assert list(event['properties']) == FACTS['properties']
    assert event['properties']['sessionID'] == 's-1'
    assert event['properties']['error'] == {'name': stored.name, 'data': dict(stored.data)}


def test_an_error_outside_a_session_has_no_session() -> None:
    assert 'sessionID' in FACTS['optional']
    event = json.loads(encode(error_event(unknown(f'password={PLANTED}'))))
    assert list(event['properties']) == ['error']
    assert PLANTED not in repr(event)
