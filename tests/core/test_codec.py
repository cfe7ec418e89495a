"""Errors as JSON: a union reads what it writes, causes and secrets included."""

import json
from typing import Any

import msgspec
import pytest

from seamwise import Category, Cause, Secret, TaggedError, codec, json_schema
from seamwise.codec import ReportedCause


class Leaf(TaggedError, category=Category.TIMEOUT):
    number: int


class Node(TaggedError, category=Category.EXECUTION):
    cause: Cause | None = None


class Guarded(TaggedError, category=Category.AUTHENTICATION):
    user: str
    password: Secret[str]
    token: Secret[str] | None = None


class Stranger(TaggedError, category=Category.EXECUTION):
    text: str


WIRE = codec(Leaf | Node | Guarded)


def test_a_union_reads_what_it_writes() -> None:
    assert WIRE.encode(Leaf(3)) == b'{"_tag":"Leaf","number":3}'
    for error in (Leaf(3), Node(), Node(Leaf(1)), Node(Node(Leaf(2)))):
        assert WIRE.decode(WIRE.encode(error)) == error
    assert WIRE.decode(WIRE.encode(Leaf(3)).decode()) == Leaf(3)


def test_one_class_is_a_union_of_one() -> None:
    assert codec(Leaf).decode(b'{"_tag":"Leaf","number":3}') == Leaf(3)


def test_a_cause_of_another_union_is_found_by_its_tag() -> None:
    assert WIRE.decode(WIRE.encode(Node(Stranger('x')))) == Node(Stranger('x'))


def test_an_exception_travels_as_type_and_redacted_message() -> None:
    wire = WIRE.encode(Node(OSError(28, 'no room for password=hunter2-FAKE')))
    assert json.loads(wire) == {
        '_tag': 'Node',
        'cause': {'type': 'OSError', 'message': json.loads(wire)['cause']['message']},
    }
    assert b'no room' in wire
    assert b'FAKE' not in wire
    back = WIRE.decode(wire)
    assert isinstance(back, Node)
    assert isinstance(back.cause, ReportedCause)
    assert back.cause.type == 'OSError'
    assert str(back.cause).startswith('OSError: [Errno 28] no room')
    assert WIRE.encode(back) == wire


def test_a_cause_that_nobody_knows_is_reported() -> None:
    back = WIRE.decode(b'{"_tag":"Node","cause":{"_tag":"FromElsewhere","n":1}}')
    assert isinstance(back, Node)
    assert str(back.cause) == 'FromElsewhere: '


def test_a_secret_is_never_written() -> None:
    wire = WIRE.encode(Guarded('ann', Secret('hunter2'), Secret('abc')))
    assert wire == b'{"_tag":"Guarded","user":"ann","password":"***","token":"***"}'
    assert WIRE.decode(wire) == Guarded('ann', Secret('***'), Secret('***'))


@pytest.mark.parametrize(
    'body',
    [
        b'',
        b'{',
        b'[]',
        b'{"_tag":"Nobody"}',
        b'{"_tag":"Leaf"}',
        b'{"_tag":"Leaf","number":"3"}',
        b'{"_tag":"Node","cause":7}',
        b'{"_tag":"Node","cause":{"_tag":"Leaf","number":"x"}}',
        b'\xff',
    ],
)
def test_a_body_that_is_no_error_of_the_union_is_a_decode_error(body: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        WIRE.decode(body)


@pytest.mark.parametrize('given', [int, TaggedError, Leaf | int, 'Leaf', None, list[Leaf]])
def test_what_is_no_union_of_errors_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match='Expected a class of tagged errors or a union of them'):
        codec(given)
    with pytest.raises(TypeError, match='Expected a class of tagged errors or a union of them'):
        json_schema(given)


def test_a_value_of_an_unknown_type_is_a_type_error_in_both_directions() -> None:
    class Odd(TaggedError, category=Category.EXECUTION):
        value: complex

    with pytest.raises(TypeError, match='complex has no JSON form'):
        codec(Odd).encode(Odd(1j))
    with pytest.raises(msgspec.ValidationError, match='has no JSON form'):
        codec(Odd).decode(b'{"_tag":"Odd","value":1}')
    with pytest.raises(TypeError, match='has no JSON Schema'):
        json_schema(Odd)


def test_the_schema_of_a_union_tells_its_members_by_tag() -> None:
    schema = json_schema(Leaf | Node | Guarded)
    assert schema['discriminator'] == {
        'propertyName': '_tag',
        'mapping': {'Leaf': '#/$defs/Leaf', 'Node': '#/$defs/Node', 'Guarded': '#/$defs/Guarded'},
    }
    assert schema['$defs']['Guarded']['properties']['password']['const'] == '***'
    json.dumps(schema)
