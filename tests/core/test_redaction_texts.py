"""Tests of the redaction of texts: credentials by form, values by name, and JSON."""

import pytest

from seamwise import redact
from seamwise.redaction import redact_and_count, redact_part

BY_FORM = [
    ('-----BEGIN PRIVATE KEY-----\nRkFLRUZBS0U=', '***'),
    ('key "-----BEGIN RSA PRIVATE KEY-----\\nRkFLRUZBS0U" and more', 'key "***" and more'),
    (
        (
            '-----BEGIN A KEY-----\nRkFLRQ==\n-----END A KEY-----\nand '
            '-----BEGIN B KEY-----\nRkFLRQ==\n-----END B KEY-----\nkept'
        ),
        '***\nand ***\nkept',
    ),
    (
        'kept, too\nRkFLRUZBS0VGQUtF\nRkFLRQ==\n-----END PRIVATE KEY-----\nkept',
        'kept, too\n***\nkept',
    ),
    ('RkFLRUZBS0VGQUtF\\nRkFLRQ==\\n-----END PRIVATE KEY-----', '***'),
    ('sk-ABCDEFGHIJKLMNOP1', '***'),
    ('eyJhbGciOiJIUzI1NiJ9.eyJGQUtFIjoxfQ.FAKE.', '***.'),
    ('Basic RkFLRTpGQUtF', 'Basic ***'),
    ('Basic RkFLRTpGQUt', 'Basic ***'),
    ('Basic FAKEx1FAKEx1FAKE', 'Basic ***'),
    ('Bearer FAKE1FAKE2', 'Bearer ***'),
    ('curl -u ann:FAKE https://x', 'curl -u ann:*** https://x'),
    ("curl --user 'ann:FA KE' x", "curl --user 'ann:***' x"),
    ('curl -u "ann:FA KE" x', 'curl -u "ann:***" x'),
    ('machine example.org login ann password FAKE', 'machine example.org login ann password ***'),
    ('https://ann:FA/KE@example.org/', 'https://***@example.org/'),
]

