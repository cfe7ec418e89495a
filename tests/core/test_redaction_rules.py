"""Laws of the rules: each masks its example, no two rules disturb each other, time is linear."""

import re
from collections.abc import Callable
from itertools import product
from statistics import median
from time import process_time

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from seamwise import redact
from seamwise.redaction import redact_and_count
from seamwise.redaction.apart import APART, ApartRule
from seamwise.redaction.engine import ALL_RULES as RULES
from seamwise.redaction.prefilter import may_contain_secret, searched_end
from seamwise.redaction.provider_formats import FORMATS
from seamwise.redaction.rules import Rule
from seamwise.redaction.settings import Settings

_SECRET = re.compile('⟦(.*?)⟧', re.DOTALL)

NAMED = (
    'password=⟦hunter2XYZ⟧',
    'api_key: ⟦FAKE-1a⟧',
    '{"token": "⟦FAKE-2b⟧"}',
    "{'secret': '⟦FAKE-3c⟧'}",
    '--token ⟦FAKE-4d⟧',
    '<password>⟦FAKE-5e⟧</password>',
    'Cookie: ⟦a=FAKE-6f; b=FAKE-7g⟧',
    "('X-Api-Key', '⟦FAKE-8h⟧')",
    'name: DB_PASSWORD, value: ⟦FAKE-9i⟧',
    'Authorization: ⟦Custom FAKE-1j⟧',
    'https://x/?sig=⟦FAKE-2k⟧',
    'Server=x;Pwd=⟦FAKE-3l⟧;Database=y',
)
"""Examples of the rules by name."""
EXAMPLES = (*(rule.example for rule in RULES), *(rule.example for rule in APART), *NAMED)
_OF_LINES = frozenset(
    (
        *('keyword with a value', 'value in a session', 'column of a table'),
        *('value below its name', 'line of chap-secrets', 'keyword of a test'),
    )
)
LAYOUTS = frozenset(
    (
        *(rule.example for rule in RULES if rule.name in _OF_LINES),
        *(rule.example for rule in APART if rule.name in _OF_LINES),
    )
)
"""Examples of rules for whole lines: another text beside them makes them another form."""
LINE_ENDS = ('\n', '\r\n', '\n\n')
SEPARATORS = (' ', '\n', '\t', '\r\n', ', ', '; ', ' | ', '\\n', '\n\n', ' and ')


def plain(example: str) -> str:
    return _SECRET.sub(r'\1', example)


@pytest.mark.parametrize('example', EXAMPLES)
def test_each_example_is_masked_at_its_secret(example: str) -> None:
    masked = _SECRET.sub('***', example)
    assert redact(plain(example)) == masked
    assert redact(masked) == masked


@pytest.mark.parametrize('rule', [*RULES, *APART], ids=lambda rule: rule.name)
def test_each_rule_finds_its_own_example(rule: Rule | ApartRule) -> None:
    lowered = plain(rule.example).lower()
    assert any(keyword in lowered for keyword in rule.keywords)
    assert rule.source
    assert may_contain_secret(plain(rule.example), Settings())


@pytest.mark.parametrize('first', EXAMPLES)
def test_two_rules_in_one_text_leave_nothing_over(first: str) -> None:
    for second, separator in product(EXAMPLES, SEPARATORS):
        if not LAYOUTS.isdisjoint((first, second)) and separator not in LINE_ENDS:
            continue
        text = separator.join((first, second))
        secrets = [
            secret for secret in _SECRET.findall(text) if secret not in _SECRET.sub('', text)
        ]
        redacted = redact(plain(text))
        assert [secret for secret in secrets if secret in redacted] == [], text
        assert redact(redacted) == redacted, text


@pytest.mark.parametrize('outer', EXAMPLES)
def test_a_rule_behind_the_keyword_of_another_is_still_found(outer: str) -> None:
    keyword = outer.partition('⟦')[0] if outer[0] != '⟦' else ''
    for inner, around in product(EXAMPLES, ('{}', ' {}', '"{}"', "'{}'", ': {}', '\n{}', ' "{}" ')):
        text = keyword + around.format(inner)
        quotes = {quote for quote in '"\'' if keyword.count(quote) % 2 or quote in around}
        if inner in LAYOUTS and (around[:1] != '\n' or keyword.count('\n') or quotes):
            continue
        # Glued to a word, a keyword is none; a quote in quotes of the same kind ends the value.
        if not keyword or (around == '{}' and keyword[-1] not in ' =:([') or quotes & {*inner}:
            continue
        secrets = [
            secret for secret in _SECRET.findall(inner) if secret not in _SECRET.sub('', text)
        ]
        assert [secret for secret in secrets if secret in redact(plain(text))] == [], text


