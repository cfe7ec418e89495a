"""Tests of the redaction of statements of SQL and of the parameters that a log prints."""

import pytest

from seamwise import redact
from seamwise.redaction.settings import Settings
from seamwise.redaction.sql import secret_parameters

INSERT = 'INSERT INTO users (name, password) VALUES (?, ?)'
INSERT_OF_THREE = 'INSERT INTO users (name, born, password) VALUES (?, ?, ?)'
INSERT_OF_KEYS = 'INSERT INTO users (name, password) VALUES (%(n)s, %(p)s)'
INSERT_OF_NUMBERS = 'INSERT INTO users (password, name) VALUES ($1, $2)'
SELECT = 'SELECT id FROM users WHERE token = %s AND name IN %s'

SECRET = [
    # Literals.
    ("SELECT password::text FROM users WHERE token = 'FAKE-1'::text", 'FAKE-1'),
    ("INSERT INTO t (name) VALUES ('Oslo'); INSERT INTO t (token) VALUES ('FAKE-1')", 'FAKE-1'),
    ("UPDATE users SET n = 5, password = 'FAKE-1' WHERE id = 77", 'FAKE-1'),
    ("UPDATE users SET password = hash('FAKE-1', 'bf') WHERE id = 1", 'FAKE-1'),
    ('INSERT INTO users (id, pin) VALUES (7, 48151)', '48151'),
    # One row.
    (f"{INSERT} [parameters: ('ann', 'FAKE-1')]", 'FAKE-1'),
    (f"{INSERT} [parameters: ('ann', b'FAKE-1')]", 'FAKE-1'),
    (f"{INSERT} [parameters: ('it\\'s', 'FAKE-1')]", 'FAKE-1'),
    (f"{INSERT}; args=['ann', 'FAKE-1']; alias=default", 'FAKE-1'),
    (f'{INSERT} -- params: ["ann", "FAKE-1"]', 'FAKE-1'),
    ('UPDATE t SET token = :p WHERE id = :id -- params: {"p": "FAKE-1", "id": 4}', 'FAKE-1'),
    (f"{INSERT}, params: ('ann', UUID('FAKE-1'))", "UUID('FAKE-1')"),
    (f"{INSERT}, params: ('ann', ['FAKE-1', 'b'])", "['FAKE-1', 'b']"),
    # A parameter that is a call or a container has one position.
    (f"{INSERT_OF_THREE} [parameters: ('ann', datetime.date(2024, 1, 31), 'FAKE-1')]", 'FAKE-1'),
    (f"{INSERT_OF_THREE} [parameters: ('ann', ['a', 'b'], 'FAKE-1')]", 'FAKE-1'),
    (f"{INSERT_OF_THREE} [parameters: ('ann', {{'a': 1, 'b': 2}}, 'FAKE-1')]", 'FAKE-1'),
    (f"{INSERT_OF_THREE}; args=('ann', Decimal('1.5'), 'FAKE-1')", 'FAKE-1'),
    (f"{SELECT}; args=('FAKE-1', ('ann', 'bob'))", 'FAKE-1'),
    ("SELECT id FROM t WHERE n IN %s AND token = %s; args=(('ann', 'bob'), 'FAKE-1')", 'FAKE-1'),
    # Several rows.
    (f"{INSERT}; args=(('ann', 'FAKE-1'), ('bob', 'FAKE-1'))", 'FAKE-1'),
    (f"{INSERT} [parameters: [('ann', 'FAKE-1'), ('bob', 'FAKE-1')]]", 'FAKE-1'),
    (
        (
            f"{INSERT_OF_THREE} [parameters: [('ann', Decimal('1'), 'FAKE-1'),"
            " ('bob', None, 'FAKE-1')]]"
        ),
        'FAKE-1',
    ),
    (
        (
            f"{INSERT} [parameters: [('ann', 'FAKE-1')  ... displaying 10 of 1000 total bound"
            " parameter sets ...  ('bob', 'FAKE-1')]]"
        ),
        'FAKE-1',
    ),
    # Mappings, in any order.
    (f"{INSERT_OF_KEYS} [parameters: {{'p': 'FAKE-1', 'n': 'ann'}}]", 'FAKE-1'),
    (f"{INSERT_OF_KEYS} [parameters: {{'n': 'ann', 'p': 'FAKE-1'}}]", 'FAKE-1'),
    (
        (
            f"{INSERT_OF_KEYS} [parameters: [{{'n': 'ann', 'p': 'FAKE-1'}},"
            " {'p': 'FAKE-1', 'n': 'bob'}]]"
        ),
        'FAKE-1',
    ),
    # Parameters that are omitted: those after them are counted from the end.
    (
        (
            'INSERT INTO t (token, a, b) VALUES (?, ?, ?), (?, ?, ?)\n'
            "[parameters: ('FAKE-1', 'a', 'b' ... 94 parameters truncated ... 'FAKE-1', 'y', 'z')]"
        ),
        'FAKE-1',
    ),
    (
        (
            'INSERT INTO t (token, a, b) VALUES (?, ?, ?)\n'
            "[parameters: ( ... 94 parameters truncated ... 'z', 'FAKE-1', 'y', 'z')]"
        ),
        'FAKE-1',
    ),
    # A container that is cut off.
    (f"{INSERT} [parameters: ('ann', 'FAKE-1'", 'FAKE-1'),
    (f"{INSERT} [parameters: ('ann', 'FAKE-1'\n{INSERT} [parameters: ('bob', 'FAKE-1')]", 'FAKE-1'),
    (f"{INSERT} [parameters: [('ann', 'FAKE-1'), ('bob', 'FAKE-1'", 'FAKE-1'),
    # Numbered parameters of PostgreSQL.
    (f"{INSERT_OF_NUMBERS}\nDETAIL:  parameters: $1 = 'FAKE-1', $2 = 'ann', $3 = 'x'", 'FAKE-1'),
    (f"{INSERT_OF_NUMBERS}\nDETAIL:  parameters: $1 = 48151, $2 = 'ann'", '48151'),
    (f"{INSERT_OF_NUMBERS}\nDETAIL:  parameters: $1 = 'FAKE''s\n1', $2 = 'ann'", "FAKE''s\n1"),
    (f"{INSERT_OF_NUMBERS}\nDETAIL:  parameters: $1 = 'FAKE-1 cut off", 'FAKE-1 cut off'),
    # A clause outside of the list of columns.
    (
        (
            'INSERT INTO users (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET password = ?,'
            " n = ? [parameters: ('ann', 'FAKE-1', 5)]"
        ),
        'FAKE-1',
    ),
]

