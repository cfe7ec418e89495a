"""Tests of secrets that exceptions of other libraries quote apart from their names."""

import logging
from collections.abc import Callable
from typing import Any

import attrs
import pydantic
import pytest
import sqlalchemy as sa

from seamwise import Category, Cause, TaggedError, report_defect
from seamwise._defects.quoted_secrets import quoted_secrets
from seamwise._defects.redacted_exceptions import without_secrets
from seamwise.redaction.settings import masking
from seamwise.seams.log import JsonFormatter, record

PLANTED = 'FAKE-hunter2'


class Refused(TaggedError, namespace='test_quoted_secrets', category=Category.VALIDATION):
    cause: Cause | None = None


class Login(pydantic.BaseModel):
    password: pydantic.SecretStr = pydantic.Field(min_length=40)


@attrs.define
class Key:
    api_key: object = attrs.field(validator=attrs.validators.instance_of(int))


def insert() -> None:
    engine = sa.create_engine('sqlite://')
    try:
        with engine.connect() as connection:
            statement = sa.text('INSERT INTO users (name, password) VALUES (:n, :p)')
            connection.execute(statement, {'n': 'ann', 'p': PLANTED})
    finally:
        # Python 3.13 warns of a connection that is not closed.
        engine.dispose()


def validate() -> None:
    jsonschema: Any = pytest.importorskip('jsonschema')
    schema = {'properties': {'token': {'type': 'integer'}}}
    jsonschema.validate({'token': PLANTED}, schema)


def log_in() -> None:
    Login.model_validate({'password': PLANTED})


CALLS: list[Callable[[], object]] = [log_in, lambda: Key(PLANTED), insert, validate]


def raised(call: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as info:  # noqa: PT011 -- of any library
        call()
    return info.value


@pytest.mark.parametrize('call', CALLS)
def test_a_value_that_a_library_quotes_reaches_no_record(call: Callable[[], object]) -> None:
    error = raised(call)
    assert PLANTED in quoted_secrets(error)
    outer = RuntimeError(f'no user {PLANTED}')
    outer.__cause__ = error
    log_record = logging.LogRecord('app', 40, 'a.py', 1, 'lost', None, (RuntimeError, outer, None))
    assert PLANTED not in JsonFormatter().format(log_record)
    assert PLANTED not in repr(record(outer))
    copy = without_secrets(outer)
    assert PLANTED not in f'{copy!r} {copy.__cause__!r} {vars(copy.__cause__)!r}'
    assert PLANTED not in report_defect(outer).pretty


@pytest.mark.parametrize(
    'value',
    [
        PLANTED.encode(),
        {'primary': PLANTED},
        [PLANTED],
        (None, PLANTED),
        {PLANTED},
        frozenset({PLANTED}),
        {'keys': [{'primary': (PLANTED, 1)}]},
    ],
)
def test_the_texts_in_a_quoted_value_are_secret_at_any_depth(value: object) -> None:
    assert quoted_secrets(raised(lambda: Key(value))) == {PLANTED}


def test_the_secrets_of_a_value_that_contains_itself_are_found() -> None:
    value: list[object] = [PLANTED]
    value.append(value)
    assert quoted_secrets(raised(lambda: Key(value))) == {PLANTED}


def test_the_cause_of_a_tagged_error_is_searched() -> None:
    assert quoted_secrets(Refused(Refused(raised(log_in)))) == {PLANTED}
    assert quoted_secrets(Refused()) == frozenset()


def test_a_value_that_is_no_error_quotes_nothing() -> None:
    assert quoted_secrets(f'password={PLANTED}') == frozenset()


@attrs.define
class Named:
    name: object = attrs.field(validator=attrs.validators.instance_of(int))


class Account(pydantic.BaseModel):
    name: int
    password: str


def connect() -> None:
    engine = sa.create_engine('sqlite:////nowhere/FAKE-name.db')
    with engine.connect():
        pytest.fail('the database exists')


def validate_name() -> None:
    jsonschema: Any = pytest.importorskip('jsonschema')
    jsonschema.validate({'name': 'FAKE-name'}, {'properties': {'name': {'type': 'integer'}}})


@pytest.mark.parametrize(
    'call',
    [
        lambda: Named('FAKE-name'),
        lambda: Account.model_validate({'name': 'FAKE-name', 'password': PLANTED}),
        # The input of the missing password is the whole body.
        lambda: Account.model_validate({'name': 'FAKE-name'}),
        connect,
        validate_name,
    ],
)
def test_a_value_without_a_sensitive_name_is_no_secret(call: Callable[[], object]) -> None:
    assert quoted_secrets(raised(call)) == frozenset()


def test_a_short_value_is_not_masked_everywhere() -> None:
    with masking(['tiny']):
        log_record = logging.makeLogRecord({'msg': 'a tiny note'})
        assert '"a tiny note"' in JsonFormatter().format(log_record)
