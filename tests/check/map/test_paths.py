"""The ways of an error: each begins, goes on and ends; none is told twice, and none goes round for ever."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.check.facts import ErrorSource, FileFacts, FunctionFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.graph import Graph
from seamwise.check.map.paths import ways
from seamwise.check.map.text import Words
from seamwise.check.map.traces import Trail, trails
from tests.check.map.files import BUSY, NO_ORDER, SHOP, called, function, made, shown

ENDS = {'shown', 'handled', 'lost', 'out', 'again', 'cycle'}


def graph(*functions: FunctionFacts) -> Graph:
    return build_graph([FileFacts('app', 'app.py', functions=functions)])


def trail(*functions: FunctionFacts, error: str = 'E') -> Trail:
    return trails(graph(*functions))[error]


def told(found: Trail) -> list[tuple[str, str, int]]:
    return [(one.kind, one.name, one.depth) for one in ways(found)]


def passing(caller: str, *callees: str) -> FunctionFacts:
    return function(
        caller, 1, *(called(number, callee, 'E') for number, callee in enumerate(callees, 2))
    )


def test_a_way_goes_from_the_producer_to_the_seam() -> None:
    assert told(
        trail(
            function('app.a', 1, made(2, 'E')),
            passing('app.b', 'app.a'),
            function(
                'app.c', 3, called(4, 'app.b', 'E', ended=['E']), shows=[shown(5, 'http', 'E')]
            ),
        )
    ) == [
        ('made', 'app.a', 0),
        ('called', 'app.b', 0),
        ('called', 'app.c', 0),
        ('shown', 'http', 0),
    ]


def test_what_goes_on_beside_a_seam_does_both() -> None:
    assert told(trail(function('app.a', 1, made(2, 'E'), shows=[shown(3, 'log', 'E')]), passing('app.b', 'app.a'))) == [
        ('made', 'app.a', 0), ('shown', 'log', 1), ('called', 'app.b', 1), ('out', 'app.b', 1),
    ]  # fmt: skip


@pytest.mark.parametrize('fate', ['handled', 'lost'])
def test_what_ends_in_a_caller_goes_no_further(fate: str) -> None:
    ends = {'ended': ['E']} if fate == 'handled' else {'lost': ['E']}
    found = trail(
        function('app.a', 1, made(2, 'E')),
        function('app.b', 3, called(4, 'app.a', 'E', **ends)),
        passing('app.c', 'app.b'),
    )
    assert told(found)[:3] == [('made', 'app.a', 0), ('called', 'app.b', 0), (fate, 'app.b', 0)]
    # What it says of itself all the same is told as a beginning.
    assert told(found)[3:] == [('unmade', 'app.b', 0), ('called', 'app.c', 0), ('out', 'app.c', 0)]


@pytest.mark.parametrize('fate', ['handled', 'lost'])
def test_what_ends_where_it_is_made_is_told(fate: str) -> None:
    ends = {'ended': ['E']} if fate == 'handled' else {'lost': ['E']}
    assert told(trail(function('app.a', 1, made(2, 'E', **ends)))) == [
        ('made', 'app.a', 0),
        (fate, 'app.a', 0),
    ]


def test_what_is_lost_in_a_function_with_a_seam_is_not_shown_there() -> None:
    found = trail(
        function('app.a', 1, made(2, 'E')),
        function(
            'app.b',
            3,
            called(4, 'app.a', 'E', lost=['E']),
            made(5, 'E', ended=['E']),
            shows=[shown(6, 'cli', 'E')],
        ),
    )
    assert told(found) == [
        ('made', 'app.a', 0), ('called', 'app.b', 0), ('lost', 'app.b', 0), ('made', 'app.b', 0), ('shown', 'cli', 0),
    ]  # fmt: skip
    assert found.sources('cli') == ('app.b',)


def test_the_shortest_way_comes_first() -> None:
    found = trail(
        function('app.start', 1, made(2, 'E')),
        passing('app.a1', 'app.start'),
        passing('app.a2', 'app.a1'),
        function(
            'app.z',
            3,
            called(4, 'app.start', 'E'),
            called(5, 'app.a2', 'E'),
            shows=[shown(6, 'cli', 'E')],
        ),
    )
    assert told(found) == [
        ('made', 'app.start', 0), ('called', 'app.z', 1), ('shown', 'cli', 1),
        ('called', 'app.a1', 1), ('called', 'app.a2', 1), ('called', 'app.z', 1), ('again', 'app.z', 1),
    ]  # fmt: skip


def test_a_recursion_is_cut() -> None:
    assert told(trail(function('app.a', 1, made(2, 'E'), called(3, 'app.a', 'E')))) == [
        ('made', 'app.a', 0), ('called', 'app.a', 0), ('cycle', 'app.a', 0),
    ]  # fmt: skip


def test_a_cycle_that_nothing_leads_into_has_one_beginning() -> None:
    assert told(trail(passing('app.a', 'app.b'), passing('app.b', 'app.a'))) == [
        ('unmade', 'app.a', 0), ('called', 'app.b', 0), ('called', 'app.a', 0), ('cycle', 'app.a', 0),
    ]  # fmt: skip


def test_an_override_leads_to_the_callers_of_the_base() -> None:
    found = told(trails(build_graph(SHOP))[NO_ORDER])
    begin = found.index(('made', 'shop.store.Memory.find', 0))
    assert found[begin + 1 : begin + 3] == [
        ('overridden', 'shop.store.Store.find', 0),
        ('called', 'shop.orders.pay', 0),
    ]


def test_the_sources_of_a_seam_are_those_whose_ways_end_there() -> None:
    found = trails(build_graph(SHOP))
    assert found[NO_ORDER].sources('http') == ('shop.store.load',)
    assert found[BUSY].sources('http') == ('driver.fetch',)


def test_a_chain_longer_than_the_stack_is_told() -> None:
    length = 5000
    chain = [passing(f'app.f{number}', f'app.f{number - 1}') for number in range(1, length)]
    found = told(trail(function('app.f0', 1, made(2, 'E')), *chain))
    assert len(found) == length + 1
    assert {depth for _, _, depth in found} == {0}


# Whatever the graph

NAMES = [f'app.f{number}' for number in range(6)]
FATES = st.sampled_from([{}, {'ended': ['E']}, {'lost': ['E']}])


@st.composite
def programs(draw: st.DrawFn) -> Graph:
    def entries() -> Iterable[ErrorSource]:
        for callee in draw(st.lists(st.sampled_from(['', *NAMES, 'far.g']), max_size=3)):
            yield called(draw(st.integers(1, 9)), callee, 'E', **draw(FATES))

    every = [
        function(
            name,
            1,
            *entries(),
            shows=[shown(1, seam, 'E') for seam in draw(st.sets(st.sampled_from(['cli', 'http'])))],
            overrides=draw(st.lists(st.sampled_from(NAMES), max_size=1)),
        )
        for name in NAMES
    ]
    return build_graph([FileFacts('app', 'app.py', functions=tuple(every))])


@given(programs())
def test_every_way_ends_and_every_step_is_told(found: Graph) -> None:
    own = trails(found).get('E', Trail())
    stops = list(ways(own))
    for one, following in pairwise(stops):
        if following.kind in {'made', 'unmade'} or following.depth < one.depth:
            assert one.kind in ENDS
    assert not stops or stops[-1].kind in ENDS
    assert {one.seam for one in found.shows} == {one.name for one in stops if one.kind == 'shown'}
    met = {one.name for one in stops if one.kind != 'shown'}
    assert met >= {one.caller for one in found.calls} | {one.function for one in found.makes}
    steps = [one for one in stops if one.kind == 'called']
    places = sum(len(one.places) for one in found.calls)
    assert sum(len(one.places) for one in steps) == places


@given(programs())
def test_the_sources_of_a_seam_are_beginnings(found: Graph) -> None:
    for one in trails(found).values():
        for seam in one.seams():
            assert set(one.sources(seam)) <= {*one.makes, *one.unmade()}
            assert one.sources(seam)


@given(programs())
def test_whatever_the_graph_it_can_be_told(found: Graph) -> None:
    words = Words(found)
    assert words.overview()
    for error in found.errors:
        assert words.of_error(error)
    for seam in found.seams:
        assert words.to_seam(seam)