BY_NAME = [
    ('<password>FAKE</password>', '<password>***</password>'),
    ('mysql --password FAKE --user ann', 'mysql --password *** --user ann'),
    ('mysql --password "FAKE FAKE" x', 'mysql --password "***" x'),
    ('cmd --user ann --token FAKE', 'cmd --user ann --token ***'),
    ('password=FAKE', 'password=***'),
    ('password: FAKE FAKE\nuser: ann', 'password: ***\nuser: ann'),
    ('Server=x;Pwd=FAKE;Database=y', 'Server=x;Pwd=***;Database=y'),
    ('Database=y; pwd=FAKE', 'Database=y; pwd=***'),
    ('https://x/?sig=FAKE&a=b', 'https://x/?sig=***&a=b'),
    ('https://x/?a=b&X-Amz-Signature=FAKE', 'https://x/?a=b&X-Amz-Signature=***'),
    ('line\\npassword=FAKE', 'line\\npassword=***'),
    ('C:\\token=FAKE', 'C:\\token=***'),
    ('a%26token%3DFAKE%26b%3Dc', 'a%26token%3D***%26b%3Dc'),
    ("user['password'] = 'FAKE'", "user['password'] = '***'"),
    ('my "api key": "FAKE"', 'my "api key": "***"'),
    ('api key: FAKE', 'api key: ***'),
    ('Api Key = FAKE', 'Api Key = ***'),
    ('token == "FAKE"', 'token == "***"'),
    ("INSERT password='FA''KE' x", "INSERT password='***' x"),
    ('password="FAKE', 'password="***'),
    ('password=\\"FAKE\\" x', 'password=\\"***\\" x'),
    ("'password': FAKE, 'n': 1", "'password': '***', 'n': 1"),
    ("'password': ['FAKE', 'b'], 'n': 1", "'password': '***', 'n': 1"),
    ('token=(FAKE) x', 'token=*** x'),
    ('credentials: {a: FAKE', 'credentials: ***'),
    ("{'password': {'a': 'FA}KE'}, 'n': 1}", "{'password': '***', 'n': 1}"),
    ('password:\n  FAKE\n  FAKE2\nuser: ann', 'password: ***\nuser: ann'),
    ('secrets: |\n  FAKE\n\n  FAKE\nuser: ann', 'secrets: ***\nuser: ann'),
    ('token:\n  FAKE', 'token: ***'),
    ('a:\n  token:\n    FAKE\n  n: 1', 'a:\n  token: ***\n  n: 1'),
    ('Authorization: Bearer FAKE1', 'Authorization: Bearer ***'),
    ('Authorization: Custom FAKE', 'Authorization: ***'),
    ('Authorization: token FAKE', 'Authorization: token ***'),
    ('Cookie: a=FAKE; b=FAKE', 'Cookie: ***'),
    ('"Cookie: a=FAKE; b=FAKE" x', '"Cookie: ***" x'),
    ('-H "X-Api-Key: FAKE" x', '-H "X-Api-Key: ***" x'),
    ('token=FAKE&page=2', 'token=***&page=2'),
    ('token=FAKE, user=ann', 'token=***, user=ann'),
    ('password = FAKE FAKE', 'password = ***'),
    ('log: password = FAKE, x', 'log: password = ***, x'),
    ('-Dapp.token=FAKE x', '-Dapp.token=*** x'),
    ('--api-key=FAKE x', '--api-key=*** x'),
    ("'token=FAKE FAKE' x", "'token=***' x"),
    ("token='FAKE' x", "token='***' x"),
    ('token=(a"b") x', 'token=*** x'),
    ('password=FAKE.', 'password=***.'),
    ('(password=FAKE)', '(password=***)'),
    ('"password=FAKE\\", "n"', '"password=***\\", "n"'),
    ('password" : FAKE', 'password" : "***"'),
    ('"password": [1]" x', '"password": "***" x'),
]

IN_JSON = [
    ('{"token": {"a": {"b": ["FAKE"]}}, "n": 1}', '{"token": "***", "n": 1}'),
    ('{"password": {"min_length": 8, "x": "FAKE"}}', '{"password": "***"}'),
    ('{"password": {"x": 8}}', '{"password": "***"}'),
    ('{"value": "token=FAKE", "name": "api_key"}', '{"value": "***", "name": "api_key"}'),
    ('{"name": "pin", "value": 1234}', '{"name": "pin", "value": "***"}'),
    ('{"password": "FAKE', '{"password": "***'),
    ('{"a": 1, "password": {"b": "FAKE"', '{"a": 1, "password": "***"'),
    ('{"a": "x"} and {"token": "FAKE"}', '{"a": "x"} and {"token": "***"}'),
    ('{"secret": 7, "n": null}', '{"secret": "***", "n": null}'),
    ('{"a": ["--password", "FAKE"]}', '{"a": ["--password", "***"]}'),
    ('"password=FAKE"', '"password=***"'),
    ('{"a": "\\ud800 token=FAKE"}', '{"a": "\\ud800 token=***"}'),
    ('{"a": "x\\u00e9 token=FAKE\\u0', '{"a": "xé token=***'),
    ('{"token": ["a", {"token": "FAKE"}], "n": 1}', '{"token": "***", "n": 1}'),
    ('{"tok\\u0065n": "FAKE"}', '{"tok\\u0065n": "***"}'),
    ('[{"token": "FAKE"}, {"token": ""}]', '[{"token": "***"}, {"token": ""}]'),
    ('{not json "token": "FAKE"}', '{not json "token": "***"}'),
    ('{"a": "b"} password=FAKE', '{"a": "b"} password=***'),
    (
        '\ue000\ue001\uf8ff\U000f0000{"token": "FAKE"}',
        '\ue000\ue001\uf8ff\U000f0000{"token": "***"}',
    ),
    ('{"a": {"token": "FAKE"}}, ', '{"a": {"token": "***"}}, '),
    ('{"password": {"a": 1}} token=FAKE', '{"password": "***"} token=***'),
    ('{"token": [1, 2', '{"token": "***"'),
    ('{"a": "-u", "token": "x"}', '{"a": "-u", "token": "***"}'),
    ('["-u", "ann:FAKE"]', '["-u", "ann:***"]'),
    ('{"n": 1 token=FAKE', '{"n": 1 token=***'),
    ('{"loc": "body.token", "input": "FAKE"}', '{"loc": "body.token", "input": "***"}'),
    ('{"path": "\\/body\\/token", "input": 1}', '{"path": "\\/body\\/token", "input": "***"}'),
    (
        '[{"op": "add", "path": "/token", "value": "FAKE"}, {"op": "test", "value": "x"}]',
        '[{"op": "add", "path": "/token", "value": "***"}, {"op": "test", "value": "x"}]',
    ),
    (
        '{"op": "replace", "path": "/credentials", "value": {"a": "FAKE"}}',
        '{"op": "replace", "path": "/credentials", "value": "***"}',
    ),
    ('{"tokens": ["FAKE-1234", "the", 7]}', '{"tokens": ["***", "the", 7]}'),
    ('{"a": "line\\nBearer FAKE1FAKE2"}', '{"a": "line\\u000aBearer ***"}'),
]

