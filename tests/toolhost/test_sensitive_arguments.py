"""Tests of sensitive arguments that the exception or the error of a tool quotes."""

import asyncio
import base64
import io
import json
import logging
import re
import subprocess
import urllib.parse
from collections.abc import Callable

import msgspec
import pytest

from seamwise import Category, Cause, Failure, Result, Secret, TaggedError
from seamwise.catalog.tools import InvalidParameter
from seamwise.redaction.call_values import CallValues, sensitive_texts
from seamwise.redaction.settings import CALL_VALUES, Settings, current
from seamwise.seams import cli, log, planner
from seamwise.seams.cli.tables import TOOLS
from seamwise.seams.model import on
from seamwise.seams.reporting.tool_outcome import tool_defect
from seamwise.seams.session import tables as session_tables
from seamwise.toolhost import Processor, ToolLimits, ToolOutcome, formats, tool

VALUE = "Zebra Quökka/7'741"
ENCODINGS: dict[str, Callable[[str], str]] = {
    'text': str,
    'repr': repr,
    'JSON': lambda value: json.dumps({'a': value}),
    'JSON with letters': lambda value: json.dumps([value], ensure_ascii=False),
    'bytes': lambda value: repr(value.encode()),
    'path': urllib.parse.quote,
    'query': lambda value: urllib.parse.urlencode({'q': value}),
    'component': lambda value: re.sub(
        '%..', lambda match: match[0].lower(), urllib.parse.quote(value + '/x', safe='')
    ),
    'base64': lambda value: base64.b64encode(value.encode()).decode(),
    'base64 behind a name': lambda value: base64.b64encode(f'ann:{value}'.encode()).decode(),
    'base64 for URLs': lambda value: base64.urlsafe_b64encode(f'a:{value}:b'.encode()).decode(),
}


class Bank(
    TaggedError,
    namespace='tests.sensitive_arguments',
    category=Category.EXECUTION,
    message='The bank refused: {reason}.',
):
    reason: str
    codes: tuple[str, ...] = ()
    cause: Cause | None = None


def _message(text: str) -> None:
    raise RuntimeError(f'refused {text}')


def _known_kind(text: str) -> None:
    raise ConnectionError(f'refused {text}')


def _key(text: str) -> None:
    raise KeyError(text)


def _note(text: str) -> None:
    error = RuntimeError('refused')
    error.add_note(text)
    raise error


def _cause(text: str) -> None:
    raise RuntimeError('refused') from ValueError(text)


def _group(text: str) -> None:
    raise ExceptionGroup('refused', [ValueError(text)])


def _file_name(text: str) -> None:
    raise FileNotFoundError(2, 'No such file', text)


def _command(text: str) -> None:
    raise subprocess.CalledProcessError(1, ['login', text], output=text)


def _attribute(text: str) -> None:
    error = RuntimeError('refused')
    error.value = text  # type: ignore[attr-defined]  # as libraries do
    raise error


CARRIERS = [_message, _known_kind, _key, _note, _cause, _group, _file_name, _command, _attribute]


@tool
def sign_in(carrier: int, encoding: str, password: str) -> Result[str, Bank]:
    """Sign in."""
    text = ENCODINGS[encoding](password)
    if carrier == -1:
        return Failure(Bank(f'code {text}', (text,)))
    if carrier == -2:
        return Failure(Bank('code', (), ValueError(text)))
    CARRIERS[carrier](text)
    return Failure(Bank('unreachable'))


MODEL = formats.TOOL_GUIDANCE | on(Bank).guides('execution_error', suggestion='Ask.')


def emitted(arguments: dict[str, object], function: object = sign_in) -> tuple[str, str]:
    """Return the text of everything that a call emits, and the message of its failure."""
    lines = io.StringIO()
    handlers = [logging.StreamHandler(lines), logging.StreamHandler(lines)]
    handlers[0].setFormatter(log.JsonFormatter())
    handlers[1].setFormatter(logging.Formatter('%(message)s %(__dict__)s'))
    logger = logging.getLogger('seamwise')
    before = logger.handlers, logger.propagate
    logger.handlers, logger.propagate = [*handlers], False

    async def run() -> ToolOutcome[TaggedError]:
        async with Processor(function, on_outcome=log.outcomes(logger)) as processor:  # type: ignore[arg-type]  # any tool
            [outcome] = await processor.run([{'name': 'sign_in', 'arguments': arguments}])
        return outcome

    try:
        outcome = asyncio.run(run())
        error = outcome.result.failure()
        terminal = io.StringIO()
        table = TOOLS | cli.on(Bank).exits(1)
        cli.report(Failure(error), table, stdout=terminal, stderr=terminal)  # type: ignore[arg-type]  # as above
        texts = [terminal.getvalue(), repr(error), repr(getattr(error, 'cause', None))]
        texts.append(str(formats.answer(outcome, format='openai', model=MODEL)))  # type: ignore[arg-type]  # as above
        defect = tool_defect(error)
        if defect is not None:
            texts.append(repr(vars(defect)))
        if not isinstance(error, Bank):
            texts.append(planner.encode(planner.tables.TOOLS(error)).decode())  # type: ignore[arg-type]  # as above
            texts.append(repr(session_tables.TOOLS(error)))  # type: ignore[arg-type]  # as above
    finally:
        logger.handlers, logger.propagate = before
    return '\n'.join([lines.getvalue(), *texts]), str(error)


