"""What holds for every error, holds for all of them: walked class by class, with values by hypothesis."""

import copy
import importlib
import importlib.resources
import json
import math
import pickle
import pkgutil
import re
from collections.abc import Collection
from typing import Any, cast

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import seamwise.catalog
import seamwise.policies
from seamwise import TaggedError, codec, json_schema, shown, text
from seamwise.catalog.tools import FileNotFound
from tests.strategies import EVERY_CLASS, PLANTED, errors, structs

DOMAINS = [
    importlib.import_module(f'{package.__name__}.{one.name}')
    for package in (seamwise.catalog, seamwise.policies)
    for one in pkgutil.iter_modules(package.__path__)
]
CLASSES = list(
    dict.fromkeys(
        kind
        for domain in DOMAINS
        for kind in vars(domain).values()
        if isinstance(kind, type)
        and issubclass(kind, TaggedError)
        and kind is not TaggedError
        and kind.__module__ == domain.__name__
    )
)

AWAITING_PRODUCER = {
    'UnknownFormat',  # the reader of many formats
    'ToolCancelled',  # a person's stop of one call
    'InvalidResult',  # tools of others, whose results are checked
    # readers of streams
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
    # model providers and their routing
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
    # the agents
    'AgentNotFound',
    'CommandNotFound',
    'AgentNotReady',
    'AgentBusy',
    'InvalidTransition',
    'GuardrailsViolated',
    'ContextOverflow',
    'CompressionFailed',
    # peers that speak MCP, LSP and A2A
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
    # who may come in
    'Unauthenticated',
    'AccessDenied',
    # stores
    'RecordNotFound',
    'RecordExists',
    'StoreClosed',
    # the set-up of a program
    'SkillInvalid',
    'SkillNameMismatch',
    'PluginFailed',
    'EditorInstallFailed',
    'NotARepository',
    'WorktreeExists',
    'WorktreeFailed',
    # the guards
}
"""Classes that no code of this package makes yet. The list only gets shorter."""

every_class = pytest.mark.parametrize('kind', CLASSES, ids=lambda kind: kind.__name__)
some = settings(
    max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def comparable(value: object) -> bool:
    """Whether a value equals itself once it has been copied: NaN does not, nor does an exception."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(comparable, cast('Collection[object]', value)))
    if isinstance(value, msgspec.Struct):
        return all(comparable(getattr(value, name)) for name in value.__struct_fields__)
    return not (
        isinstance(value, BaseException) or (isinstance(value, float) and math.isnan(value))
    )


def test_the_walk_finds_the_unions() -> None:
    assert set(EVERY_CLASS) == set(CLASSES)


@every_class
def test_a_class_is_documented_and_well_named(kind: type[TaggedError]) -> None:
    assert kind.__doc__
    assert kind.__doc__.strip().endswith('.')
    assert not kind.__name__.endswith('Error')


@every_class
def test_some_code_of_this_package_makes_it(kind: type[TaggedError]) -> None:
    root = importlib.resources.files('seamwise')
    made = re.compile(rf'(?<!class )\b{kind.__name__}\(')
    folders = [
        root / 'toolhost',
        root / 'toolhost' / 'tools',
        root / 'policies',
        root / 'policies' / 'classify',
    ]
    sources = [
        one.read_text(encoding='utf-8')
        for folder in folders
        for one in folder.iterdir()
        if one.name.endswith('.py')
    ]
    assert any(made.search(source) for source in sources) is (
        kind.__name__ not in AWAITING_PRODUCER
    )


@every_class
@some
@given(st.data())
def test_an_error_equals_its_copies_and_hashes_like_them(
    kind: type[TaggedError], data: st.DataObject
) -> None:
    error = data.draw(structs(kind))
    hash(error)
    assert copy.copy(error) == error or not comparable(error)
    twins = [copy.deepcopy(error), pickle.loads(pickle.dumps(error))]  # noqa: S301 -- our own bytes
    for twin in twins:
        assert type(twin) is kind
        if comparable(error):
            assert twin == error
            assert hash(twin) == hash(error)


@every_class
@some
@given(st.data())
def test_an_error_matches_by_position(kind: type[TaggedError], data: st.DataObject) -> None:
    error: Any = data.draw(structs(kind))
    assert kind.__match_args__ == kind.__struct_fields__
    assert kind(*(getattr(error, name) for name in kind.__match_args__)).__class__ is kind


@every_class
@some
@given(st.data())
def test_an_error_says_something_and_never_fails_to(
    kind: type[TaggedError], data: st.DataObject
) -> None:
    error = data.draw(structs(kind))
    for locale in ('en', 'zh_CN'):
        said = text(error, locale)
        assert said
        assert len(said) <= 1024 + len('… (999999 more)')


@every_class
@some
@given(st.data())
def test_what_is_shown_holds_no_secret_and_is_shown_alike_again(
    kind: type[TaggedError], data: st.DataObject
) -> None:
    seen = shown(data.draw(structs(kind)))
    assert PLANTED not in repr(seen)
    if comparable(seen):
        assert shown(seen) == seen


@every_class
@some
@given(st.data())
def test_a_union_reads_what_it_writes(kind: type[TaggedError], data: st.DataObject) -> None:
    error = shown(data.draw(structs(kind)))
    # JSON has no NaN, no infinity and no lone surrogate.
    assume(comparable(error) and 'inf' not in repr(error) and '\\ud' not in ascii(error))
    if 'cause' in kind.__struct_fields__:
        error = msgspec.structs.replace(error, cause=FileNotFound('read_file', 'a.txt'))
    wire = codec(kind)
    written = wire.encode(error)
    assert json.loads(written)['_tag'] == kind.__traits__.tag
    assert wire.decode(written) == error


def test_the_schema_of_everything_is_one_document() -> None:
    everything: Any = EVERY_CLASS[0]
    for kind in EVERY_CLASS[1:]:
        everything = everything | kind
    schema = json_schema(everything)
    assert set(schema['discriminator']['mapping']) == {kind.__traits__.tag for kind in EVERY_CLASS}
    json.dumps(schema)


@given(errors(), errors())
def test_errors_of_two_classes_are_never_equal(one: TaggedError, other: TaggedError) -> None:
    if type(one) is not type(other):
        assert one != other
