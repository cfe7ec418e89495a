"""Tests of secrets and innocent texts that only the words around them tell apart."""

import pytest

from seamwise import redact
from seamwise.redaction.rules import around

KEY = 'fA3kQ9mX7vB1nC8pL5sD0wE'
HEX = '9f86d081884c7d659a2feaa0c55ad015'

SECRET = [
    # A random text beside words about a key.
    (f"cohere.Client('{KEY}')", KEY),
    (f"client = Client(account, '{HEX}')  # auth token", HEX),
    (f'confluent api-key store ABCDEF {KEY}', KEY),
    (f'x api key {HEX} y', HEX),
    (f'token {KEY} revoked', KEY),
    (f'{KEY} is the token of ann', KEY),
    (f'export BW_SESSION="{KEY}"', KEY),
    (f"'crypt' => ['key' => '{HEX}']", HEX),
    # The first name in a line need not be the sensitive one.
    ('key 7 has an invalid value: var.admin_password is "FAKE-1"', 'FAKE-1'),
    # A user and a password.
    ('tool login -u ann -p Kohl_Dampf8', 'Kohl_Dampf8'),
    ('login=ann:Kohl_Dampf8', 'Kohl_Dampf8'),
    ('Basic auth failed for ann:Kohl_Dampf8', 'Kohl_Dampf8'),
    # A name and its value without a sign, with a type, or as arguments.
    ('set passwd ENC SH2eeLBut3bk', 'SH2eeLBut3bk'),
    ('pre_shared_key ascii-text "$9$kzukd1s7"', '$9$kzukd1s7'),
    ('const api_key: []const u8 = "Kohl_Dampf8";', 'Kohl_Dampf8'),
    ("database('db', 'u', 'password', 'Kohl_Dampf8')", 'Kohl_Dampf8'),
    ("page.getByLabel('Password').fill('Kohl_Dampf8')", 'Kohl_Dampf8'),
    ("smtp.password must be int, not 'Kohl_Dampf8'", 'Kohl_Dampf8'),
    ('userPassword:: e1NTSEF92ebSKWvV', 'e1NTSEF92ebSKWvV'),
    ('appcmd set x /processModel.password:Kohl_Dampf8', 'Kohl_Dampf8'),
    ('auth: sommer', 'sommer'),
    # JSON under a name.
    ('"secrets": [{"name": "db", "note": "Kohl_Dampf8"}]', 'Kohl_Dampf8'),
    ('see [{"name": "db"}], password = {"value": "Kohl_Dampf8"}', 'Kohl_Dampf8'),
]

INNOCENT = [
    # A name whose last word says that it is no secret.
    'PasswordCheckPool: 4 workers, 17 passwords checked in 0.8 s',
    'PASSWORD_HASHERS = [\n    "django.contrib.auth.hashers.Argon2PasswordHasher",\n]',
    'RefreshTokenValidity: 30',
    'SecretClient: downloaded 3 secrets',
    'auth: user ann logged in',
    # Prose after a name.
    'Password: at least 14 characters; Rotation: every 180 days',
    "hardcoded password: function argument 'token_url'",
    'jwt: malformed token',
    '<QuerySet [<Token: token 4 of kat>]>',
    'pam_unix(passwd:chauthtok): password changed',
    'aws:secretsmanager:Secret: (create) name: "db"',
    # References and code.
    "CREATE ROLE app LOGIN PASSWORD :'app_password';",
    'mutation M($token: String!) { reset(token: $token) { ok } }',
    '- (void)setPassword:(NSString *)password forAccount:(NSString *)account;',
    'while ((token = strtok_r(NULL, " ", &save)) != NULL) n++;',
    'getLine >>= \\password -> authenticate user password',
    '    token = = 3',
    'client.get_secret_value(SecretId="prod/db")',
    "password: !Sub '{{resolve:secretsmanager:${Db}:SecretString:password}}'",
    "valid inputs are ['token', 'files', 'flags']",
    'GET /keys?next_token= HTTP/1.1',
    'Set-Cookie: session=; path=/',
    '|_http-auth: Basic realm=Router',
    'token:*',
    # Other random texts.
    f'commit {HEX} fixes the token',
    f'token trace_id={HEX}',
    f'public_key: {KEY}',
    f'{HEX}   db_password   3 days ago',
    '0xdAC17F958D2ee523a2206206994597C13D831ec7 is the USDT token',
    'docker run -u 1000 -p 8080:80 -w /app nginx',
    # JSON whose leaves are kept.
    '"spring.datasource.password": {"value": "******"}',
    '"secrets": [{"name": "DB_PASSWORD", "valueFrom": "arn:aws:ssm:eu-west-1:1:parameter/x"}]',
    '{"token": " Paris", "logprob": -0.1}',
    '1 error for A\npage_token\n  Should be None [type=a, input_value=3, input_type=int]',
]


@pytest.mark.parametrize(('text', 'secret'), SECRET)
def test_a_secret_is_known_by_the_words_around_it(text: str, secret: str) -> None:
    assert secret not in redact(text)


@pytest.mark.parametrize('text', INNOCENT)
def test_a_text_about_a_secret_is_kept(text: str) -> None:
    assert redact(text) == text


def test_a_long_text_is_searched_around_the_keywords_of_a_rule() -> None:
    filler = 'The weather is fine today.\n' * 2_000
    text = (
        f'{filler}redis-cli -a hunter2xyz ping\n{filler}mysql -u root -phunter3xyz shop\n{filler}'
    )
    assert redact(text) == text.replace('hunter2xyz', '***').replace('hunter3xyz', '***')
    parts = around(['redis-cli', 'mysql'], text, text.lower())
    assert [text[slice(*part)].count('hunter') for part in parts] == [1, 1]
    # Parts that overlap are one.
    parts = around(['redis-cli', '-a ', 'mysql'], text, text.lower())
    assert [text[slice(*part)].count('hunter') for part in parts] == [1, 1]


def test_a_long_text_with_a_keyword_everywhere_is_searched_as_a_whole() -> None:
    text = 'mysql -u root -phunter2xyz shop\n' * 2_000
    assert around(['mysql'], text, text) == [(0, len(text))]
    assert 'hunter2xyz' not in redact(text)
    assert around(['x'], 'İ' * 30_000, ('İ' * 30_000).lower()) == [(0, 30_000)]


def test_a_secret_longer_than_the_part_around_its_keyword_is_masked_to_its_end() -> None:
    line = 'A' * 60
    text = 'x\n' * 15_000 + 'Private-Lines: 90\n' + f'{line}\n' * 90 + 'end\n' + 'x\n' * 15_000
    assert line not in redact(text)


def test_many_lines_of_prose_are_decided_one_by_one() -> None:
    text = '\n'.join(f'password: must have {number} characters' for number in range(600))
    assert redact(text) == text
