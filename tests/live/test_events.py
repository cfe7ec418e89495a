"""Tests of the JSON of events: its depth, and what JSON cannot represent."""

import pytest

from seamwise.live import Event, Position
from seamwise.live.events import MAX_DEPTH, decode_record, encode_record, encode_state

TOO_DEEP = 'The data of an event is nested too deeply: JSON has at most 200 levels.'


def nested(levels: int, leaf: object = None) -> object:
    """Return a value in this number of arrays."""
    value: object = leaf
    for _ in range(levels):
        value = [value]
    return value


# The event and its metadata are two levels.
@pytest.mark.parametrize('levels', [MAX_DEPTH - 2, 1])
def test_an_event_of_the_maximum_depth_is_read_as_it_was_written(levels: int) -> None:
    event = Event('agent.step', 'A step', {'value': nested(levels)})
    record = encode_record(event)
    assert decode_record(record.body, Position('e', 1), 0.0).event == event


@pytest.mark.parametrize('levels', [MAX_DEPTH - 1, 100_000])
@pytest.mark.parametrize('leaf', [None, 'half of a surrogate: \ud800'])
def test_an_event_that_is_nested_too_deeply_is_refused(levels: int, leaf: object) -> None:
    with pytest.raises(ValueError, match=TOO_DEEP):
        encode_record(Event('agent.step', 'A step', {'value': nested(levels, leaf)}))
    with pytest.raises(ValueError, match=TOO_DEEP):
        encode_state(nested(levels + 2, leaf))


@pytest.mark.parametrize('text', ['[' * 1000, '"' + '[' * 1000, '\\"' + '{' * 1000, '\\' * 999])
def test_brackets_in_texts_are_no_levels(text: str) -> None:
    event = Event('agent.step', text, {text: [text, {text: text}]})
    record = encode_record(event)
    assert decode_record(record.body, Position('e', 1), 0.0).event == event


def test_brackets_beside_each_other_are_no_levels() -> None:
    siblings: list[list[object]] = [[] for _ in range(10 * MAX_DEPTH)]
    encode_state(siblings)


def test_a_state_that_contains_itself_is_refused() -> None:
    state: list[object] = []
    state.append(state)
    with pytest.raises(ValueError, match=TOO_DEEP):
        encode_state(state)


def test_a_value_without_a_json_form_is_refused() -> None:
    with pytest.raises(TypeError, match=r'JSON cannot represent object\.'):
        encode_state({'value': object()})
