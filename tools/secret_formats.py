"""Generator of the provider formats that redaction masks, from the rules of gitleaks.

Run `python -m tools.secret_formats path/to/gitleaks.toml --version 8.30.1 --date 2026-07-22` with
the file `config/gitleaks.toml` of https://github.com/gitleaks/gitleaks. It writes
`src/seamwise/redaction/provider_formats.py`.
"""

import argparse
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import msgspec

# The parser of `re` is not in typeshed.
_CODES: Any = import_module('re._constants')
_PARSER: Any = import_module('re._parser')

TARGET = Path(__file__).parent.parent / 'src/seamwise/redaction/provider_formats.py'

MAX_REPEAT = 512
"""Limit for repetitions without one: it bounds the time per character."""

# Rules whose pattern is a form of ordinary text, or that are part of the rules of the library.
_EXCLUDED: Mapping[str, str] = {
    'curl-auth-header': 'a rule of the library',
    'curl-auth-user': 'a rule of the library',
    'generic-api-key': 'matches ordinary text',
    'jwt': 'a rule of the library',
    'jwt-base64': 'matches ordinary base64',
    'kubernetes-secret-yaml': 'a rule of the library',
    'nuget-config-password': 'a rule of the library',
    'private-key': 'a rule of the library',
    'sidekiq-sensitive-url': 'a rule of the library',
    'facebook-access-token': 'matches numbers and hashes',
    'freemius-secret-key': 'a rule of the library',
    'flutterwave-public-key': 'a public key',
    'sourcegraph-access-token': 'matches hashes',
    'authress-service-client-access-key': 'its keywords are ordinary text',
    'gitlab-session-cookie': 'a rule of the library',
}

_REWRITTEN: Mapping[str, str] = {
    # The original includes the characters around the secret.
    'azure-ad-client-secret': r'[a-zA-Z0-9_~.]{3}\dQ~[a-zA-Z0-9_~.-]{31,34}',
    # The originals have dots that match any character.
    'slack-config-access-token': r'(?i)xoxe\.xox[bp]-\d-[A-Z0-9]{163,166}',
    'slack-webhook-url': (
        r'(?:https?://)?hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{43,56}'
    ),
}

_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    # A keyword must be part of the key: a log has no name of the provider beside it.
    'airtable-personnal-access-token': ('pat',),
    'cloudflare-origin-ca-key': ('v1.0-',),
    'intra42-client-secret': ('s-s4t2ud-', 's-s4t2af-'),
}

_ASSIGNMENT = r'[\w.-]{0,50}?'
"""Start of the rules for values that are assigned to a name with a provider's name in it."""
_BOUNDARY = r"""(?:[\x60'"\s;]|\\[nr]|$)"""


class Format(NamedTuple):
    """Form of the keys of one provider."""

    name: str
    keywords: tuple[str, ...]
    pattern: str


class GitleaksRule(msgspec.Struct):
    """The used keys of a rule in `gitleaks.toml`."""

    id: str
    regex: str = ''
    keywords: tuple[str, ...] = ()


class GitleaksRules(msgspec.Struct):
    """The used keys of `gitleaks.toml`."""

    rules: tuple[GitleaksRule, ...]


def to_python(regex: str) -> str:
    r"""Translate a pattern of RE2 into one of `re`, without its boundaries.

    >>> to_python(r'''\b(p8e-(?i)[[:alnum:]]{4})(?:[\x60'"\s;]|\\[nr]|$)''')
    '(?:p8e-(?i:[A-Za-z0-9]{4}))'
    """
    regex = regex.replace('[:alnum:]', 'A-Za-z0-9').removesuffix(_BOUNDARY)
    for end in (r"(?:[\x60'" + r'"\s;]|\\[nr]|$|\b)', r'(?:[^\w-]|\z)', r'(?:[^a-zA-Z0-9+/]|\z)'):
        regex = regex.removesuffix(end)
    regex = regex.removesuffix(r'\b')
    ignore_case = regex.startswith('(?i)')
    regex = regex.removeprefix('(?i)').removeprefix(r'\b')
    regex = _scope_flags(f'(?i:{regex})' if ignore_case else regex)
    # All groups become groups without a number: the whole match is the secret.
    return re.sub(r'(?<!\\)\((?!\?)', '(?:', regex)


def _scope_flags(regex: str) -> str:
    """Limit each `(?i)` to the rest of its group, as RE2 does."""
    at = regex.find('(?i)')
    while at >= 0:
        end = _group_end(regex, at + 4)
        regex = f'{regex[:at]}(?i:{regex[at + 4 : end]}){regex[end:]}'
        at = regex.find('(?i)')
    return regex


def _group_end(regex: str, at: int) -> int:
    depth, in_class = 0, False
    while at < len(regex):
        char = regex[at]
        if char == '\\':
            at += 1
        elif in_class:
            in_class = char != ']'
        elif char == '[':
            in_class = True
        elif char == '(':
            depth += 1
        elif char == ')':
            if depth == 0:
                return at
            depth -= 1
        at += 1
    return at


def is_linear(regex: str) -> bool:
    """Return whether a pattern needs a bounded number of steps per character of a text.

    All its repetitions are bounded, and no repetition of a repetition exceeds `MAX_REPEAT` steps.

    >>> is_linear('ab[a-z]{4,9}'), is_linear('a.*b'), is_linear('(?:a{0,90}){0,90}')
    (True, False, False)
    """
    return _steps(_PARSER.parse(regex)) <= 8 * MAX_REPEAT


