"""Tests of the JSON codec: round trips, causes, secrets and schemas."""

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


class Foreign(TaggedError, category=Category.EXECUTION):
    text: str


CODEC = codec(Leaf | Node | Guarded)


def test_a_codec_decodes_the_errors_that_it_encodes() -> None:
    assert CODEC.encode(Leaf(3)) == b'{"_tag":"Leaf","number":3}'
    for error in (Leaf(3), Node(), Node(Leaf(1)), Node(Node(Leaf(2)))):
        assert CODEC.decode(CODEC.encode(error)) == error
    assert CODEC.decode(CODEC.encode(Leaf(3)).decode()) == Leaf(3)


def test_a_single_class_is_accepted_as_a_union() -> None:
    assert codec(Leaf).decode(b'{"_tag":"Leaf","number":3}') == Leaf(3)


def test_a_cause_outside_the_union_is_decoded_by_its_tag() -> None:
    assert CODEC.decode(CODEC.encode(Node(Foreign('x')))) == Node(Foreign('x'))


def test_an_exception_is_encoded_as_type_and_redacted_message() -> None:
    body = CODEC.encode(Node(OSError(28, 'no room for password=hunter2-FAKE')))
    assert json.loads(body) == {
        '_tag': 'Node',
        'cause': {'type': 'OSError', 'message': json.loads(body)['cause']['message']},
    }
    assert b'no room' in body
    assert b'FAKE' not in body
    decoded = CODEC.decode(body)
    assert isinstance(decoded, Node)
    assert isinstance(decoded.cause, ReportedCause)
    assert decoded.cause.type == 'OSError'
    assert str(decoded.cause).startswith('OSError: [Errno 28] no room')
    assert CODEC.encode(decoded) == body


def test_an_unknown_cause_is_decoded_as_a_reported_cause() -> None:
    decoded = CODEC.decode(b'{"_tag":"Node","cause":{"_tag":"FromElsewhere","n":1}}')
    assert isinstance(decoded, Node)
    assert str(decoded.cause) == 'FromElsewhere: '


def test_a_secret_is_encoded_as_its_mask() -> None:
    body = CODEC.encode(Guarded('ann', Secret('hunter2'), Secret('abc')))
    assert body == b'{"_tag":"Guarded","user":"ann","password":"***","token":"***"}'
    assert CODEC.decode(body) == Guarded('ann', Secret('***'), Secret('***'))


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
def test_a_body_that_is_no_error_of_the_union_raises_a_decode_error(body: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        CODEC.decode(body)


@pytest.mark.parametrize('value', [int, TaggedError, Leaf | int, 'Leaf', None, list[Leaf]])
def test_a_type_that_is_no_union_of_errors_raises_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match='Expected a class of tagged errors or a union of them'):
        codec(value)
    with pytest.raises(TypeError, match='Expected a class of tagged errors or a union of them'):
        json_schema(value)


def test_a_field_of_an_unsupported_type_raises_an_error_in_both_directions() -> None:
    class Odd(TaggedError, category=Category.EXECUTION):
        value: complex

    with pytest.raises(TypeError, match='complex has no JSON form'):
        codec(Odd).encode(Odd(1j))
    with pytest.raises(msgspec.ValidationError, match='has no JSON form'):
        codec(Odd).decode(b'{"_tag":"Odd","value":1}')
    with pytest.raises(TypeError, match='has no JSON Schema'):
        json_schema(Odd)


def test_the_schema_of_a_union_discriminates_its_members_by_tag() -> None:
    schema = json_schema(Leaf | Node | Guarded)
    assert schema['discriminator'] == {
        'propertyName': '_tag',
        'mapping': {'Leaf': '#/$defs/Leaf', 'Node': '#/$defs/Node', 'Guarded': '#/$defs/Guarded'},
    }
    assert schema['$defs']['Guarded']['properties']['password']['const'] == '***'
    json.dumps(schema)