KEPT = [
    "INSERT INTO cities (name, country) VALUES ('Oslo', 'Norway') -- WHERE password",
    "INSERT INTO cities (name) VALUES (?) [parameters: ('Oslo',)] without a password",
    "INSERT INTO users (id, password) VALUES (7, '***')",
    'SELECT id, password FROM users LIMIT 1234 OFFSET 5',
    'SELECT password, 1234 FROM users',
    "SELECT password FROM users WHERE name = %s; args=('ann',); alias=default",
    "SELECT password FROM users; args=('ann',); alias=default",
    f"{INSERT} [parameters: ('ann', '')]",
    f"{INSERT} [parameters: ('ann', None)]",
    f"{INSERT} [parameters: ('ann', '***')]",
    f'{INSERT} [parameters: None]',
    f"{INSERT_OF_NUMBERS}\nDETAIL:  parameters: $1 = NULL, $2 = 'ann', $3 = 'x'",
    f"{INSERT_OF_NUMBERS}\nDETAIL:  parameters: $1 = '***'\nSELECT 1\nparameters: $1 = 'x'",
]


@pytest.mark.parametrize(('text', 'secret'), SECRET)
def test_only_the_value_of_a_sensitive_column_is_masked(text: str, secret: str) -> None:
    redacted = redact(text)
    assert redacted == text.replace(secret, '***')
    assert redact(redacted) == redacted


@pytest.mark.parametrize('text', KEPT)
def test_other_values_of_a_statement_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ('statement', 'parameters', 'secrets'),
    [
        (INSERT, ('ann', 'x'), ['x']),
        (INSERT, ['ann', 'x'], ['x']),
        (INSERT, [('ann', 'x'), ('bob', 'y')], ['x', 'y']),
        (INSERT, [['ann', 'x'], ['bob', 'y']], ['x', 'y']),
        (f'{INSERT}, (?, ?)', ('ann', 'x', 'bob', 'y'), ['x', 'y']),
        (INSERT_OF_KEYS, {'p': 'x', 'n': 'ann', 'other': 1}, ['x']),
        (INSERT_OF_KEYS, [{'p': 'x', 'n': 'ann'}, {'n': 'bob', 'p': 'y'}], ['x', 'y']),
        (INSERT_OF_NUMBERS, {'1': 'x', '2': 'ann'}, ['x']),
        (INSERT_OF_NUMBERS, {1: 'x', 2: 'ann'}, ['x']),
        ('UPDATE users SET token = :t WHERE name = :n', {'t': 'x', 'n': 'ann'}, ['x']),
        (INSERT, [], []),
        (INSERT, None, []),
        (INSERT, 'ann', []),
        ('SELECT password FROM users', ('ann',), []),
        ('SELECT name FROM users WHERE id = ?', ('ann',), []),
    ],
)
def test_the_parameters_of_sensitive_columns_are_found(
    statement: str, parameters: object, secrets: list[object]
) -> None:
    assert [*secret_parameters(statement, parameters, Settings())] == secrets
