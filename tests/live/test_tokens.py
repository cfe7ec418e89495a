"""Tests of signed tokens, and of the places in which clients send them."""

import base64
import json
from collections.abc import Sequence

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import HTTPConnection

from seamwise import Failure, Secret, Success
from seamwise.catalog.access import Unauthenticated
from seamwise.live import Principal, signed_tokens
from seamwise.live.credentials import bearer_token
from seamwise.live.tokens import Tokens
from tests.live.stores.laboratory import Clock

SECRET = 'a random text of a good length for keys'  # noqa: S105 -- of the tests


def reason_of(tokens: Tokens, token: str) -> str | None:
    failure = tokens.verify(token)
    assert type(failure) is Failure
    error = failure.failure()
    assert isinstance(error, Unauthenticated)
    return error.reason


def connection(
    *, headers: Sequence[tuple[str, str]] = (), protocols: Sequence[str] | None = None
) -> HTTPConnection:
    kind = 'http' if protocols is None else 'websocket'
    encoded = [(name.encode(), value.encode('latin-1')) for name, value in headers]
    scope: dict[str, object] = {
        'type': kind,
        'headers': encoded,
        'path': '/',
        'query_string': b'token=abc',
    }
    if protocols is not None:
        scope['subprotocols'] = [*protocols]
    return HTTPConnection(scope)


def test_a_token_is_for_a_session_or_for_all() -> None:
    tokens = signed_tokens(SECRET)
    assert tokens.verify(tokens.make('s-1')) == Success(Principal('s-1', 's-1'))
    assert tokens.verify(tokens.make()) == Success(Principal('all', None))


def test_processes_with_the_same_secret_accept_each_other() -> None:
    token = signed_tokens(SECRET).make('s-1')
    for secret in (SECRET.encode(), Secret(SECRET)):
        assert type(signed_tokens(secret).verify(token)) is Success
    assert reason_of(signed_tokens(SECRET + '!'), token) == 'the token is not valid'


def test_a_token_expires() -> None:
    clock = Clock()
    tokens = signed_tokens(SECRET, clock=clock)
    token = tokens.make('s-1', seconds=60.0)
    clock.now += 59.0
    assert type(tokens.verify(token)) is Success
    clock.now += 1.0
    assert reason_of(tokens, token) == 'the token has expired'


def test_a_token_is_valid_for_an_hour_by_default() -> None:
    clock = Clock()
    tokens = signed_tokens(SECRET, clock=clock)
    token = tokens.make()
    clock.now += 3599.0
    assert type(tokens.verify(token)) is Success
    clock.now += 1.0
    assert reason_of(tokens, token) == 'the token has expired'


def encode(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b'=').decode()


def test_forged_tokens_are_refused() -> None:
    tokens = signed_tokens(SECRET)
    token = tokens.make('s-1')
    header, payload, signature = token.split('.')
    claims = jwt.decode(token, options={'verify_signature': False})
    for forged in [
        '',
        '..',
        'x',
        token + 'x',
        token[:-2],
        f'{header}.{payload}.',
        f'{header}.{encode({**claims, "session": "s-2"})}.{signature}',
        f'{encode({"alg": "none"})}.{payload}.',
        f'{encode({"alg": "none"})}.{payload}.{signature}',
        f'{encode({"alg": "HS512"})}.{payload}.{signature}',
        # The key of the tokens is not the secret itself.
        jwt.encode(claims, SECRET, 'HS256'),
        'ü' * 10,
        '\ud800',
    ]:
        assert reason_of(tokens, forged) == 'the token is not valid'
    assert reason_of(tokens, 'x' * 5000) == 'the token is too long'


@pytest.mark.parametrize(
    'change',
    [
        {'aud': 'another'},
        {'aud': None},
        {'exp': None},
        {'exp': 'soon'},
        {'iat': None},
        {'sub': None},
        {'session': 7},
        {'session': None},
    ],
)
def test_tokens_with_other_claims_are_refused(change: dict[str, object]) -> None:
    tokens = signed_tokens(SECRET)
    claims = {**jwt.decode(tokens.make('s-1'), options={'verify_signature': False}), **change}
    if change == {'session': None}:
        claims['session'] = None
    else:
        claims = {name: value for name, value in claims.items() if value is not None}
    key = tokens._key.reveal()
    assert reason_of(tokens, jwt.encode(claims, key, 'HS256')) == 'the token is not valid'


@given(st.text(max_size=200))
def test_no_text_is_accepted_or_raises(text: str) -> None:
    assert type(signed_tokens(SECRET).verify(text)) is Failure


def test_a_token_and_the_secret_are_in_no_message() -> None:
    tokens = signed_tokens(SECRET)
    assert SECRET not in repr(tokens)
    assert 'secret token' not in repr(tokens.verify('a secret token'))
    assert tokens._key.reveal().hex() not in repr(vars(tokens))


@pytest.mark.parametrize(
    ('secret', 'error', 'message'),
    [
        ('short', ValueError, 'secret must have 16 bytes or more, not 5'),
        ('', ValueError, '16 bytes or more'),
        (None, TypeError, 'secret must be a text or bytes, not NoneType'),
        (7, TypeError, 'not int'),
    ],
)
def test_a_weak_secret_is_refused(secret: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        signed_tokens(secret)


@pytest.mark.parametrize(
    ('arguments', 'error', 'message'),
    [
        ({'session': ''}, ValueError, 'omit it for a token for all sessions'),
        ({'session': 7}, TypeError, 'session must be a text or None, not int'),
        ({'seconds': 0.0}, ValueError, 'seconds must be'),
        ({'seconds': float('nan')}, ValueError, 'seconds must be'),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        signed_tokens(SECRET).make(**arguments)  # type: ignore[arg-type]  # wrong calls


def test_a_token_is_read_from_the_header_or_a_subprotocol_and_never_from_the_url() -> None:
    def read(*headers: tuple[str, str], protocols: Sequence[str] | None = None) -> str | None:
        return bearer_token(connection(headers=headers, protocols=protocols).scope)

    assert read(('Authorization', 'Bearer abc')) == 'abc'
    assert read(('authorization', 'bearer  abc ')) == 'abc'
    assert read(protocols=['seamwise.v1', 'token.abc']) == 'abc'
    assert read(('Authorization', 'Bearer abc'), protocols=['token.abc']) == 'abc'
    for nothing in [
        read(),
        read(protocols=[]),
        read(('Authorization', 'Basic abc')),
        read(('Authorization', 'Bearer ')),
        read(('Authorization', 'Bearer')),
        read(('Cookie', 'token=abc')),
        read(protocols=['token.', 'seamwise.v1']),
        # Which of them is meant?
        read(('Authorization', 'Bearer abc'), ('Authorization', 'Bearer def')),
        read(('Authorization', 'Bearer abc'), protocols=['token.def']),
        read(protocols=['token.abc', 'token.def']),
    ]:
        assert nothing is None


def test_tokens_authorize_connections() -> None:
    tokens = signed_tokens(SECRET)
    header = ('Authorization', f'Bearer {tokens.make("s-1")}')
    assert tokens(connection(headers=[header])) == Success(Principal('s-1', 's-1'))
    protocols = ['seamwise.v1', f'token.{tokens.make()}']
    assert tokens(connection(protocols=protocols)) == Success(Principal('all'))
    assert tokens(connection()) == Failure(Unauthenticated('Bearer'))
