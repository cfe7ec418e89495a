"""Tests of `write_copies`: Markdown copies of the pages, and llms.txt."""

from pathlib import Path

import pytest
from tools.documentation.copies import write_copies
from tools.documentation.plain import Pages

START = """\
---
hide-toc: true
---

# Start

Read the [guide](guide.md#run){.sd-btn .sd-btn-primary} first.

:::::{grid} 2
:gutter: 3

::::{grid-item-card} Guide
:link: guide
:link-type: doc

![A map](pictures/map-light.png){.only-light}
![A map](pictures/map-dark.png){.only-dark}

All of it,
in one page.
::::
:::::

![A map](pictures/map-light.png){.only-light}
![A map](pictures/map-dark.png){.only-dark}

```{toctree}
:hidden:
:caption: Learn

guide
rules/index
```
"""
GUIDE = """\
# Guide

```{index} manual, how to
```

No. See
[the rules](rules/index.md). Or not.

## Run

```python
name = 'a'


text = '[a](nowhere.md)'
```

`[code](nowhere.md)` stays, and [**term**]{#term} has an anchor.
"""
RULES = """\
# Rules

```{toctree}
:glob:

R*
```
"""
RULE = """\
# R1: a rule

```{py:class} rules.R1
:no-typesetting:
```

:::{dropdown} Example
See the [term](../guide.md#term) and [this class](#rules.R1).
:::
"""


def write(folder: Path, **changes: str) -> Path:
    pages = {'index': START, 'guide': GUIDE, 'rules/index': RULES, 'rules/R1': RULE, **changes}
    for name, text in pages.items():
        path = folder / 'source' / f'{name}.md'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding='utf-8')
        (folder / 'site' / name.removesuffix('index')).mkdir(parents=True, exist_ok=True)
    pictures = folder / 'site' / '_images'
    pictures.mkdir()
    (pictures / 'map-light.png').touch()
    write_copies(folder / 'source', folder / 'converted', folder / 'site')
    return folder / 'site'


def test_links_lead_to_copies_and_pictures(tmp_path: Path) -> None:
    site = write(tmp_path)
    start = (site / 'index.md').read_text(encoding='utf-8')
    assert start.splitlines() == [
        '# Start',
        '',
        'Read the [guide](guide/index.md#run) first.',
        '',
        '- [Guide](guide/index.md): All of it, in one page.',
        '',
        '![A map](_images/map-light.png)',
        '',
        'Learn:',
        '',
        '- [Rules](rules/index.md)',
    ]


def test_directives_become_plain_markdown(tmp_path: Path) -> None:
    site = write(tmp_path)
    guide = (site / 'guide/index.md').read_text(encoding='utf-8')
    assert '{' not in guide
    assert "name = 'a'\n\n\ntext = '[a](nowhere.md)'\n" in guide
    assert '`[code](nowhere.md)` stays, and <a id="term"></a>**term** has an anchor.' in guide
    assert '[the rules](../rules/index.md)' in guide
    rules = (site / 'rules/index.md').read_text(encoding='utf-8')
    assert rules == '# Rules\n\n- [R1: a rule](R1/index.md)\n'
    rule = (site / 'rules/R1/index.md').read_text(encoding='utf-8')
    assert rule.splitlines() == [
        '# R1: a rule',
        '',
        '<a id="rules.R1"></a>',
        '',
        '**Example**',
        '',
        'See the [term](../../guide/index.md#term) and [this class](#rules.R1).',
    ]


def test_the_index_has_sections_in_the_order_of_the_site(tmp_path: Path) -> None:
    site = write(tmp_path)
    index = (site / 'llms.txt').read_text(encoding='utf-8').split('\n\n', 2)[2]
    assert index.splitlines() == [
        '## Start',
        '',
        '- [Start](index.md): Read the guide first.',
        '',
        '## Rules',
        '',
        '- [Rules](rules/index.md)',
        '- [R1: a rule](rules/R1/index.md): See the term and this class.',
        '',
        '## Learn',
        '',
        '- [Guide](guide/index.md): No. See the rules.',
    ]


def test_the_full_text_links_from_the_root_of_the_site(tmp_path: Path) -> None:
    full = (write(tmp_path) / 'llms-full.txt').read_text(encoding='utf-8')
    assert 'See the [term](guide/index.md#term)' in full


@pytest.mark.parametrize(
    ('markup', 'problem'),
    [
        ('[a](nowhere.md)', 'guide links to nowhere.md, which does not exist.'),
        ('[a](index.md#x)', 'guide links to index.md#x, which has no such anchor.'),
        ('![a](b.png)', 'guide links to b.png, which does not exist.'),
        (':::{tip}\nText\n:::', 'guide has the markup :::{tip}.'),
        ('```{csv-table}\n```', 'guide has the directive csv-table.'),
    ],
)
def test_a_broken_link_or_an_unknown_directive_is_an_error(
    tmp_path: Path, markup: str, problem: str
) -> None:
    with pytest.raises(LookupError) as raised:
        write(tmp_path, guide=f'# Guide\n\n## Run\n\n[x]{{#term}}\n\n{markup}\n')
    assert str(raised.value) == problem


def test_a_page_is_converted_for_any_folder() -> None:
    pages = Pages({'a/b': '# B\n\n[C](c.md)\n', 'a/c': '# C\n'})
    assert pages.plain('a/b', '.') == '# B\n\n[C](a/c/index.md)\n'
    assert pages.plain('a/b', 'a/b') == '# B\n\n[C](../c/index.md)\n'