@pytest.mark.parametrize('inner', [each for each in EXAMPLES if each not in LAYOUTS])
@pytest.mark.parametrize(
    'outer', ['password={}', "password='{}'", 'Bearer {}', 'Cookie: {}', '{{"token": "{}"}}']
)
def test_a_secret_as_the_value_of_a_name_leaves_nothing_over(outer: str, inner: str) -> None:
    redacted = redact(outer.format(plain(inner)))
    assert [secret for secret in _SECRET.findall(inner) if secret in redacted] == []


def test_a_name_in_a_bearer_value_is_masked_with_its_value() -> None:
    assert redact('Bearer token=hunter2XYZ') == 'Bearer ***'


@settings(deadline=None)
@given(st.lists(st.sampled_from([*map(plain, EXAMPLES), 'a', '"', "'", '\\', ' ', '\n', '{', '}'])))
def test_redaction_is_idempotent(parts: list[str]) -> None:
    redacted = redact(' '.join(parts))
    assert redact(redacted) == redacted


@pytest.mark.parametrize('name', [name for name, _, _ in FORMATS])
@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.generate],
)
@given(st.data())
def test_a_key_in_each_provider_format_is_masked(name: str, data: st.DataObject) -> None:
    [pattern] = [pattern for other, _, pattern in FORMATS if other == name]
    alphabet = st.characters(codec='ascii')
    key = data.draw(st.from_regex(pattern, fullmatch=True, alphabet=alphabet))
    for text in (f'key {key} end', f'"{key}"', f'({key})', f'a\n{key}\nb', f'a\\n{key}\\nb'):
        assert key not in redact(text), text
    assert redact_and_count([key, key]) == (['***', '***'], 2)


ATTACKS = (
    *('password=', '--password ', '{"password": ', 'Bearer ', '://', '://a@', 'eyJ', 'eyJ.'),
    *(
        '-----BEGIN A KEY-----',
        '-----END A KEY-----\n',
        'A' * 20 + '\n-----END ',
        '\\',
        '"',
        "('a', ",
    ),
    *(
        'name: a value: ',
        'is ',
        'password is ',
        'mysql -p',
        'mysql ',
        'echo ',
        'code=',
        'xapp-1-A-',
    ),
    *(
        '[[',
        '{"a":[',
        'a: ',
        '<password>',
        'must be ',
        '\u5bc6\u7801',
        'key',
        'token: str | ',
        '$(',
        'auth: a ',
        'secrets:\n  a:\n',
        '{"kty": "a", "d": "b", ',
        'password: a -> ',
        'password: {',
        'sqlplus ',
        'a:5432:',
        'the password of ',
        'token: f.a',
        'input_value=',
        "'loc': ('password',), ",
        "On instance['token']:\n    '",
        '@ attribute token Structuring ',
        "'password' must be (got ",
        "argument --token: invalid int value: '",
        "Invalid value for '--token': ",
        'INSERT INTO users (password) VALUES (',
        "INSERT INTO users (password) VALUES ('a'), ",
        "WHERE password IN ('a', ",
        '[parameters: (',
        'INSERT INTO users (password) VALUES (?) [parameters: (',
        'INSERT INTO users (password) VALUES (?) [generated in 1s] ((',
        "INSERT INTO users (password) VALUES ($1) parameters: $1 = '''",
        "INSERT INTO users (password) VALUES (?); args=('",
        '{"op": "a", "path": "/token/',
        'Key (token)=(',
        "Duplicate entry 'a' ",
        '%22',
        '%2522',
        '&quot;password&quot;:',
        '\x1b[36m',
        'password = <<EOT\n',
        'password:\n  ',
        'curl -u ',
        "['mysql', '-p",
        'pwd=a/',
        'password ?= ',
        'SELECT UPDATE WHERE ',
        'sqlcmd ',
        'sqlcmd -P ',
        'mongo -p ',
        'htpasswd -b a ',
        'secret set a --value ',
        '--name a --value ',
        "printf 'token=%s' ",
        'SetEnv a ',
        'api_key a ',
        '\napi_key ',
        '{password,',
        'password" "a" ',
        '.setToken("',
        ".login('a', ",
        'PDO("a", ',
        'jwt.encode(a, ',
        "Fernet('",
        '$6$',
        'pbkdf2:sha1:1$a',
        '/hooks/',
        '/reset/a/',
        '?sid=',
        'variable "token" {\n',
        '<name>token</name><value>',
        '<property name="token">',
        '//a:1b2c3d@',
        'a:1b2c3d@',
        '[a]:1 a:',
        'password for a: ',
        'password:\n',
        '>>> token\n',
        "token from 'a' to 'b' ",
        'PRAGMA key = ',
        '| token |\n| a1 ',
        'token,a\nb1,c\n',
        '    └ ',
        'a token b\n └ x1\n',
        "'token' value ",
        "value 'abcd' ",
        'parameters: $1 = a\nSTATEMENT: ',
        'password=abc123x ',
        'token="a", "start": ',
        'tokens=',
        '<a ',
        'password: <a ',
        "password: ['a', ",
        'token: a<b<',
        'token: f(a(b)',
        'token: Field(',
        'token: a["b"]',
        *('tool -u ann -p ', 'login=ann:', "f('password', ", 'password.fill("', 'LoginModule '),
        *('token A1b2C3d4E5f6G7h8I9j0K ', 'radius a key ', '"secrets": [{"a": "b"}] '),
        '-- params: ["a"] INSERT INTO users (password) VALUES (?) ',
    ),
)
LONG, FACTOR = 80_000, 8
"""Length of a hostile text in characters, and its ratio to the length of the short one."""
SLACK = 3
"""A quadratic rule takes `FACTOR` times as long as a linear one, which is more than this."""


