"""Tests of the formats of the map: content, and safety with hostile names."""

import json
import re
from html.parser import HTMLParser

import msgspec
import pytest
from typing_extensions import override

from seamwise.check.facts import FileFacts, FunctionFacts, SeamFacts
from seamwise.check.map import FORMATS
from seamwise.check.map.build import build_graph
from seamwise.check.map.dot import render_dot
from seamwise.check.map.graph import Graph, encode_graph
from seamwise.check.map.mermaid import is_too_large, render_mermaid
from seamwise.check.map.page import MAX_PATH_LINES, render_map_page
from tests.check.map.files import SHOP, called, created, error_class, function, location, seam_use

GRAPH = build_graph(SHOP)
EVIL = 'x]"</script><script>alert(1)</script>#&|`\\{<b>\n错误; end'
HOSTILE = build_graph([
    FileFacts(
        f'm{EVIL}',
        f'{EVIL}.py',
        functions=(
            function(
                f'm{EVIL}.f', 1, created(2, f'E{EVIL}'),
                seam_uses=[seam_use(3, f's{EVIL}', f'E{EVIL}')],
            ),
            function(
                f'm{EVIL}.g', 4,
                called(5, f'm{EVIL}.f', f'E{EVIL}'), called(6, f'far{EVIL}', f'E{EVIL}'),
            ),
        ),
        classes=(error_class(f'E{EVIL}', 1, EVIL, EVIL),),
        seams=(SeamFacts(f'T{EVIL}', f's{EVIL}', location(9), (f'E{EVIL}',)),),
    )
])  # fmt: skip


