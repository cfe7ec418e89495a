"""Tests of the graph that is built from facts."""

from msgspec.structs import replace

from seamwise.check.facts import (
    DependencyUse,
    FileFacts,
    FunctionFacts,
    InstalledAdapter,
    Route,
)
from seamwise.check.map.build import build_graph
from seamwise.check.map.graph import (
    AdapterTable,
    CallEdge,
    Creation,
    ErrorNode,
    FunctionNode,
    Graph,
    OverrideEdge,
    SeamEdge,
    SourceLine,
)
from tests.check.map.files import (
    BUSY,
    DECLINED,
    NO_ORDER,
    SHOP,
    called,
    created,
    error_class,
    function,
    location,
    seam_use,
)


def graph_of(*functions: FunctionFacts) -> Graph:
    return build_graph([FileFacts('app', 'app.py', functions=functions)])


def test_function_without_errors_is_omitted() -> None:
    assert 'shop.store.size' not in {node.name for node in build_graph(SHOP).functions}


def test_unknown_callee_is_external_and_returns_the_expected_errors() -> None:
    (external,) = [node for node in build_graph(SHOP).functions if node.place is None]
    assert external == FunctionNode('driver.fetch', '', (BUSY,))


def test_created_error_propagates_to_its_handlers() -> None:
    graph = build_graph(SHOP)
    assert (
        Creation('shop.store.load', (NO_ORDER,), (SourceLine('shop/store.py', 5),)) in graph.makes
    )
    call_places = (SourceLine('shop/orders.py', 16),)
    calls = [call for call in graph.calls if call.caller == 'shop.orders.or_new']
    assert calls == [
        CallEdge('shop.orders.order', 'shop.orders.or_new', (NO_ORDER,), call_places, 'handled'),
        CallEdge('shop.orders.order', 'shop.orders.or_new', (BUSY,), call_places, 'passes'),
    ]
    assert graph.shows == (
        SeamEdge('shop.web.get', 'http', (NO_ORDER, BUSY), (SourceLine('shop/web.py', 17),)),
    )


def test_unread_error_is_lost() -> None:
    graph = graph_of(
        function('app.f', 1, called(2, 'g', 'E', lost=['E']), created(3, 'E', lost=['E']))
    )
    assert [call.fate for call in graph.calls] == ['lost']
    assert [creation.fate for creation in graph.makes] == ['lost']


def test_errors_with_the_same_places_share_an_edge() -> None:
    graph = graph_of(
        function(
            'app.f', 1, called(2, 'g', 'B', 'A'), called(3, 'g', 'A', 'B'), called(4, 'g', 'C')
        )
    )
    assert graph.calls == (
        CallEdge('g', 'app.f', ('A', 'B'), (SourceLine('app.py', 2), SourceLine('app.py', 3))),
        CallEdge('g', 'app.f', ('C',), (SourceLine('app.py', 4),)),
    )


def test_call_of_a_method_reaches_its_override_if_the_caller_expects_the_error() -> None:
    graph = build_graph(SHOP)
    assert graph.overrides == (
        OverrideEdge(
            'shop.store.Memory.find',
            'shop.store.Store.find',
            (NO_ORDER,),
            (SourceLine('shop/store.py', 30),),
        ),
    )
    graph_without_caller = graph_of(
        function('app.Base.f', 1),
        function('app.Own.f', 2, created(3, 'E'), overrides=['app.Base.f']),
    )
    assert graph_without_caller.overrides == ()


def test_indirect_overrides_and_cycles_are_followed() -> None:
    graph = graph_of(
        function('app.A.f', 1, overrides=['app.C.f']),
        function('app.B.f', 2, overrides=['app.A.f']),
        function('app.C.f', 3, created(4, 'E'), overrides=['app.B.f']),
        function('app.run', 5, called(6, 'app.A.f', 'E'), called(7, 'app.C.f', 'E')),
    )
    assert [(edge.method, edge.base) for edge in graph.overrides] == [('app.C.f', 'app.A.f')]


def test_returned_errors_are_inferred_else_declared_else_propagated() -> None:
    functions = {
        'app.a': replace(
            function('app.a', 1, created(2, 'A', 'B')), declared=('B', 'C'), inferred=('A',)
        ),
        'app.b': replace(function('app.b', 1, created(2, 'A', 'B')), declared=('B', 'C')),
        'app.c': function('app.c', 1, created(2, 'A', 'B', handled=['B'])),
    }
    assert {node.name: node.errors for node in graph_of(*functions.values()).functions} == {
        'app.a': ('A',),
        'app.b': ('B', 'C'),
        'app.c': ('A',),
    }


