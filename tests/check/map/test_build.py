"""The graph made of facts."""

from msgspec.structs import replace

from seamwise.check.facts import FileFacts, FunctionFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.graph import (
    Call,
    Error,
    Function,
    Graph,
    Make,
    Override,
    Place,
    Show,
    Table,
)
from tests.check.map.files import (
    BUSY,
    DECLINED,
    NO_ORDER,
    SHOP,
    called,
    function,
    kind,
    made,
    shown,
)


def of(*functions: FunctionFacts) -> Graph:
    return build_graph([FileFacts('app', 'app.py', functions=functions)])


def test_a_function_without_errors_is_not_on_the_map() -> None:
    assert 'shop.store.size' not in {one.name for one in build_graph(SHOP).functions}


def test_a_callee_that_was_not_read_is_foreign_and_gives_what_is_taken_from_it() -> None:
    (foreign,) = [one for one in build_graph(SHOP).functions if one.place is None]
    assert foreign == Function('driver.fetch', '', (BUSY,))


def test_what_is_made_travels_and_ends_where_facts_say_so() -> None:
    graph = build_graph(SHOP)
    assert Make('shop.store.load', (NO_ORDER,), (Place('shop/store.py', 5),)) in graph.makes
    at_call = (Place('shop/orders.py', 16),)
    calls = [one for one in graph.calls if one.caller == 'shop.orders.or_new']
    assert calls == [
        Call('shop.orders.order', 'shop.orders.or_new', (NO_ORDER,), at_call, 'handled'),
        Call('shop.orders.order', 'shop.orders.or_new', (BUSY,), at_call, 'passes'),
    ]
    assert graph.shows == (
        Show('shop.web.get', 'http', (NO_ORDER, BUSY), (Place('shop/web.py', 17),)),
    )


def test_what_nobody_looks_at_is_lost() -> None:
    graph = of(function('app.f', 1, called(2, 'g', 'E', lost=['E']), made(3, 'E', lost=['E'])))
    assert [one.fate for one in graph.calls] == ['lost']
    assert [one.fate for one in graph.makes] == ['lost']


def test_errors_that_travel_at_the_same_places_are_one_edge_and_others_another() -> None:
    graph = of(
        function(
            'app.f', 1, called(2, 'g', 'B', 'A'), called(3, 'g', 'A', 'B'), called(4, 'g', 'C')
        )
    )
    two, four = (Place('app.py', 2), Place('app.py', 3)), (Place('app.py', 4),)
    assert graph.calls == (Call('g', 'app.f', ('A', 'B'), two), Call('g', 'app.f', ('C',), four))


def test_a_call_of_a_method_reaches_the_one_in_its_place_where_it_is_taken_for_granted() -> None:
    graph = build_graph(SHOP)
    assert graph.overrides == (
        Override(
            'shop.store.Memory.find',
            'shop.store.Store.find',
            (NO_ORDER,),
            (Place('shop/store.py', 30),),
        ),
    )
    idle = of(
        function('app.Base.f', 1), function('app.Own.f', 2, made(3, 'E'), overrides=['app.Base.f'])
    )
    assert idle.overrides == ()


def test_a_method_stands_in_the_place_of_far_bases_too_and_a_cycle_of_them_ends() -> None:
    graph = of(
        function('app.A.f', 1, overrides=['app.C.f']),
        function('app.B.f', 2, overrides=['app.A.f']),
        function('app.C.f', 3, made(4, 'E'), overrides=['app.B.f']),
        function('app.run', 5, called(6, 'app.A.f', 'E'), called(7, 'app.C.f', 'E')),
    )
    assert [(one.method, one.base) for one in graph.overrides] == [('app.C.f', 'app.A.f')]


def test_what_comes_out_is_what_really_can_else_what_is_declared_else_what_passes() -> None:
    names = {
        'app.a': replace(
            function('app.a', 1, made(2, 'A', 'B')), declared=('B', 'C'), inferred=('A',)
        ),
        'app.b': replace(function('app.b', 1, made(2, 'A', 'B')), declared=('B', 'C')),
        'app.c': function('app.c', 1, made(2, 'A', 'B', ended=['B'])),
    }
    assert {one.name: one.errors for one in of(*names.values()).functions} == {
        'app.a': ('A',),
        'app.b': ('B', 'C'),
        'app.c': ('A',),
    }


def test_a_class_that_was_not_read_has_its_name_for_a_tag() -> None:
    errors = {
        one.name: one
        for one in build_graph(
            [*SHOP, FileFacts('z', 'z.py', functions=(function('z.f', 1, made(2, 'far.Away')),))]
        ).errors
    }
    assert errors['far.Away'] == Error('far.Away', 'Away')
    assert errors[BUSY] == Error(BUSY, 'Busy', 'CAPACITY', Place('shop/errors.py', 8))


def test_a_seam_has_its_tables() -> None:
    (seam,) = build_graph(SHOP).seams
    assert (seam.name, seam.tables) == (
        'http',
        (Table('shop.web.TABLE', (DECLINED, NO_ORDER, BUSY), Place('shop/web.py', 5)),),
    )


def test_a_function_that_is_defined_twice_is_one() -> None:
    graph = of(
        function('app.f', 9, made(10, 'A')),
        function('app.f', 1, made(2, 'B'), shows=[shown(3, 'cli', 'A')]),
    )
    assert graph.functions == (Function('app.f', 'app', ('A', 'B'), Place('app.py', 1)),)
    assert [one.errors for one in graph.makes] == [('A',), ('B',)]


def test_the_order_of_files_and_facts_makes_no_difference() -> None:
    turned = [
        replace(
            one, functions=one.functions[::-1], classes=one.classes[::-1], seams=one.seams[::-1]
        )
        for one in reversed(SHOP)
    ]
    assert build_graph(turned) == build_graph(SHOP)


def test_a_path_that_utf_8_cannot_say_is_mended() -> None:
    graph = build_graph(
        [
            FileFacts(
                'app',
                'b\udce4.py',
                classes=(kind('app.E', 1),),
                functions=(function('app.f', 1, made(2, 'app.E')),),
            )
        ]
    )
    assert graph.functions[0].place == Place('b\ufffd.py', 1)
    assert graph.errors[0].place == Place('b\ufffd.py', 1)


def test_no_files_give_an_empty_map() -> None:
    assert build_graph([]) == Graph()
