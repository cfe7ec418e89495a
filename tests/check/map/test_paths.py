"""Tests of the paths of an error: every path ends, and no part of it is listed twice."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.check.facts import ErrorSource, FileFacts, FunctionFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.graph import Graph
from seamwise.check.map.paths import path_steps
from seamwise.check.map.text import MapText
from seamwise.check.map.traces import ErrorTrace, error_traces
from tests.check.map.files import BUSY, NO_ORDER, SHOP, called, created, function, seam_use

ENDS = {'shown', 'handled', 'lost', 'out', 'again', 'cycle'}


def graph_of(*functions: FunctionFacts) -> Graph:
    return build_graph([FileFacts('app', 'app.py', functions=functions)])


def trace_of(*functions: FunctionFacts, error: str = 'E') -> ErrorTrace:
    return error_traces(graph_of(*functions))[error]


def steps(trace: ErrorTrace) -> list[tuple[str, str, int]]:
    return [(step.kind, step.name, step.depth) for step in path_steps(trace)]


def propagating(caller: str, *callees: str) -> FunctionFacts:
    return function(
        caller, 1, *(called(number, callee, 'E') for number, callee in enumerate(callees, 2))
    )


def test_path_leads_from_creator_to_seam() -> None:
    assert steps(
        trace_of(
            function('app.a', 1, created(2, 'E')),
            propagating('app.b', 'app.a'),
            function(
                'app.c',
                3,
                called(4, 'app.b', 'E', handled=['E']),
                seam_uses=[seam_use(5, 'http', 'E')],
            ),
        )
    ) == [
        ('made', 'app.a', 0),
        ('called', 'app.b', 0),
        ('called', 'app.c', 0),
        ('shown', 'http', 0),
    ]


def test_error_is_shown_and_propagates_at_the_same_time() -> None:
    trace = trace_of(
        function('app.a', 1, created(2, 'E'), seam_uses=[seam_use(3, 'log', 'E')]),
        propagating('app.b', 'app.a'),
    )
    assert steps(trace) == [
        ('made', 'app.a', 0), ('shown', 'log', 1), ('called', 'app.b', 1), ('out', 'app.b', 1),
    ]  # fmt: skip


@pytest.mark.parametrize('fate', ['handled', 'lost'])
def test_error_that_ends_in_a_caller_propagates_no_further(fate: str) -> None:
    ends = {'handled': ['E']} if fate == 'handled' else {'lost': ['E']}
    trace = trace_of(
        function('app.a', 1, created(2, 'E')),
        function('app.b', 3, called(4, 'app.a', 'E', **ends)),
        propagating('app.c', 'app.b'),
    )
    assert steps(trace)[:3] == [('made', 'app.a', 0), ('called', 'app.b', 0), (fate, 'app.b', 0)]
    # `app.b` still returns the error by its facts, so an unknown origin is listed.
    assert steps(trace)[3:] == [('unmade', 'app.b', 0), ('called', 'app.c', 0), ('out', 'app.c', 0)]


@pytest.mark.parametrize('fate', ['handled', 'lost'])
def test_error_that_ends_where_it_is_created_is_listed(fate: str) -> None:
    ends = {'handled': ['E']} if fate == 'handled' else {'lost': ['E']}
    assert steps(trace_of(function('app.a', 1, created(2, 'E', **ends)))) == [
        ('made', 'app.a', 0),
        (fate, 'app.a', 0),
    ]


def test_lost_error_is_not_shown_by_the_seam_of_its_function() -> None:
    trace = trace_of(
        function('app.a', 1, created(2, 'E')),
        function(
            'app.b',
            3,
            called(4, 'app.a', 'E', lost=['E']),
            created(5, 'E', handled=['E']),
            seam_uses=[seam_use(6, 'cli', 'E')],
        ),
    )
    assert steps(trace) == [
        ('made', 'app.a', 0), ('called', 'app.b', 0), ('lost', 'app.b', 0),
        ('made', 'app.b', 0), ('shown', 'cli', 0),
    ]  # fmt: skip
    assert trace.sources('cli') == ('app.b',)


def test_shortest_path_comes_first() -> None:
    trace = trace_of(
        function('app.start', 1, created(2, 'E')),
        propagating('app.a1', 'app.start'),
        propagating('app.a2', 'app.a1'),
        function(
            'app.z',
            3,
            called(4, 'app.start', 'E'),
            called(5, 'app.a2', 'E'),
            seam_uses=[seam_use(6, 'cli', 'E')],
        ),
    )
    assert steps(trace) == [
        ('made', 'app.start', 0), ('called', 'app.z', 1), ('shown', 'cli', 1),
        ('called', 'app.a1', 1), ('called', 'app.a2', 1),
        ('called', 'app.z', 1), ('again', 'app.z', 1),
    ]  # fmt: skip


def test_recursion_is_cut() -> None:
    assert steps(trace_of(function('app.a', 1, created(2, 'E'), called(3, 'app.a', 'E')))) == [
        ('made', 'app.a', 0), ('called', 'app.a', 0), ('cycle', 'app.a', 0),
    ]  # fmt: skip


def test_cycle_without_entry_has_one_origin() -> None:
    assert steps(trace_of(propagating('app.a', 'app.b'), propagating('app.b', 'app.a'))) == [
        ('unmade', 'app.a', 0), ('called', 'app.b', 0),
        ('called', 'app.a', 0), ('cycle', 'app.a', 0),
    ]  # fmt: skip


def test_override_leads_to_callers_of_the_base_method() -> None:
    shop_steps = steps(error_traces(build_graph(SHOP))[NO_ORDER])
    start = shop_steps.index(('made', 'shop.store.Memory.find', 0))
    assert shop_steps[start + 1 : start + 3] == [
        ('overridden', 'shop.store.Store.find', 0),
        ('called', 'shop.orders.pay', 0),
    ]


def test_sources_of_a_seam_start_paths_that_end_there() -> None:
    traces = error_traces(build_graph(SHOP))
    assert traces[NO_ORDER].sources('http') == ('shop.store.load',)
    assert traces[BUSY].sources('http') == ('driver.fetch',)


def test_chain_longer_than_the_python_stack_is_listed() -> None:
    length = 5000
    chain = [propagating(f'app.f{number}', f'app.f{number - 1}') for number in range(1, length)]
    chain_steps = steps(trace_of(function('app.f0', 1, created(2, 'E')), *chain))
    assert len(chain_steps) == length + 1
    assert {depth for _, _, depth in chain_steps} == {0}


# Properties of any graph

NAMES = [f'app.f{number}' for number in range(6)]
FATES = st.sampled_from([{}, {'handled': ['E']}, {'lost': ['E']}])


@st.composite
def programs(draw: st.DrawFn) -> Graph:
    def sources() -> Iterable[ErrorSource]:
        for callee in draw(st.lists(st.sampled_from(['', *NAMES, 'far.g']), max_size=3)):
            yield called(draw(st.integers(1, 9)), callee, 'E', **draw(FATES))

    functions = [
        function(
            name,
            1,
            *sources(),
            seam_uses=[
                seam_use(1, seam, 'E') for seam in draw(st.sets(st.sampled_from(['cli', 'http'])))
            ],
            overrides=draw(st.lists(st.sampled_from(NAMES), max_size=1)),
        )
        for name in NAMES
    ]
    return build_graph([FileFacts('app', 'app.py', functions=tuple(functions))])


@given(programs())
def test_every_path_ends_and_every_call_is_listed(graph: Graph) -> None:
    trace = error_traces(graph).get('E', ErrorTrace())
    all_steps = list(path_steps(trace))
    for step, next_step in pairwise(all_steps):
        if next_step.kind in {'made', 'unmade'} or next_step.depth < step.depth:
            assert step.kind in ENDS
    assert not all_steps or all_steps[-1].kind in ENDS
    shown_seams = {step.name for step in all_steps if step.kind == 'shown'}
    assert {edge.seam for edge in graph.shows} == shown_seams
    functions = {step.name for step in all_steps if step.kind != 'shown'}
    assert functions >= {call.caller for call in graph.calls}
    assert functions >= {creation.function for creation in graph.makes}
    listed_places = sum(len(step.source_lines) for step in all_steps if step.kind == 'called')
    assert listed_places == sum(len(call.places) for call in graph.calls)


@given(programs())
def test_sources_of_a_seam_are_origins(graph: Graph) -> None:
    for trace in error_traces(graph).values():
        for seam in trace.seams():
            assert set(trace.sources(seam)) <= {*trace.makes, *trace.unknown_origins()}
            assert trace.sources(seam)


@given(programs())
def test_any_graph_has_texts(graph: Graph) -> None:
    text = MapText(graph)
    assert text.overview()
    for error in graph.errors:
        assert text.of_error(error)
    for seam in graph.seams:
        assert text.to_seam(seam)
