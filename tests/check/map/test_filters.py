"""Parts of a map."""

from seamwise.check.map.build import build_graph
from seamwise.check.map.filters import filter_by_errors, filter_by_seam
from tests.check.map.files import BUSY, DECLINED, NO_ORDER, SHOP

GRAPH = build_graph(SHOP)


def test_of_an_error_nothing_else_is_left() -> None:
    part = filter_by_errors(GRAPH, {DECLINED})
    assert [one.name for one in part.errors] == [DECLINED]
    assert [(one.name, one.errors) for one in part.functions] == [('shop.orders.pay', (DECLINED,))]
    assert [one.errors for one in part.makes] == [(DECLINED,)]
    assert (part.calls, part.overrides, part.shows) == ((), (), ())
    assert [table.errors for seam in part.seams for table in seam.tables] == [(DECLINED,)]


def test_of_all_errors_everything_is_left() -> None:
    assert filter_by_errors(GRAPH, {BUSY, NO_ORDER, DECLINED}) == GRAPH


def test_towards_a_seam_only_what_ends_there_is_left() -> None:
    part = filter_by_seam(GRAPH, 'http')
    assert [one.name for one in part.functions] == [
        'driver.fetch',
        'shop.orders.order',
        'shop.store.load',
        'shop.web.get',
    ]
    assert [(one.callee, one.caller) for one in part.calls] == [
        ('driver.fetch', 'shop.store.load'), ('shop.orders.order', 'shop.web.get'), ('shop.store.load', 'shop.orders.order'),
    ]  # fmt: skip
    assert [one.function for one in part.makes] == ['shop.store.load']
    assert part.overrides == ()
    assert part.shows == GRAPH.shows
    assert part.seams == GRAPH.seams
    assert {one.name for one in part.errors} == {NO_ORDER, BUSY, DECLINED}