PYDANTIC = '1 validation error for Login\n{}\n  Input should be valid [type=x, input_value={}'

APART = [
    # The message is cut off before the type.
    (PYDANTIC.format('pin', '48151'), PYDANTIC.format('pin', '***')),
    (PYDANTIC.format('token', "'FAKE-1"), PYDANTIC.format('token', "'***")),
    (PYDANTIC.format('token', "{'a': 'FAKE-1"), PYDANTIC.format('token', '***')),
    # The name of the last value is cut off.
    (
        PYDANTIC.format('user', "{'name': 'ann', 'passwor...FAKE-1'}, input_type=dict]"),
        PYDANTIC.format('user', "{'name': 'ann', 'passwor...***'}, input_type=dict]"),
    ),
    # The message of jsonschema begins with the value.
    (
        "'FAKE-1 x' is too long\n\nOn instance['token']:\n    'FAKE-1 x'",
        "'***' is too long\n\nOn instance['token']:\n    '***'",
    ),
    (
        "'b' is no token\n\nOn instance['user']:\n    'b'\n\nOn instance['token']:\n    'FAKE-1'",
        "'b' is no token\n\nOn instance['user']:\n    'b'\n\nOn instance['token']:\n    '***'",
    ),
    (
        "No '5x'\nStructuring A @ attribute size\nNo 'FAKE-1'\nStructuring A @ attribute token",
        "No '5x'\nStructuring A @ attribute size\nNo '***'\nStructuring A @ attribute token",
    ),
]

ENCODED = [
    ('token\\033[0m: \\033[31mFAKE-1\\033[0m', 'token\\033[0m: \\033[31m***\\033[0m'),
    ('token\\e[0m: \\e[31mFAKE-1\\e[0m', 'token\\e[0m: \\e[31m***\\e[0m'),
    ('token\\x3dFAKE-1 \\x26 more', 'token\\x3d*** \\x26 more'),
]

