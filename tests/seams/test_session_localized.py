"""Tests of the texts of an event in other languages, beside the event."""

import pickle

import msgspec

from seamwise.catalog.network import NetworkTimedOut
from seamwise.seams.session import event, tables
from seamwise.seams.session.localized import replace_fields, translations_of
from seamwise.seams.session.shape import ErrorEvent, encode


def timeout_event() -> ErrorEvent:
    error = NetworkTimedOut('search.example', 'tool_call', 30.0)
    return event(error, adapter=tables.NETWORK, locale='en')


def test_the_translations_are_not_encoded() -> None:
    localized = timeout_event()
    plain = msgspec.structs.replace(localized)
    assert encode(localized) == encode(plain)
    assert msgspec.to_builtins(localized).keys() == msgspec.structs.asdict(localized).keys() - {
        'seq',
        'session_id',
    }


def test_the_translations_do_not_take_part_in_comparison_repr_and_pickle() -> None:
    localized = timeout_event()
    copy = pickle.loads(pickle.dumps(localized))  # noqa: S301 -- our own bytes
    assert copy == localized
    assert repr(copy) == repr(localized)
    assert (translations_of(copy), len(translations_of(localized)) > 1) == ({}, True)


def test_replaced_fields_keep_the_translations() -> None:
    localized = timeout_event()
    changed = replace_fields(localized, session_id='s')
    assert changed.session_id == 's'
    assert translations_of(changed) == translations_of(localized)