def test_external_class_has_its_name_as_tag() -> None:
    errors = {
        error.name: error
        for error in build_graph(
            [*SHOP, FileFacts('z', 'z.py', functions=(function('z.f', 1, created(2, 'far.Away')),))]
        ).errors
    }
    assert errors['far.Away'] == ErrorNode('far.Away', 'Away')
    assert errors[BUSY] == ErrorNode(BUSY, 'Busy', 'CAPACITY', SourceLine('shop/errors.py', 8))


def test_seam_has_its_tables() -> None:
    (seam,) = build_graph(SHOP).seams
    assert (seam.name, seam.tables) == (
        'http',
        (AdapterTable('shop.web.TABLE', (DECLINED, NO_ORDER, BUSY), SourceLine('shop/web.py', 5)),),
    )


def test_function_defined_twice_is_one_node() -> None:
    graph = graph_of(
        function('app.f', 9, created(10, 'A')),
        function('app.f', 1, created(2, 'B'), seam_uses=[seam_use(3, 'cli', 'A')]),
    )
    assert graph.functions == (FunctionNode('app.f', 'app', ('A', 'B'), SourceLine('app.py', 1)),)
    assert [creation.errors for creation in graph.makes] == [('A',), ('B',)]


def test_order_of_files_and_facts_is_irrelevant() -> None:
    reversed_files = [
        replace(
            file, functions=file.functions[::-1], classes=file.classes[::-1], seams=file.seams[::-1]
        )
        for file in reversed(SHOP)
    ]
    assert build_graph(reversed_files) == build_graph(SHOP)


def test_surrogate_in_a_path_is_replaced() -> None:
    graph = build_graph(
        [
            FileFacts(
                'app',
                'b\udce4.py',
                classes=(error_class('app.E', 1),),
                functions=(function('app.f', 1, created(2, 'app.E')),),
            )
        ]
    )
    assert graph.functions[0].place == SourceLine('b\ufffd.py', 1)
    assert graph.errors[0].place == SourceLine('b\ufffd.py', 1)


def test_no_files_result_in_an_empty_graph() -> None:
    assert build_graph([]) == Graph()


def test_handlers_and_dependencies_show_the_errors_that_install_and_endpoint_cover() -> None:
    file = FileFacts(
        'app',
        'app.py',
        functions=(
            function('app.show', 10, created(11, NO_ORDER, BUSY)),
            function('app.user', 20, created(21, DECLINED)),
            function('app.pay', 30, created(31, DECLINED, BUSY)),
            function('app.helper', 40, created(41, BUSY)),
        ),
        routes=(Route('app.show', None), Route('app.pay', (DECLINED,)), Route('app.gone', None)),
        dependency_uses=(DependencyUse('app.show', 'app.user', location(12)),),
        installed_adapters=(InstalledAdapter((NO_ORDER, DECLINED)),),
    )
    shows = {(edge.function, edge.seam, edge.errors) for edge in build_graph([file]).shows}
    assert shows == {
        ('app.show', 'http', (NO_ORDER,)),
        ('app.user', 'http', (DECLINED,)),
        ('app.pay', 'http', (DECLINED,)),
    }


def test_an_adapter_of_unknown_errors_shows_all() -> None:
    file = FileFacts(
        'app',
        'app.py',
        functions=(function('app.show', 10, created(11, NO_ORDER, BUSY)),),
        routes=(Route('app.show', None),),
        installed_adapters=(InstalledAdapter(None),),
    )
    assert [edge.errors for edge in build_graph([file]).shows] == [(NO_ORDER, BUSY)]
    without_install = replace(file, installed_adapters=())
    assert build_graph([without_install]).shows == ()


def test_commands_show_the_errors_that_the_table_of_their_program_covers() -> None:
    file = FileFacts(
        'app',
        'app.py',
        functions=(
            function('app.show', 10, created(11, NO_ORDER, BUSY)),
            function('app.helper', 20, created(21, BUSY)),
        ),
        commands=('app.show', 'app.gone'),
        program_adapters=(InstalledAdapter((NO_ORDER,)),),
    )
    shows = {(edge.function, edge.seam, edge.errors) for edge in build_graph([file]).shows}
    assert shows == {('app.show', 'cli', (NO_ORDER,))}