KEPT = [
    'see -----BEGIN PRIVATE KEY-----   ',
    'a sentence here\n-----END PRIVATE KEY-----',
    'sk-learn-contrib-forest-of-trees',
    'eyJalone',
    'basic authentication is required',
    'Basic realm="x"',
    'Bearer tokens are',
    'docker run -u 1000:1000 x',
    'https://example.org:8080/a@b',
    '<password> </password>',
    '<user>ann</user>',
    'the --token option',
    'cmd --token-file /run/x',
    'token_store.py:42: x',
    'auth/token:42 x',
    'unexpected token: x',
    'Unexpected token: }',
    'pwd=/home/ann',
    'PWD=/x',
    'sig=abc',
    'if token == other',
    'password=***',
    'password: ***, user',
    'password=none',
    'token = ,',
    'password:',
    'password=""',
    'API_KEY= HOME=/root',
    'def f(password: str)',
    '[1, 2',
    '{"token": null}',
    '[["password", "is too short"], ["a", "b"]]',
    '[["password", null], ["a", "b"]]',
    '{"name": "password", "value": true}',
    '{"name": "DB_PASSWORD", "value": ""}',
    '{"password": {"min_length": 8, "errors": ["is too short"]}}',
    'pass=12 fail=0',
    "unexpected token 'ab12'",
    'token 128000 exceeds the limit',
    'the token prod/db',
    'properties:\n  password:\n    type: string\n    minLength: 8',
    'connect(password=password)',
    'self.token = token',
    '  -p, --password  a password',
    'mysql -p shop',
    '{"password": true}',
    '{"tokens": ["the", "cat", 7]}',
    '{"path": "/oauth/token", "value": "x"}',
    '{"op": "add", "path": "/token_count", "value": 7}',
    '{"op": "remove", "path": "/token"}',
    PYDANTIC.format('token_count', '48151'),
    PYDANTIC.format('token', ', input_type=str]'),
    PYDANTIC.format('user', "{'name': 'ann', 'a...': 'password'}, input_type=dict]"),
    'token\\033[0m is \\033[31mred\\033[0m',
]


@pytest.mark.parametrize(('text', 'redacted'), [*BY_FORM, *BY_NAME, *IN_JSON, *APART, *ENCODED])
def test_only_the_secret_in_a_text_is_masked(text: str, redacted: str) -> None:
    assert redact(text) == redacted
    assert redact(redacted) == redacted


