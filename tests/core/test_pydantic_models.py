"""Tests of error classes as fields of models of pydantic, and of results, which are refused."""

import json
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from seamwise import Category, Internal, Result, TaggedError, codec
from seamwise._errors.codec import PublicFields


class Leaf(
    TaggedError, namespace='test_pydantic_models', category=Category.CONFLICT, message='leaf'
):
    code: int
    next: 'Leaf | None' = None


class Coded(
    TaggedError, namespace='test_pydantic_models', category=Category.CONFLICT, message='coded'
):
    names: tuple[str, ...] = ()


class Wrapping(
    TaggedError,
    namespace='test_pydantic_models',
    category=Category.CONFLICT,
    message='wrapping',
    kw_only=True,
):
    error: Leaf | Coded
    others: tuple[Leaf, ...] = ()
    when: datetime | None = None
    note: Internal[str] = ''


LoadedLeaf: TypeAlias = Result[int, Leaf]


class Report(BaseModel):
    error: Wrapping | Leaf
    errors: list[Leaf] = []
    last: Leaf | None = None


WRAPPED = Wrapping(
    error=Leaf(1, Leaf(2)), others=(Leaf(3),), when=datetime(2026, 1, 1, tzinfo=UTC), note='own'
)


def test_error_is_a_field_of_a_pydantic_model_by_its_codec() -> None:
    for report in (Report(error=WRAPPED, errors=[Leaf(4)], last=Leaf(5)), Report(error=Leaf(6))):
        body = report.model_dump_json()
        assert Report.model_validate_json(body) == report
        assert Report.model_validate(json.loads(body)) == report
        assert json.loads(body)['error'] == json.loads(codec(Wrapping | Leaf).encode(report.error))
        assert report.model_dump()['error'] is report.error
        # FastAPI puts the public fields in the place of an error.
        public: Any = PublicFields({'_tag': 'Leaf'})
        assert json.loads(Report(error=public).model_dump_json())['error'] == {'_tag': 'Leaf'}


@pytest.mark.parametrize(
    ('value', 'reason'),
    [
        ({'code': 1}, 'Object missing required field `_tag`'),
        ({'_tag': 'Other', 'code': 1}, "Invalid value 'Other'"),
        ({'_tag': '\0'}, 'Invalid value for `_tag`'),
        ({'_tag': 'Leaf', 'code': 'one'}, 'Expected `int`, got `str` - at `$.code`'),
        ({'_tag': 'Leaf', 'code': 1, 'next': {'code': 2}}, '`_tag` - at `$.next`'),
        (7, 'Expected `object`, got `int`'),
    ],
)
def test_pydantic_refuses_what_the_codec_refuses(value: object, reason: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Leaf).validate_python(value)
    assert reason in str(refused.value)


def test_json_schema_of_a_pydantic_model_contains_the_schema_of_an_error() -> None:
    import jsonschema_rs  # noqa: PLC0415 -- has no wheel for WebAssembly

    for mode, names in {
        'validation': {'_tag', 'error', 'others', 'when', 'note'},
        'serialization': {'_tag', 'error', 'others', 'when'},
    }.items():
        adapter: Any = TypeAdapter(Report)
        schema = adapter.json_schema(mode=mode)
        [wrapping, leaf] = schema['properties']['error']['anyOf']
        assert wrapping['properties'].keys() == names
        assert wrapping['required'] == ['_tag', 'error']
        assert leaf['properties']['next'] == {'anyOf': [{}, {'type': 'null'}], 'default': None}
        assert '$ref' not in json.dumps(schema['properties'])
        validator = jsonschema_rs.validator_for(schema)
        assert validator.is_valid(json.loads(Report(error=WRAPPED).model_dump_json()))
        assert not validator.is_valid({'error': {'_tag': 'Coded'}})


def test_pydantic_model_with_an_error_without_a_json_form_is_refused() -> None:
    class Odd(TaggedError, category=Category.CONFLICT):
        value: complex

    with pytest.raises(TypeError, match="Odd: the field 'value' has no JSON form"):
        TypeAdapter(Odd)


def test_model_with_a_result_is_refused() -> None:
    with pytest.raises(TypeError, match=r"field 'result' of a pydantic model contains a Result"):
        create_model('Model', result=(LoadedLeaf, ...))
    with pytest.raises(TypeError, match=r"The field 'results' of .* Declare a field for its value"):
        create_model('Model', results=(list[LoadedLeaf], []))
