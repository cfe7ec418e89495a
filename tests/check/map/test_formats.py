"""The drawings: what they say, and that hostile names do not break them."""

import json
import re
from html.parser import HTMLParser

import msgspec
import pytest
from typing_extensions import override

from seamwise.check.facts import FileFacts, FunctionFacts, SeamFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.dot import as_dot
from seamwise.check.map.formats import FORMATS
from seamwise.check.map.graph import Graph
from seamwise.check.map.mermaid import as_mermaid, is_too_large
from seamwise.check.map.page import MOST_LINES, as_html
from seamwise.check.map.shape import as_json
from tests.check.map.files import SHOP, at, called, function, kind, made, shown

GRAPH = build_graph(SHOP)
EVIL = 'x]"</script><script>alert(1)</script>#&|`\\{<b>\n错误; end'
HOSTILE = build_graph([
    FileFacts(
        f'm{EVIL}',
        f'{EVIL}.py',
        functions=(
            function(f'm{EVIL}.f', 1, made(2, f'E{EVIL}'), shows=[shown(3, f's{EVIL}', f'E{EVIL}')]),
            function(f'm{EVIL}.g', 4, called(5, f'm{EVIL}.f', f'E{EVIL}'), called(6, f'far{EVIL}', f'E{EVIL}')),
        ),
        classes=(kind(f'E{EVIL}', 1, EVIL, EVIL),),
        seams=(SeamFacts(f'T{EVIL}', f's{EVIL}', at(9), (f'E{EVIL}',)),),
    )
])  # fmt: skip