@pytest.mark.parametrize('text', KEPT)
def test_a_text_without_a_secret_is_unchanged(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize('name', ['Cookie', 'Authorization', 'Set-Cookie'])
@pytest.mark.parametrize(
    'value', ['"a"=1; sid={}', '(x) sid={}', '{{a}}; sid={}', '[a] {}', '"x" {}']
)
def test_a_header_that_begins_with_a_quote_or_bracket_is_masked_to_its_end(
    name: str, value: str
) -> None:
    line = f'{name}: {value.format("FAKE-hunter2")}'
    assert redact(f'GET /\n{line}\nHost: a') == f'GET /\n{name}: ***\nHost: a'
    assert redact(f"curl -H '{line}' x") == f"curl -H '{name}: ***' x"


def test_a_quoted_value_at_the_end_of_a_line_keeps_its_quotes() -> None:
    assert redact('cookie: "abc"\nnext: 1') == 'cookie: "***"\nnext: 1'
    assert redact('{cookie: "abc", user: "ann"}') == '{cookie: "***", user: "ann"}'


def test_both_values_of_a_change_are_masked() -> None:
    assert redact('password = "Old-1" -> "New-2"') == 'password = "***" -> "***"'
    assert redact('token: "Old-1" -> null') == 'token: "***" -> null'
    assert redact('token: "Old-1" -> (known after apply)') == (
        'token: "***" -> (known after apply)'
    )


def test_private_members_of_a_json_web_key_are_masked() -> None:
    key = '{"d": "FAKE-d", "kty": "EC", "x": "f83O", "oth": [{"d": 1}]'
    masked = key.replace('"FAKE-d"', '"***"')
    assert redact(f'{key}}}') == f'{masked}}}'
    assert redact(key) == masked
    assert redact({'kty': 'oct', 'k': 'FAKE-k', 'kid': '1'}) == {
        'kty': 'oct',
        'k': '***',
        'kid': '1',
    }
    assert redact('{"d": "left", "p": "top"}') == '{"d": "left", "p": "top"}'


def test_a_label_is_kept_and_a_password_of_the_same_form_is_masked() -> None:
    labels = {'password': '密码', 'passwort': 'Passwort', 'newPassword': 'Forgot password?'}
    assert redact(labels) == labels
    assert redact({'password': 'пароль', 'passwort': 'Sommer'}) == {
        'password': '***',
        'passwort': '***',
    }


def test_a_block_is_kept_only_if_it_describes_secrets() -> None:
    schema = 'token:\n  scopes:\n    read: all of it\n\n  type: string\nnext: 1'
    assert redact(schema) == schema
    assert redact('token:\n  scopes:\n    read: all\n  other: FAKE-1\nnext: 1') == (
        'token: ***\nnext: 1'
    )
    assert redact('token:\n  type: |\n    FAKE-1\nnext: 1') == 'token: ***\nnext: 1'


def test_a_variable_is_kept_in_code() -> None:
    for code in (
        'self.password = hashed_password',
        'const secret = clientSecret;',
        'login(user=ann, password=db_password)',
    ):
        assert redact(code) == code
    assert redact('password=my_password') == 'password=***'


def test_a_secret_is_masked_where_it_occurs_again_without_its_name() -> None:
    assert redact('bad key FAKE-1a2b: api_key=FAKE-1a2b') == 'bad key ***: api_key=***'
    assert redact_and_count('api_key=FAKE-1a2b, FAKE-1a2b') == ('api_key=***, ***', 2)
    # A word of the text and a part of a longer word stay.
    assert redact('sommer: password=sommer') == 'sommer: password=***'
    assert redact('xFAKE-1a2b: api_key=FAKE-1a2b') == 'xFAKE-1a2b: api_key=***'
    many = ', '.join(f'token{n}=FAKE-{n:04}' for n in range(20))
    redacted = redact(f'FAKE-0000 FAKE-0019 {many}')
    assert redacted[:13] == '*** FAKE-0019'


def test_a_part_of_a_text_has_no_repeated_secret() -> None:
    text = 'FAKE-1a2b is no api_key=FAKE-1a2b'
    assert redact_part(text, 0, 15) == '*** is no'


@pytest.mark.parametrize(
    ('text', 'masked'),
    [
        ("[{'loc': ('password',), 'msg': 'x'}]", "[{'loc': ('password',), 'msg': 'x'}]"),
        ('password = <<EOT\nFAKE-1a', 'password = <<EOT\n***'),
        (
            "parameters: $1 = 'ann', $2 = 'FAKE-1'\nSTATEMENT:  DELETE WHERE token = $2 AND a = ?",
            "parameters: $1 = 'ann', $2 = '***'\nSTATEMENT:  DELETE WHERE token = $2 AND a = ?",
        ),
        ('{"acl": {"tokens": {"agent": "fake-1a2b3c"}}}', '{"acl": {"tokens": {"agent": "***"}}}'),
        ('--api-tokens=FAKE1FAKE2FAKE3FAKE4', '--api-tokens=***'),
        ('[{"token": "the", "logprob": -0.1}]', '[{"token": "the", "logprob": -0.1}]'),
        ("{'token': 'the', 'start': 0}", "{'token': 'the', 'start': 0}"),
        ("{'token': ['a', 'b']}", "{'token': '***'}"),
        ("{'token': ['must not be empty']}", "{'token': ['must not be empty']}"),
        ('name,value\na,b\nDB_TOKEN,FAKE-1\n\n', 'name,value\na,b\nDB_TOKEN,***\n\n'),
        ('    go(token)\n       └ "FAKE-1"', '    go(token)\n       └ "***"'),
        ('    go(user)\n       └ token', '    go(user)\n       └ token'),
        ('       └ token=1', '       └ token=1'),
    ],
)
def test_values_apart_from_their_names(text: str, masked: str) -> None:
    assert redact(text) == masked
