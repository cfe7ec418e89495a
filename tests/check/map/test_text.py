"""The map as text."""

from pathlib import Path

from seamwise.check.facts import FileFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.graph import Error, Graph
from seamwise.check.map.text import DEEPEST, Words
from tests.check.map.files import BUSY, DECLINED, NO_ORDER, SHOP, called, function, made

WORDS = Words(build_graph(SHOP))


def named(name: str) -> Error:
    return next(one for one in WORDS.graph.errors if one.name == name)


def test_the_overview_counts_and_names_what_has_no_beginning_or_no_end() -> None:
    assert WORDS.overview() == (
        '3 errors, 7 functions, 1 seam, 1 function from elsewhere\n'
        'http: 2 errors arrive.\n'
        'Neither shown nor handled: CardDeclined.'
    )  # fmt: skip
    unmade = build_graph(
        [FileFacts('app', 'app.py', functions=(function('app.f', 1, out=['E', 'F']),))]
    )
    assert Words(unmade).overview() == '2 errors, 1 function, 0 seams\nMade nowhere: E and F.'


def test_the_ways_of_an_error() -> None:
    assert WORDS.of_error(named(NO_ORDER)) == (
        'NoSuchOrder, NOT_FOUND\n'
        'shop.errors.NoSuchOrder, shop/errors.py:4\n'
        'made in 2 functions; shown by http; handled in 1 place\n'
        '\n'
        'made in shop.store.load, shop/store.py:5\n'
        '-> shop.orders.order, shop/orders.py:9\n'
        '  -> shop.orders.or_new, shop/orders.py:16\n'
        '  =| handled there\n'
        '  -> shop.web.get, shop/web.py:15\n'
        '  => shown by http, shop/web.py:17\n'
        '\n'
        'made in shop.store.Memory.find, shop/store.py:31\n'
        '-> shop.store.Store.find, in whose place it stands, shop/store.py:30\n'
        '-> shop.orders.pay, shop/orders.py:22\n'
        '=> nobody here calls it'
    )


def test_a_tag_of_its_own_and_a_beginning_elsewhere_are_told() -> None:
    lines = WORDS.of_error(named(BUSY)).splitlines()
    assert lines[0] == 'StoreBusy, tag Busy, CAPACITY'
    assert 'from elsewhere: driver.fetch' in lines


def test_tables_where_an_error_does_not_arrive_are_named() -> None:
    assert WORDS.of_error(named(DECLINED)).endswith(
        'In tables of seams where it does not arrive:\n  http, shop.web.TABLE, shop/web.py:5'
    )


def test_what_arrives_at_a_seam() -> None:
    (seam,) = WORDS.graph.seams
    assert WORDS.to_seam(seam) == (
        'http: 2 errors arrive.\n'
        'table shop.web.TABLE, shop/web.py:5\n'
        '\n'
        'NoSuchOrder\n'
        '  made in shop.store.load, shop/store.py:5\n'
        '\n'
        'StoreBusy\n'
        '  from elsewhere: driver.fetch\n'
        '\n'
        'In its tables, and arriving from nowhere here: CardDeclined.'
    )


def test_no_line_is_longer_than_80_columns_where_it_can_be_broken() -> None:
    names = [f'app.{"module." * 6}function_{number}' for number in range(3)]
    branches = [
        function(
            f'{name}_{turn}', 5, called(6, name if not turn else f'{name}_{turn - 1}', 'app.E')
        )
        for name in names
        for turn in range(2)
    ]
    facts = FileFacts(
        'app',
        'app/with/a/rather/long/path/to/it.py',
        functions=(*(function(one, 1, made(2, 'app.E')) for one in names), *branches),
    )
    graph = build_graph([facts])
    text = Words(graph).of_error(graph.errors[0])
    assert max(map(len, text.splitlines())) <= 80
    assert ',\n     app/with/a/rather/long/path/to/it.py:2' in text


def test_many_places_are_counted() -> None:
    graph = build_graph(
        [
            FileFacts(
                'app',
                'app.py',
                functions=(function('app.f', 1, *(made(line, 'E') for line in range(2, 10))),),
            )
        ]
    )
    assert 'made in app.f, app.py:2, 3, 4, 5, 6, … 3 more' in Words(graph).of_error(graph.errors[0])


def test_a_deep_line_says_how_deep_it_is() -> None:
    deep = DEEPEST + 2
    functions = [function('app.f0', 1, made(2, 'E'))]
    for number in range(1, deep + 1):
        before = f'app.f{number - 1}'
        functions += [
            function(f'app.f{number}', 3, called(4, before, 'E')),
            function(f'app.side{number}', 3, called(4, before, 'E')),
        ]
    graph = build_graph([FileFacts('app', 'app.py', functions=tuple(functions))])
    assert f'{"  " * DEEPEST}({deep}) -> app.f{deep}, app.py:4' in Words(graph).of_error(
        graph.errors[0]
    )


def test_nothing_in_a_name_moves_the_cursor() -> None:
    graph = build_graph(
        [FileFacts('app', 'a\x1b[2J.py', functions=(function('app.f', 1, made(2, 'E\u202e')),))]
    )
    text = Words(graph).of_error(graph.errors[0])
    assert '\x1b' not in text
    assert '\u202e' not in text


def test_an_empty_map_is_told() -> None:
    assert Words(Graph()).overview() == '0 errors, 0 functions, 0 seams'


def test_the_page_of_the_documents_shows_what_is_told() -> None:
    page = (Path(__file__).parents[3] / 'docs' / 'check' / 'map.md').read_text(encoding='utf-8')
    assert f'--of NoSuchOrder\n{WORDS.of_error(named(NO_ORDER))}\n```' in page
    assert f'--to http\n{WORDS.to_seam(WORDS.graph.seams[0])}\n```' in page
