"""Sets of tools: names, namespaces, sums, suggestions."""

import time
from collections.abc import Callable, Mapping
from typing import Never

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise._errors.errors import TaggedError
from seamwise.catalog.tools import RegistrationRejected, UnknownTool
from seamwise.toolhost import Tool, Tools, tool, toolset
from tests.toolhost.helpers import error_of, value_of


def make(name: str, namespace: str | None = None) -> Tool[TaggedError]:
    def run() -> None: ...

    return tool(name=name, namespace=namespace)(run)


NO_TOOLS: Tools[TaggedError] = Tools([])
A, B, C = make('a'), make('b'), make('c', 'space')


def test_tools_add_up_in_order() -> None:
    assert [*(A | B)] == [A, B]
    assert [*(A | B | C)] == [*(A | (B | C))] == [*(Tools([A, B]) | Tools([C]))] == [A, B, C]
    assert len(A | B) == 2
    assert (B | C | A).names == ('a', 'b', 'space__c')
    assert repr(A | C) == '<Tools: a, space__c>'
    assert repr(NO_TOOLS) == '<Tools: none>'


@pytest.mark.parametrize(
    'add', [lambda: A | A, lambda: (A | B) | A, lambda: A | Tools([A]), lambda: Tools([A, A])]
)
def test_the_same_name_twice_is_refused_with_both_functions(add: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"'a' cannot be added: .*run> and .*run> have the same"):
        add()


def test_only_tools_can_be_added() -> None:
    def function() -> None: ...

    with pytest.raises(TypeError, match='unsupported operand'):
        _ = A | function  # type: ignore[operator]  # on purpose
    with pytest.raises(TypeError, match='unsupported operand'):
        _ = Tools([A]) | None  # type: ignore[operator]  # on purpose


def test_the_same_name_in_another_namespace_is_another_tool() -> None:
    tools = make('look') | make('look', 'left') | make('look', 'right')
    assert value_of(tools.find('look')).namespace is None
    assert value_of(tools.find('look', 'left')).namespace == 'left'
    assert value_of(tools.find('right__look')).namespace == 'right'
    assert error_of(tools.find('look', 'up'), UnknownTool).namespace == 'up'


def test_two_tools_with_the_same_qualified_name_are_refused() -> None:
    with pytest.raises(TypeError, match="'a__b__c' cannot be added"):
        _ = make('c', 'a__b') | make('b__c', 'a')
    assert type(Tools([make('c', 'a__b')]).find('b__c', 'a')).__name__ == 'Failure'


def test_a_tool_of_a_namespace_is_suggested_by_its_qualified_name() -> None:
    error = error_of(Tools([make('weather', 'nordic')]).find('weather'), UnknownTool)
    assert error == UnknownTool('weather', 'default', ('nordic__weather',), ('nordic__weather',))


def test_suggestions_are_limited_to_three_similar_names() -> None:
    tools = Tools([make(f'look_at_{number}') for number in range(5)] + [make('other')])
    assert len(error_of(tools.find('look_at_9'), UnknownTool).suggestions) == 3
    for name in ('', 'zzz', 'x' * 1_000_000, '__class__', '\n', '\ud800'):
        assert error_of(tools.find(name), UnknownTool).suggestions == ()


@pytest.mark.slow
def test_an_unknown_name_among_ten_thousand_is_no_effort() -> None:
    tools = value_of(toolset(make(f'tool_number_{number}') for number in range(10_000)))
    started_at = time.process_time()
    for number in range(10):
        error = error_of(tools.find(f'tool_nubmer_{number}'), UnknownTool)
        assert f'tool_number_{number}' in error.suggestions
    # Generous: it takes 0.02 s.
    assert time.process_time() - started_at < 2


def test_a_set_of_tools_is_built_at_run_time() -> None:
    assert value_of(toolset([A, C])).names == ('a', 'space__c')
    assert len(value_of(toolset([]))) == 0


def test_a_set_with_the_same_name_twice_is_rejected() -> None:
    error = error_of(toolset([A, B, make('b')]), RegistrationRejected)
    assert error.tool == 'b'
    assert error.reason.endswith('have the same name; change `name` or `namespace` of one')


@pytest.mark.parametrize('build', [Tools, toolset])
def test_a_function_that_is_no_tool_is_a_mistake_of_the_program(
    build: Callable[..., object],
) -> None:
    with pytest.raises(TypeError, match=r'contains tools, not <built-in .*decorate .* with @tool'):
        build([A, len])


class ForeignTool(Tool[TaggedError]):
    """A tool with the name that a server gave it."""

    @property
    @override
    def input_schema(self) -> Mapping[str, object]:
        raise NotImplementedError

    @override
    def bind(self, arguments: Mapping[str, object]) -> Never:
        raise NotImplementedError


@pytest.mark.parametrize('name', ['', '1a', '-a', 'a.b', 'a b', 'a' * 65, 'a\n', 'ä', 'a/b'])
def test_a_name_that_a_provider_would_refuse_is_rejected(name: str) -> None:
    error = error_of(toolset([ForeignTool(name)]), RegistrationRejected)
    assert error == RegistrationRejected(
        name,
        'a name has letters, digits, "_" and "-", begins with a letter or "_", and has at most '
        '64 characters',
    )
    error_of(toolset([ForeignTool('a', namespace=name)]), RegistrationRejected)
    with pytest.raises(TypeError, match='cannot be added: a name has letters'):
        Tools([ForeignTool(name)])


NAMES = st.from_regex('[a-zA-Z_][a-zA-Z0-9_-]{0,5}', fullmatch=True)


@given(st.sets(st.tuples(NAMES, st.none() | NAMES), max_size=6))
def test_every_tool_is_found_by_the_name_that_the_model_sees(
    names: set[tuple[str, str | None]],
) -> None:
    tools = [make(name, namespace) for name, namespace in names]
    if len({item.qualified_name for item in tools}) < len(tools):
        error_of(toolset(tools), RegistrationRejected)
        return
    found = value_of(toolset(tools))
    for item in tools:
        assert value_of(found.find(item.qualified_name)) is item
        if item.namespace is not None:
            assert value_of(found.find(item.name, item.namespace)) is item


def test_a_single_tool_has_the_definition_that_it_has_in_a_set() -> None:
    @tool
    def double(number: int) -> int:
        return 2 * number

    assert double.schema('openai') == Tools([double]).schema('openai')


@pytest.mark.parametrize(
    ('written', 'nearest'),
    [
        ('functions.delete:0', 'delete'),
        ('functions.functions.delete', 'delete'),
        ('Delete', 'delete'),
        ('delete()', 'delete'),
        ('tools/read', 'files__read'),
        ('default__delete', 'delete'),
        ('x' * 1_000, None),
    ],
)
def test_a_tool_with_another_name_is_only_suggested(written: str, nearest: str | None) -> None:
    tools = make('delete') | make('read', 'files')
    error = error_of(tools.find(written), UnknownTool)
    assert error.suggestions[:1] == (() if nearest is None else (nearest,))
