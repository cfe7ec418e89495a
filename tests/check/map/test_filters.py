"""Tests of the filters by error and by seam."""

from seamwise.check.map.build import build_graph
from seamwise.check.map.filters import filter_by_errors, filter_by_seam
from tests.check.map.files import BUSY, DECLINED, NO_ORDER, SHOP

GRAPH = build_graph(SHOP)


def test_filter_by_errors_keeps_only_the_error() -> None:
    part = filter_by_errors(GRAPH, {DECLINED})
    assert [error.name for error in part.errors] == [DECLINED]
    assert [(node.name, node.errors) for node in part.functions] == [
        ('shop.orders.pay', (DECLINED,))
    ]
    assert [creation.errors for creation in part.makes] == [(DECLINED,)]
    assert (part.calls, part.overrides, part.shows) == ((), (), ())
    assert [table.errors for seam in part.seams for table in seam.tables] == [(DECLINED,)]


def test_filter_by_all_errors_keeps_the_graph() -> None:
    assert filter_by_errors(GRAPH, {BUSY, NO_ORDER, DECLINED}) == GRAPH


def test_filter_by_seam_keeps_paths_that_end_there() -> None:
    part = filter_by_seam(GRAPH, 'http')
    assert [node.name for node in part.functions] == [
        'driver.fetch',
        'shop.orders.order',
        'shop.store.load',
        'shop.web.get',
    ]
    assert [(call.callee, call.caller) for call in part.calls] == [
        ('driver.fetch', 'shop.store.load'),
        ('shop.orders.order', 'shop.web.get'),
        ('shop.store.load', 'shop.orders.order'),
    ]
    assert [creation.function for creation in part.makes] == ['shop.store.load']
    assert part.overrides == ()
    assert part.shows == GRAPH.shows
    assert part.seams == GRAPH.seams
    assert {error.name for error in part.errors} == {NO_ORDER, BUSY, DECLINED}