def _steps(tree: Any) -> float:
    total = 0.0
    for code, argument in tree:
        total += _node_steps(code, argument)
    return total


def _node_steps(code: Any, argument: Any) -> float:
    if code in {_CODES.MAX_REPEAT, _CODES.MIN_REPEAT, _CODES.POSSESSIVE_REPEAT}:
        _, most, body = argument
        inner = _steps(body)
        # A repetition of repetitions backtracks over each of them.
        return float('inf') if most is _CODES.MAXREPEAT else most * inner**2
    if code is _CODES.SUBPATTERN:
        return _steps(argument[3])
    if code is _CODES.BRANCH:
        return sum(map(_steps, argument[1]))
    if code in {_CODES.ASSERT, _CODES.ASSERT_NOT}:
        return _steps(argument[1])
    return 1.0


def bounded(regex: str) -> str:
    """Give each unlimited repetition a limit; redaction masks the rest of a longer key.

    >>> bounded('ab[a-z]+c{9,}')
    'ab[a-z]{1,512}c{9,512}'
    """
    regex = re.sub(r'\{(\d+),\}', rf'{{\1,{MAX_REPEAT}}}', regex)
    after_item = r'(?:(?<=[\])])|(?<=\\[dw]))'
    regex = re.sub(rf'{after_item}\+', rf'{{1,{MAX_REPEAT}}}', regex)
    return re.sub(rf'{after_item}\*', rf'{{0,{MAX_REPEAT}}}', regex)


def formats(rules: Sequence[GitleaksRule]) -> Iterator[Format]:
    """Yield the formats with a form of their own; a pattern that is not linear is an error."""
    for rule in rules:
        if not rule.regex or rule.id in _EXCLUDED or _ASSIGNMENT in rule.regex:
            continue
        pattern = bounded(to_python(_REWRITTEN.get(rule.id, rule.regex)))
        if not is_linear(pattern):
            raise SystemExit(f'{rule.id}: {pattern} is not linear. Exclude it, or bound it here.')
        keywords = _KEYWORDS.get(rule.id, rule.keywords)
        yield Format(rule.id, tuple(sorted(map(str.lower, keywords))), pattern)


def providers(rules: Sequence[GitleaksRule]) -> list[str]:
    """Return the words of providers in the rules: `stripe_key` is a sensitive name."""
    words = {rule.id.partition('-')[0] for rule in rules}
    for rule in rules:
        if _ASSIGNMENT in rule.regex:
            words.update(keyword.strip('.-_').lower() for keyword in rule.keywords)
    return sorted(word for word in words if word.isalpha() and word not in _ORDINARY_WORDS)


_ORDINARY_WORDS = frozenset(
    (
        'access',
        'age',
        'api',
        'auth',
        'clickhouse',
        'credential',
        'creds',
        'curl',
        'defined',
        'generic',
        'harness',
        'intra',
        'jwt',
        'key',
        'kubernetes',
        'linear',
        'live',
        'new',
        'passwd',
        'password',
        'prefect',
        'private',
        'pub',
        'readme',
        'secret',
        'sonar',
        'square',
        'test',
        'tfp',
        'token',
    )
)


_HEADER = '''\
# ruff: noqa: E501
# fmt: off
"""Forms of the keys of providers, and words of providers. Generated; do not edit.

Source: config/gitleaks.toml of https://github.com/gitleaks/gitleaks, version {version} of {date}.
Run `python -m tools.secret_formats` to generate this file. The notice of gitleaks:

{notice}
"""

SOURCE = 'gitleaks {version} ({date})'
"""The origin of all formats."""

PROVIDERS = frozenset(
    (
{providers}
    )
)
"""Words of providers: a name such as `stripe_key` is sensitive."""

FORMATS: tuple[tuple[str, str, str], ...] = (
'''

NOTICE = """\
MIT License

Copyright (c) 2019 Zachary Rice

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


def module(rules: Sequence[GitleaksRule], *, version: str, date: str) -> str:
    """Return the source of the module with the formats of some rules."""
    lines = [
        _HEADER.format(
            version=version, date=date, notice=NOTICE, providers=_wrapped(providers(rules))
        )
    ]
    lines += (
        f'    ({item.name!r}, {" ".join(item.keywords)!r}, {_literal(item.pattern)}),\n'
        for item in formats(rules)
    )
    return (
        ''.join(lines)
        + ')\n"""Name, lower-case keywords of which one must occur, and pattern."""\n'
    )


def _literal(text: str) -> str:
    quote = "'" if "'" not in text else '"'
    if quote in text:
        raise SystemExit(f'{text} contains both quotes.')
    return f'r{quote}{text}{quote}'


def _wrapped(words: Sequence[str]) -> str:
    items = ', '.join(map(repr, words))
    return fill(
        items, 96, initial_indent=' ' * 8, subsequent_indent=' ' * 8, break_long_words=False
    )


def read_rules(file: Path) -> tuple[GitleaksRule, ...]:
    """Return the rules of a `gitleaks.toml`."""
    return msgspec.convert(tomllib.loads(file.read_text('utf-8')), GitleaksRules).rules


def main() -> None:
    """Write the module of the formats."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument('file', type=Path, help='config/gitleaks.toml')
    options.add_argument('--version', required=True, help='version of gitleaks')
    options.add_argument('--date', required=True, help='date of that version')
    arguments = options.parse_args()
    text = module(read_rules(arguments.file), version=arguments.version, date=arguments.date)
    TARGET.write_text(text, 'utf-8')


if __name__ == '__main__':
    main()