def cpu_time(function: Callable[[str], object], attack: str, length: int) -> float:
    """Return the median of the processor times of three calls, in seconds."""
    text = attack * (length // len(attack))

    def measure() -> float:
        start = process_time()
        function(text)
        return process_time() - start

    return median(measure() for _ in range(3))


def is_linear(function: Callable[[str], object], attack: str) -> bool:
    """Return whether one of a few comparisons of a short and a long text shows linear time."""
    return any(
        cpu_time(function, attack, LONG)
        < FACTOR * SLACK * cpu_time(function, attack, LONG // FACTOR)
        for _ in range(3)
    )


@pytest.mark.slow
@pytest.mark.parametrize('attack', ATTACKS)
def test_time_is_linear_in_the_length_of_repeated_text(attack: str) -> None:
    assert is_linear(redact, attack)


def test_the_check_of_linear_time_detects_a_quadratic_search() -> None:
    quadratic = re.compile('(?=(a*)b)').findall
    assert not is_linear(lambda text: quadratic(text[: len(text) // 20]), 'a')


@pytest.mark.parametrize(
    'name', ['token=a1b2 ', 'пароль=a1b2 ', 'https://ann:a1b2@example.org ', 'secret: ', 'pwd\n']
)
def test_the_rest_of_a_text_of_nothing_but_names_is_masked(name: str) -> None:
    text = f'GET /\n{name * 20_000}then hunter2xyz'
    redacted = redact(text)
    assert redacted.startswith('GET /\n')
    assert redacted.endswith('***')
    assert 'a1b2' not in redacted
    assert 'hunter2xyz' not in redacted
    assert len(redacted) < len(text) / 2


def test_a_dense_text_is_searched_up_to_the_beginning_of_a_line() -> None:
    line = 'sk-FAKEFAKEFAKEFAKE0123 key: a, pin: b, pwd: c\n'
    text = line * 5_000
    end = searched_end(text)
    assert 0 < end < len(text)
    assert end % len(line) == 0


def test_a_long_text_with_a_name_in_each_line_is_searched_as_a_whole() -> None:
    line = f'2026-11-29T10:00:00 INFO {"worked " * 6}token=A1b2C3d4\n'
    redacted = redact(line * 20_000)
    assert redacted == line.replace('A1b2C3d4', '***') * 20_000


def test_a_key_at_any_place_of_a_long_line_is_found() -> None:
    key = 'xapp-1-FAKE' + 'A1' * 200 + '-1-' + 'b2' * 250
    for before in (0, 3_000, 30_000):
        for after in (0, 3_000, 30_000):
            text = f'{"sk " * (before // 3)} {key} {"s. " * (after // 3)}'
            assert 'b2b2' not in redact(text)