def leaks(text: str) -> list[str]:
    return [name for name, encode in ENCODINGS.items() if encode(VALUE).strip('"\'[]') in text]


@pytest.mark.parametrize('encoding', ENCODINGS)
@pytest.mark.parametrize('carrier', range(-2, len(CARRIERS)))
def test_nothing_that_a_call_emits_shows_a_sensitive_argument(carrier: int, encoding: str) -> None:
    text, _ = emitted({'carrier': carrier, 'encoding': encoding, 'password': VALUE})
    assert not leaks(text)
    assert 'Quökka' not in text
    assert '***' in text


def test_other_texts_of_an_error_stay() -> None:
    text, message = emitted({'carrier': -1, 'encoding': 'text', 'password': VALUE})
    assert message == 'The bank refused: code ***.'
    assert 'sign_in' in text


def test_a_short_value_is_not_masked() -> None:
    _, message = emitted({'carrier': -1, 'encoding': 'text', 'password': 'code1'})
    assert message == 'The bank refused: code code1.'


class Login(msgspec.Struct):
    api_key: str
    user: str


def test_values_are_sensitive_by_name_and_by_type_at_any_depth() -> None:
    arguments = {
        'login': Login('api-key-1', 'ann-user'),
        'nested': [{'password': ['inner-password']}],
        'plain': (Secret('in-a-secret'), 'plain text'),
        'token': b'bytes-of-token',
        'query': 'select everything',
    }
    assert {*sensitive_texts(arguments)} == {
        'api-key-1',
        'inner-password',
        'in-a-secret',
        'bytes-of-token',
    }


def test_the_values_of_a_call_end_with_it() -> None:
    emitted({'carrier': 0, 'encoding': 'text', 'password': VALUE})
    assert CALL_VALUES.get() is None
    assert current() is current()


def test_the_values_of_an_inner_call_add_to_those_around_it() -> None:
    outer = CallValues(['outer-value'], Settings())
    inner = CallValues(['inner-value'], outer.settings)
    text = 'outer-value and inner-value'
    assert len(inner.settings.also_patterns) == 2
    assert inner.mask(text) == 'outer-value and ***'


@tool
def log_in(user: str, phrase: Secret[str], pin: Secret[int] | None = None) -> int:
    """Log in.

    phrase: A phrase.
    """
    if user == 'nobody':
        raise RuntimeError(f'{user} has no {phrase.reveal()}')
    return len(phrase.reveal()) + (0 if pin is None else pin.reveal())


def test_a_secret_is_a_parameter_of_the_type_inside() -> None:
    properties: dict[str, object] = log_in.input_schema['properties']  # type: ignore[assignment]  # JSON
    assert properties['phrase'] == {'type': 'string', 'description': 'A phrase.'}
    assert properties['pin'] == {
        'anyOf': [{'type': 'integer'}, {'type': 'null'}],
        'default': None,
    }
    bound = log_in.bind({'user': 'ann', 'phrase': VALUE, 'pin': 2}).unwrap()
    assert bound.arguments['phrase'] == Secret(VALUE)
    assert bound.run() == len(VALUE) + 2
    error = log_in.bind({'user': 'ann', 'phrase': 7}).failure()
    assert isinstance(error, InvalidParameter)
    assert error.reason == 'must be a string, not an integer'


@tool(name='sign_in')
def sign_in_by_phrase(phrase: Secret[str]) -> int:
    """Sign in."""
    raise RuntimeError(f'no {phrase.reveal()}')


@tool(name='sign_in', isolated=ToolLimits(seconds=20))
def sign_in_elsewhere(password: str) -> int:
    """Sign in."""
    raise RuntimeError(f'no {password} {base64.b64encode(password.encode())!r}')


def test_a_secret_is_masked_under_any_name() -> None:
    text, _ = emitted({'phrase': VALUE}, sign_in_by_phrase)
    assert not leaks(text)


@pytest.mark.slow
def test_the_process_of_an_isolated_tool_masks_the_values_too() -> None:
    text, _ = emitted({'password': VALUE}, sign_in_elsewhere)
    assert not leaks(text)
    assert 'no ***' in text
