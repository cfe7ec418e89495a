"""Tests of properties that every error class must have, with generated values."""

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
from seamwise import TaggedError, codec, json_schema, shown, text
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

AWAITING_PRODUCER = {
    'UnknownFormat',  # a decoder of several formats
    'ToolCancelled',  # the cancellation of one call
    'InvalidResult',  # a host that checks the results of foreign tools
    # decoders of streams
    'InvalidStream',
    'ChunkUnparsable',
    'ChunkHandlerFailed',
    'StreamAborted',
    'UserInterrupted',
    'StreamProviderFailed',
    'TokenCountFailed',
    'BufferFull',
    'StreamClosed',
    'SlowConsumer',
    # model providers and routing
    'ModelNotFound',
    'ProviderNotReady',
    'ProviderUnavailable',
    'ModelOverloaded',
    'NoModelAvailable',
    'InvalidModelRequest',
    'ContextTooLong',
    'ContentFiltered',
    'OutputTruncated',
    'StructuredOutputInvalid',
    'QuotaExceeded',
    'BudgetExceeded',
    'BatchClosed',
    'BatchFull',
    'BatchTimedOut',
    'CacheMiss',
    # agents
    'AgentNotFound',
    'CommandNotFound',
    'AgentNotReady',
    'AgentBusy',
    'InvalidTransition',
    'GuardrailsViolated',
    'ContextOverflow',
    'CompressionFailed',
    'AgentFailed',
    # clients of MCP, LSP and A2A
    'McpConnectionFailed',
    'McpTransportFailed',
    'McpServerFailed',
    'McpTimedOut',
    'LspNotInitialized',
    'LspRequestFailed',
    'LspContentModified',
    'A2aTaskNotFound',
    'A2aTaskNotCancelable',
    'A2aPushNotSupported',
    'A2aUnsupportedOperation',
    'A2aContentTypeNotSupported',
    'A2aInvalidAgentResponse',
    'A2aExtendedCardNotConfigured',
    'A2aExtensionRequired',
    'A2aVersionNotSupported',
    'AgentCardInvalid',
    # resumable sessions
    'InvalidInput',
    'SessionNotFound',
    'SessionBusy',
    'ConnectionLost',
    'ReplayGap',
    'UnknownEpoch',
    'AckAhead',
    'RecoveryFailed',
    # authentication of callers
    'Unauthenticated',
    'AccessDenied',
    # stores
    'RecordNotFound',
    'RecordExists',
    'StoreClosed',
    # skills, plugins and repositories
    'SkillInvalid',
    'SkillNameMismatch',
    'PluginFailed',
    'EditorInstallFailed',
    'NotARepository',
    'WorktreeExists',
    'WorktreeFailed',
}
"""Classes that no code of this package creates yet. The list may only get shorter."""

PRODUCERS = [
    file.read_text(encoding='utf-8')
    for folder in ('toolhost', 'policies')
    for file in (Path(seamwise.catalog.__file__).parents[1] / folder).rglob('*.py')
]

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


@every_class
def test_a_class_is_created_somewhere_in_this_package_unless_it_is_listed(
    class_: type[TaggedError],
) -> None:
    call = re.compile(rf'(?<!class )\b{class_.__name__}\(')
    is_created = any(call.search(source) for source in PRODUCERS)
    assert is_created is (class_.__name__ not in AWAITING_PRODUCER)


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
        message = text(error, locale)
        assert message
        assert len(message) <= 1024 + len('… (999999 more)')


@every_class
@few_examples
@given(st.data())
def test_shown_removes_secrets_and_is_idempotent(
    class_: type[TaggedError], data: st.DataObject
) -> None:
    client_view = shown(data.draw(structs(class_)))
    assert PLANTED not in repr(client_view)
    if equals_its_copy(client_view):
        assert shown(client_view) == client_view


@every_class
@few_examples
@given(st.data())
def test_a_codec_decodes_the_errors_that_it_encodes(
    class_: type[TaggedError], data: st.DataObject
) -> None:
    error = shown(data.draw(structs(class_)))
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