def large(count: int) -> Graph:
    """Make a program of many functions: each calls the one before and the one of half its number, and every tenth makes an error."""
    functions: list[tuple[int, FunctionFacts]] = []
    for number in range(count):
        error = f'app.E{number // 10 % 100}'
        own = [made(2, error)] if number % 10 == 0 else []
        calls = [
            called(3 + turn, f'app.m{one % 50}.f{one}', error)
            for turn, one in enumerate({number - 1, number // 2})
            if 0 <= one < number
        ]
        functions.append((number % 50, function(f'app.m{number % 50}.f{number}', 1, *own, *calls)))
    modules = range(50)
    return build_graph([
        FileFacts(f'app.m{module}', f'app/m{module}.py', functions=tuple(one for own, one in functions if own == module))
        for module in modules
    ])  # fmt: skip


# What is a string, a word or a sign of the language of Graphviz.
DOT = re.compile(r'\s*(?:("(?:[^"\\\n]|\\[n\\"])*")|([a-zA-Z_]\w*|\d+(?:\.\d+)?)|(->|[{}\[\]=,]))')


def dot_tokens(text: str) -> list[str]:
    tokens: list[str] = []
    end = 0
    while text[end:].strip():
        found = DOT.match(text, end)
        assert found, text[end : end + 60]
        tokens.append(found[0].strip())
        end = found.end()
    return tokens


@pytest.mark.parametrize('graph', [GRAPH, HOSTILE, Graph()])
def test_the_dot_is_of_the_language_and_its_brackets_close(graph: Graph) -> None:
    tokens = dot_tokens(as_dot(graph))
    assert tokens[:3] == ['digraph', 'seamwise', '{']
    for opened, closed in [('{', '}'), ('[', ']')]:
        assert tokens.count(opened) == tokens.count(closed)
    known = {
        tokens[number - 1]
        for number, one in enumerate(tokens)
        if one == '[' and tokens[number - 2] != '->'
    }
    for number, one in enumerate(tokens):
        if one == '->':
            assert {tokens[number - 1], tokens[number + 1]} <= known


def test_the_dot_shows_errors_on_edges_and_producers_in_boxes() -> None:
    text = as_dot(GRAPH)
    assert (
        '"function shop.store.load" -> "function shop.orders.order" [label="NoSuchOrder\\nStoreBusy"]'
        in text
    )
    assert (
        '"function shop.orders.order" -> "function shop.orders.or_new" [label="NoSuchOrder", style=dashed, arrowhead=tee]'
        in text
    )
    assert (
        '"function shop.orders.order" -> "function shop.web.get" [label="NoSuchOrder\\nStoreBusy"]'
        in text
    )
    assert (
        '"function shop.web.get" -> "seam http" [label="NoSuchOrder\\nStoreBusy", style=bold]'
        in text
    )
    assert (
        '"function shop.store.load" [label="load\\nmakes NoSuchOrder", penwidth=2, tooltip="shop/store.py:3"]'
        in text
    )
    assert '"function driver.fetch" [label="driver.fetch", style="rounded,dashed"]' in text


MERMAID = re.compile(
    r'flowchart LR|  subgraph m\d+ \["[^"]*"\]|  end|    f\d+\["[^"]*"\](:::foreign)?|  s\d+\(\["[^"]*"\]\)'
    r'|  f\d+ (-->|--x|--o|-\.->|==>)\|"[^"]*"\| [fs]\d+|  classDef foreign stroke-dasharray: 4 4'
)


@pytest.mark.parametrize('graph', [GRAPH, HOSTILE, Graph()])
def test_the_mermaid_is_of_the_language(graph: Graph) -> None:
    for line in as_mermaid(graph).splitlines():
        assert MERMAID.fullmatch(line), line
        for label in re.findall(r'"([^"]*)"', line):
            assert not set(re.sub(r'<br/>|#\d+;', '', label)) & set('<>#&`[]{}|\\"')


def test_the_mermaid_says_what_the_dot_says() -> None:
    text = as_mermaid(GRAPH)
    assert '["load<br/>makes NoSuchOrder"]' in text
    assert len(re.findall(r'^  f\d+ ', text, re.MULTILINE)) == as_dot(GRAPH).count('->') == 8
    assert '--x|"NoSuchOrder"|' in text
    assert '==>|"NoSuchOrder<br/>StoreBusy"| s0' in text


def test_a_drawing_that_mermaid_refuses_is_known() -> None:
    assert not is_too_large(GRAPH, as_mermaid(GRAPH))
    graph = large(600)
    assert is_too_large(graph, as_mermaid(graph))


def test_what_a_function_makes_and_ends_is_in_its_box() -> None:
    facts = FileFacts(
        'a',
        'a.py',
        functions=(function('a.f', 1, made(2, 'A', 'B', 'C', ended=['A'], lost=['B'])),),
    )
    text = as_dot(build_graph([facts]))
    assert 'label="f\\nmakes C\\nmakes and handles A\\nmakes and loses B"' in text


def test_what_is_lost_beside_a_seam_is_drawn_as_lost() -> None:
    facts = FileFacts(
        'a',
        'a.py',
        functions=(
            function(
                'a.f',
                1,
                called(2, 'g', 'E', lost=['E']),
                called(3, 'h', 'E', ended=['E']),
                shows=[shown(4, 'cli', 'E')],
            ),
        ),
    )
    text = as_dot(build_graph([facts]))
    assert (
        '"function g" -> "function a.f" [label="E", style=dashed, arrowhead=dot, color=red]' in text
    )
    assert '"function h" -> "function a.f" [label="E"]' in text


def test_an_entity_in_a_name_is_none() -> None:
    facts = FileFacts('a', 'a.py', functions=(function('a.f&lt;', 1, made(2, 'E')),))
    assert 'label="f&amp;lt;\\nmakes E"' in as_dot(build_graph([facts]))


def test_classes_of_the_same_name_go_by_their_full_names() -> None:
    facts = FileFacts('a', 'a.py', functions=(function('a.f', 1, made(2, 'x.E', 'y.E', 'y.F')),))
    assert 'label="f\\nmakes x.E\\nmakes y.E\\nmakes F"' in as_dot(build_graph([facts]))


def test_the_json_is_the_graph() -> None:
    assert msgspec.json.decode(as_json(GRAPH), type=Graph) == GRAPH
    told = json.loads(as_json(GRAPH))
    assert list(told) == ['errors', 'functions', 'seams', 'makes', 'calls', 'overrides', 'shows']
    assert told['shows'][0]['places'] == [{'path': 'shop/web.py', 'line': 17}]


@pytest.mark.parametrize('form', FORMATS)
def test_the_same_facts_give_the_same_drawing(form: str) -> None:
    assert FORMATS[form](build_graph(SHOP[::-1])) == FORMATS[form](GRAPH)


@pytest.mark.parametrize('form', FORMATS)
def test_a_drawing_grows_with_the_program_and_not_faster(form: str) -> None:
    small, big = (len(FORMATS[form](large(count))) for count in (500, 5000))
    assert big < 12 * small


# The page


class Page(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.scripts = 0
        self.feed(page)
        self.close()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.ids += [one for one in [known.get('id')] if one]
        self.links += [one for name in ('href', 'src', 'action') if (one := known.get(name))]
        self.scripts += tag == 'script'
        assert not any(name.startswith('on') or name == 'style' for name in known)
        if tag not in {'meta', 'link', 'input'}:
            self.open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_has_every_error_and_seam_under_its_name() -> None:
    page = Page(as_html(GRAPH))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.ids) >= {f'error={one.name}' for one in GRAPH.errors} | {'seam=http'}
    assert {one.removeprefix('#') for one in page.links if one != 'data:,'} <= {*page.ids}


def test_the_page_tells_the_ways_in_words() -> None:
    assert (
        '  -&gt; shop.web.get, shop/web.py:15\n  =&gt; shown by http, shop/web.py:17\n'
        in as_html(GRAPH)
    )


def test_the_page_fetches_nothing() -> None:
    html = as_html(GRAPH)
    assert "default-src 'none'" in html
    assert (
        re.search(
            r'url\((?!#)|@import|fetch\(|XMLHttpRequest|https?://(?!www\.w3\.org/2000/svg)', html
        )
        is None
    )


def test_hostile_names_are_text_on_the_page() -> None:
    html = as_html(HOSTILE)
    assert '<script>alert' not in html
    page = Page(html)
    assert page.open == []
    assert page.scripts == 2
    (data,) = re.findall(
        r'<script type="application/json" id="graph">(.*?)</script>', html, re.DOTALL
    )
    assert msgspec.json.decode(data, type=Graph) == HOSTILE


def test_a_long_way_is_cut_on_the_page_and_says_so() -> None:
    chain = [
        function(f'a.f{number}', 1, called(2, f'a.f{number - 1}', 'E'))
        for number in range(1, MOST_LINES + 50)
    ]
    facts = FileFacts('a', 'a.py', functions=(function('a.f0', 1, made(2, 'E')), *chain))
    html = as_html(build_graph([facts]))
    assert '… and more: seamwise map … --of E' in html
    assert 'a.f299,' in html
    assert html.count('-&gt;') == MOST_LINES - 1