def large(count: int) -> Graph:
    """Return a program of many functions, of which every tenth creates an error.

    Function n calls the functions n - 1 and n // 2.
    """
    functions: list[tuple[int, FunctionFacts]] = []
    for number in range(count):
        error = f'app.E{number // 10 % 100}'
        creations = [created(2, error)] if number % 10 == 0 else []
        calls = [
            called(3 + index, f'app.m{callee % 50}.f{callee}', error)
            for index, callee in enumerate({number - 1, number // 2})
            if 0 <= callee < number
        ]
        module = number % 50
        facts = function(f'app.m{module}.f{number}', 1, *creations, *calls)
        functions.append((module, facts))
    return build_graph(
        [
            FileFacts(
                f'app.m{module}',
                f'app/m{module}.py',
                functions=tuple(facts for number, facts in functions if number == module),
            )
            for module in range(50)
        ]
    )


# A string, a word or a punctuation mark of the DOT language.
DOT = re.compile(r'\s*(?:("(?:[^"\\\n]|\\[n\\"])*")|([a-zA-Z_]\w*|\d+(?:\.\d+)?)|(->|[{}\[\]=,]))')


def dot_tokens(text: str) -> list[str]:
    tokens: list[str] = []
    end = 0
    while text[end:].strip():
        match = DOT.match(text, end)
        assert match, text[end : end + 60]
        tokens.append(match[0].strip())
        end = match.end()
    return tokens


@pytest.mark.parametrize('graph', [GRAPH, HOSTILE, Graph()])
def test_dot_is_valid(graph: Graph) -> None:
    tokens = dot_tokens(render_dot(graph))
    assert tokens[:3] == ['digraph', 'seamwise', '{']
    for opening, closing in [('{', '}'), ('[', ']')]:
        assert tokens.count(opening) == tokens.count(closing)
    nodes = {
        tokens[index - 1]
        for index, item in enumerate(tokens)
        if item == '[' and tokens[index - 2] != '->'
    }
    for index, item in enumerate(tokens):
        if item == '->':
            assert {tokens[index - 1], tokens[index + 1]} <= nodes


def test_dot_has_errors_on_edges_and_creators_in_boxes() -> None:
    lines = [line.strip() for line in render_dot(GRAPH).splitlines()]
    both = 'NoSuchOrder\\nStoreBusy'
    load, order = '"function shop.store.load"', '"function shop.orders.order"'
    or_new, get = '"function shop.orders.or_new"', '"function shop.web.get"'
    expected = [
        f'{load} -> {order} [label="{both}"]',
        f'{order} -> {or_new} [label="NoSuchOrder", style=dashed, arrowhead=tee]',
        f'{order} -> {get} [label="{both}"]',
        f'{get} -> "seam http" [label="{both}", style=bold]',
        f'{load} [label="load\\ncreates NoSuchOrder", penwidth=2, tooltip="shop/store.py:3"]',
        '"function driver.fetch" [label="driver.fetch", style="rounded,dashed"]',
    ]
    assert [line for line in expected if line not in lines] == []


MERMAID = re.compile(
    r'flowchart LR|  subgraph m\d+ \["[^"]*"\]|  end|    f\d+\["[^"]*"\](:::foreign)?'
    r'|  s\d+\(\["[^"]*"\]\)'
    r'|  f\d+ (-->|--x|--o|-\.->|==>)\|"[^"]*"\| [fs]\d+|  classDef foreign stroke-dasharray: 4 4'
)


@pytest.mark.parametrize('graph', [GRAPH, HOSTILE, Graph()])
def test_mermaid_is_valid(graph: Graph) -> None:
    for line in render_mermaid(graph).splitlines():
        assert MERMAID.fullmatch(line), line
        for label in re.findall(r'"([^"]*)"', line):
            assert not set(re.sub(r'<br/>|#\d+;', '', label)) & set('<>#&`[]{}|\\"')


def test_mermaid_contains_the_same_edges_as_dot() -> None:
    text = render_mermaid(GRAPH)
    assert '["load<br/>creates NoSuchOrder"]' in text
    assert len(re.findall(r'^  f\d+ ', text, re.MULTILINE)) == render_dot(GRAPH).count('->') == 8
    assert '--x|"NoSuchOrder"|' in text
    assert '==>|"NoSuchOrder<br/>StoreBusy"| s0' in text


def test_flowchart_beyond_the_limits_of_mermaid_is_too_large() -> None:
    assert not is_too_large(GRAPH, render_mermaid(GRAPH))
    graph = large(600)
    assert is_too_large(graph, render_mermaid(graph))


def test_box_of_a_function_lists_the_errors_that_it_creates() -> None:
    facts = FileFacts(
        'a',
        'a.py',
        functions=(function('a.f', 1, created(2, 'A', 'B', 'C', handled=['A'], lost=['B'])),),
    )
    text = render_dot(build_graph([facts]))
    assert 'label="f\\ncreates C\\ncreates and handles A\\ncreates and loses B"' in text


def test_lost_error_in_a_function_with_a_seam_is_drawn_as_lost() -> None:
    facts = FileFacts(
        'a',
        'a.py',
        functions=(
            function(
                'a.f',
                1,
                called(2, 'g', 'E', lost=['E']),
                called(3, 'h', 'E', handled=['E']),
                seam_uses=[seam_use(4, 'cli', 'E')],
            ),
        ),
    )
    text = render_dot(build_graph([facts]))
    assert (
        '"function g" -> "function a.f" [label="E", style=dashed, arrowhead=dot, color=red]' in text
    )
    assert '"function h" -> "function a.f" [label="E"]' in text


def test_html_entity_in_a_name_is_escaped() -> None:
    facts = FileFacts('a', 'a.py', functions=(function('a.f&lt;', 1, created(2, 'E')),))
    assert 'label="f&amp;lt;\\ncreates E"' in render_dot(build_graph([facts]))


def test_classes_of_the_same_name_have_full_names_as_labels() -> None:
    facts = FileFacts('a', 'a.py', functions=(function('a.f', 1, created(2, 'x.E', 'y.E', 'y.F')),))
    assert 'label="f\\ncreates x.E\\ncreates y.E\\ncreates F"' in render_dot(build_graph([facts]))


def test_json_is_the_graph() -> None:
    assert msgspec.json.decode(encode_graph(GRAPH), type=Graph) == GRAPH
    shape = json.loads(encode_graph(GRAPH))
    assert list(shape) == ['errors', 'functions', 'seams', 'makes', 'calls', 'overrides', 'shows']
    assert shape['shows'][0]['places'] == [{'path': 'shop/web.py', 'line': 17}]


@pytest.mark.parametrize('name', FORMATS)
def test_same_facts_result_in_the_same_output(name: str) -> None:
    assert FORMATS[name](build_graph(SHOP[::-1])) == FORMATS[name](GRAPH)


@pytest.mark.parametrize('name', FORMATS)
def test_output_grows_linearly_with_the_program(name: str) -> None:
    small, big = (len(FORMATS[name](large(count))) for count in (500, 5000))
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
        attributes = dict(attrs)
        self.ids += [id_ for id_ in [attributes.get('id')] if id_]
        links = (attributes.get(name) for name in ('href', 'src', 'action'))
        self.links += [link for link in links if link]
        self.scripts += tag == 'script'
        assert not any(name.startswith('on') or name == 'style' for name in attributes)
        if tag not in {'meta', 'link', 'input'}:
            self.open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_has_a_link_for_every_error_and_seam() -> None:
    page = Page(render_map_page(GRAPH))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.ids) >= {f'error={error.name}' for error in GRAPH.errors} | {'seam=http'}
    assert {link.removeprefix('#') for link in page.links if link != 'data:,'} <= {*page.ids}


def test_page_contains_the_paths_as_text() -> None:
    assert (
        '  -&gt; shop.web.get, shop/web.py:15\n  =&gt; shown by http, shop/web.py:17\n'
        in render_map_page(GRAPH)
    )


def test_page_loads_nothing() -> None:
    html = render_map_page(GRAPH)
    assert "default-src 'none'" in html
    assert (
        re.search(
            r'url\((?!#)|@import|fetch\(|XMLHttpRequest|https?://(?!www\.w3\.org/2000/svg)', html
        )
        is None
    )


def test_hostile_names_are_escaped_on_the_page() -> None:
    html = render_map_page(HOSTILE)
    assert '<script>alert' not in html
    page = Page(html)
    assert page.open == []
    assert page.scripts == 2
    (data,) = re.findall(
        r'<script type="application/json" id="graph">(.*?)</script>', html, re.DOTALL
    )
    assert msgspec.json.decode(data, type=Graph) == HOSTILE


def test_long_path_is_cut_on_the_page() -> None:
    chain = [
        function(f'a.f{number}', 1, called(2, f'a.f{number - 1}', 'E'))
        for number in range(1, MAX_PATH_LINES + 50)
    ]
    facts = FileFacts('a', 'a.py', functions=(function('a.f0', 1, created(2, 'E')), *chain))
    html = render_map_page(build_graph([facts]))
    assert '… and more: seamwise map … --of E' in html
    assert 'a.f299,' in html
    assert html.count('-&gt;') == MAX_PATH_LINES - 1
