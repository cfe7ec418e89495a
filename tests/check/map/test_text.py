"""Tests of the texts about the map: overview, paths of an error, errors of a seam."""

from pathlib import Path

from seamwise.check.facts import FileFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.graph import ErrorNode, Graph
from seamwise.check.map.text import MAX_INDENT, MapText
from tests.check.map.files import BUSY, DECLINED, NO_ORDER, SHOP, called, created, function

TEXT = MapText(build_graph(SHOP))


def error_node(name: str) -> ErrorNode:
    return next(error for error in TEXT.graph.errors if error.name == name)


def test_overview_contains_counts_and_errors_without_origin_or_end() -> None:
    assert TEXT.overview() == (
        '3 errors, 7 functions, 1 seam, 1 external function\n'
        'http: 2 errors arrive.\n'
        'Neither shown nor handled: CardDeclined.'
    )  # fmt: skip
    graph = build_graph(
        [FileFacts('app', 'app.py', functions=(function('app.f', 1, inferred=['E', 'F']),))]
    )
    assert MapText(graph).overview() == '2 errors, 1 function, 0 seams\nNever created: E and F.'


def test_description_of_an_error_contains_its_paths() -> None:
    assert TEXT.of_error(error_node(NO_ORDER)) == (
        'NoSuchOrder, NOT_FOUND\n'
        'shop.errors.NoSuchOrder, shop/errors.py:4\n'
        'created in 2 functions; shown by http; handled in 1 place\n'
        '\n'
        'created in shop.store.load, shop/store.py:5\n'
        '-> shop.orders.order, shop/orders.py:9\n'
        '  -> shop.orders.or_new, shop/orders.py:16\n'
        '  =| handled\n'
        '  -> shop.web.get, shop/web.py:15\n'
        '  => shown by http, shop/web.py:17\n'
        '\n'
        'created in shop.store.Memory.find, shop/store.py:31\n'
        '-> shop.store.Store.find (overridden method), shop/store.py:30\n'
        '-> shop.orders.pay, shop/orders.py:22\n'
        '=> no caller'
    )


def test_different_tag_and_external_origin_are_shown() -> None:
    lines = TEXT.of_error(error_node(BUSY)).splitlines()
    assert lines[0] == 'StoreBusy, tag Busy, CAPACITY'
    assert 'from external driver.fetch' in lines


def test_tables_that_an_error_never_reaches_are_named() -> None:
    assert TEXT.of_error(error_node(DECLINED)).endswith(
        'In tables of seams that it never reaches:\n  http, shop.web.TABLE, shop/web.py:5'
    )


def test_description_of_a_seam_contains_arriving_errors() -> None:
    (seam,) = TEXT.graph.seams
    assert TEXT.to_seam(seam) == (
        'http: 2 errors arrive.\n'
        'table shop.web.TABLE, shop/web.py:5\n'
        '\n'
        'NoSuchOrder\n'
        '  created in shop.store.load, shop/store.py:5\n'
        '\n'
        'StoreBusy\n'
        '  from external driver.fetch\n'
        '\n'
        'In its tables, but never arriving: CardDeclined.'
    )


def test_breakable_line_has_at_most_80_columns() -> None:
    names = [f'app.{"module." * 6}function_{number}' for number in range(3)]
    branches = [
        function(
            f'{name}_{branch}',
            5,
            called(6, name if not branch else f'{name}_{branch - 1}', 'app.E'),
        )
        for name in names
        for branch in range(2)
    ]
    facts = FileFacts(
        'app',
        'app/with/a/rather/long/path/to/it.py',
        functions=(*(function(name, 1, created(2, 'app.E')) for name in names), *branches),
    )
    graph = build_graph([facts])
    text = MapText(graph).of_error(graph.errors[0])
    assert max(map(len, text.splitlines())) <= 80
    assert ',\n     app/with/a/rather/long/path/to/it.py:2' in text


def test_places_beyond_the_maximum_are_counted() -> None:
    graph = build_graph(
        [
            FileFacts(
                'app',
                'app.py',
                functions=(function('app.f', 1, *(created(line, 'E') for line in range(2, 10))),),
            )
        ]
    )
    assert 'created in app.f, app.py:2, 3, 4, 5, 6, … 3 more' in MapText(graph).of_error(
        graph.errors[0]
    )


def test_deep_line_shows_its_depth() -> None:
    depth = MAX_INDENT + 2
    functions = [function('app.f0', 1, created(2, 'E'))]
    for number in range(1, depth + 1):
        callee = f'app.f{number - 1}'
        functions += [
            function(f'app.f{number}', 3, called(4, callee, 'E')),
            function(f'app.side{number}', 3, called(4, callee, 'E')),
        ]
    graph = build_graph([FileFacts('app', 'app.py', functions=tuple(functions))])
    assert f'{"  " * MAX_INDENT}({depth}) -> app.f{depth}, app.py:4' in MapText(graph).of_error(
        graph.errors[0]
    )


def test_control_characters_in_names_are_escaped() -> None:
    graph = build_graph(
        [FileFacts('app', 'a\x1b[2J.py', functions=(function('app.f', 1, created(2, 'E\u202e')),))]
    )
    text = MapText(graph).of_error(graph.errors[0])
    assert '\x1b' not in text
    assert '\u202e' not in text


def test_overview_of_an_empty_map_has_zero_counts() -> None:
    assert MapText(Graph()).overview() == '0 errors, 0 functions, 0 seams'


def test_docs_page_contains_the_texts() -> None:
    page = (Path(__file__).parents[3] / 'docs' / 'check' / 'map.md').read_text(encoding='utf-8')
    assert f'--of NoSuchOrder\n{TEXT.of_error(error_node(NO_ORDER))}\n```' in page
    assert f'--to http\n{TEXT.to_seam(TEXT.graph.seams[0])}\n```' in page
