"""Tests of properties that every error class must have, with generated values."""

import ast
import copy
import importlib
import json
import math
import pickle
import pkgutil
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import seamwise.catalog
import seamwise.policies
from seamwise import TaggedError, codec, json_schema, message_of, sanitized
from seamwise.catalog.tools import FileNotFound
from tests.strategies import EVERY_CLASS, PLANTED, errors, few_examples, structs

DOMAINS = [
    importlib.import_module(f'{package.__name__}.{module.name}')
    for package in (seamwise.catalog, seamwise.policies)
    for module in pkgutil.iter_modules(package.__path__)
]
CLASSES = list(
    dict.fromkeys(
        class_
        for domain in DOMAINS
        for class_ in vars(domain).values()
        if isinstance(class_, type)
        and issubclass(class_, TaggedError)
        and class_ is not TaggedError
        and class_.__module__ == domain.__name__
    )
)

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / 'src' / 'seamwise'


def names_in(heading: str) -> dict[str, str]:
    """Return the classes in a table of the page on producers, and the other cell of their row."""
    page = (ROOT / 'docs' / 'producers.md').read_text(encoding='utf-8')
    section = page.partition(f'\n## {heading}\n')[2].partition('\n## ')[0]
    rows = [line.strip('|').split(' | ') for line in section.splitlines() if '`' in line]
    return {
        name: cell.strip()
        for first, second in (row for row in rows if len(row) == 2)
        for names, cell in ((first, second), (second, first))
        for name in re.findall(r'`(\w+)`', names)
        if name in NAMES
    }


NAMES = {class_.__name__ for class_ in CLASSES}
MADE_HERE = names_in('Made by this package')
FOR_APPLICATIONS = names_in('For applications')
"""Classes that no code of this package makes, each with its producer."""


def called_names(file: Path) -> set[str]:
    """Return the names of everything that a file calls; examples in its texts do not count."""
    calls = [
        node.func
        for node in ast.walk(ast.parse(file.read_text(encoding='utf-8')))
        if isinstance(node, ast.Call)
    ]
    return {call.id for call in calls if isinstance(call, ast.Name)} | {
        call.attr for call in calls if isinstance(call, ast.Attribute)
    }


NO_PRODUCERS = {'catalog', 'documents', 'testing'}
"""Folders that define the errors, and make examples of them."""

CREATED = {
    name
    for file in PACKAGE.rglob('*.py')
    if file.relative_to(PACKAGE).parts[0] not in NO_PRODUCERS
    for name in called_names(file)
}

every_class = pytest.mark.parametrize('class_', CLASSES, ids=lambda class_: class_.__name__)


def equals_its_copy(value: object) -> bool:
    """Return whether a value equals its copy; NaN and exceptions do not."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(equals_its_copy, cast('Collection[object]', value)))
    if isinstance(value, msgspec.Struct):
        return all(equals_its_copy(getattr(value, name)) for name in value.__struct_fields__)
    return not (
        isinstance(value, BaseException) or (isinstance(value, float) and math.isnan(value))
    )


def test_the_unions_contain_every_class() -> None:
    assert set(EVERY_CLASS) == set(CLASSES)


@every_class
def test_a_class_has_a_docstring_and_a_name_without_error(class_: type[TaggedError]) -> None:
    assert class_.__doc__
    assert class_.__doc__.strip().endswith('.')
    assert not class_.__name__.endswith('Error')


def test_every_class_is_made_here_or_for_applications() -> None:
    assert MADE_HERE.keys() | FOR_APPLICATIONS.keys() == NAMES
    assert not MADE_HERE.keys() & FOR_APPLICATIONS.keys()


@every_class
def test_the_producer_of_a_class_is_the_documented_one(class_: type[TaggedError]) -> None:
    name = class_.__name__
    assert (name in CREATED) is (name in MADE_HERE)
    if name in FOR_APPLICATIONS:
        producer = FOR_APPLICATIONS[name]
        assert re.fullmatch(r'(?:The|A|Requests|Loaders) [\w ]+', producer)


@every_class
@few_examples
@given(st.data())
def test_an_error_equals_its_copies_and_has_their_hash(
    class_: type[TaggedError], data: st.DataObject
) -> None:
    error = data.draw(structs(class_))
    hash(error)
    assert copy.copy(error) == error or not equals_its_copy(error)
    copies = [copy.deepcopy(error), pickle.loads(pickle.dumps(error))]  # noqa: S301 -- own bytes
    for error_copy in copies:
        assert type(error_copy) is class_
        if equals_its_copy(error):
            assert error_copy == error
            assert hash(error_copy) == hash(error)


@every_class
@few_examples
@given(st.data())
def test_the_fields_of_an_error_match_by_position(
    class_: type[TaggedError], data: st.DataObject
) -> None:
    error: Any = data.draw(structs(class_))
    assert class_.__match_args__ == class_.__struct_fields__
    assert class_(*(getattr(error, name) for name in class_.__match_args__)).__class__ is class_


@every_class
@few_examples
@given(st.data())
def test_every_error_has_a_message_of_limited_length_in_each_language(
    class_: type[TaggedError], data: st.DataObject
) -> None:
    error = data.draw(structs(class_))
    for locale in ('en', 'zh_CN'):
        message = message_of(error, locale)
        assert message
        assert len(message) <= 1024 + len('… (999999 more)')


@every_class
@few_examples
@given(st.data())
def test_shown_removes_secrets_and_is_idempotent(
    class_: type[TaggedError], data: st.DataObject
) -> None:
    client_view = sanitized(data.draw(structs(class_)))
    assert PLANTED not in repr(client_view)
    if equals_its_copy(client_view):
        assert sanitized(client_view) == client_view


@every_class
@few_examples
@given(st.data())
def test_a_codec_decodes_the_errors_that_it_encodes(
    class_: type[TaggedError], data: st.DataObject
) -> None:
    error = sanitized(data.draw(structs(class_)))
    # JSON can represent neither NaN nor infinity nor lone surrogates.
    assume(equals_its_copy(error) and 'inf' not in repr(error) and '\\ud' not in ascii(error))
    if 'cause' in class_.__struct_fields__:
        error = msgspec.structs.replace(error, cause=FileNotFound('read_file', 'a.txt'))
    json_codec = codec(class_)
    body = json_codec.encode(error)
    assert json.loads(body)['_tag'] == class_.__traits__.tag
    assert json_codec.decode(body) == error


def test_all_error_classes_have_one_common_json_schema() -> None:
    union: Any = EVERY_CLASS[0]
    for class_ in EVERY_CLASS[1:]:
        union = union | class_
    schema = json_schema(union)
    tags = {class_.__traits__.tag for class_ in EVERY_CLASS}
    assert set(schema['discriminator']['mapping']) == tags
    json.dumps(schema)


@given(errors(), errors())
def test_errors_of_different_classes_are_never_equal(
    error: TaggedError, other_error: TaggedError
) -> None:
    if type(error) is not type(other_error):
        assert error != other_error
