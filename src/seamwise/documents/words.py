"""Words of the seams that are not names of error classes: codes, categories, events, statuses."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import get_args

from seamwise._errors.categories import Category, Recovery
from seamwise._text.phrases import join_limited, join_quoted
from seamwise.documents.shape import Note
from seamwise.seams.jsonrpc.codes import CODES as RPC_CODES
from seamwise.seams.model.shape import Kind
from seamwise.seams.planner.codes import ErrorCategory, ErrorCode
from seamwise.seams.session.codes import CODES as SESSION_CODES
from seamwise.seams.session.messages import STORED_NAMES
from seamwise.seams.session.shape import STRATEGIES, ErrorName


def notes_on(word: str) -> tuple[Note, ...]:
    """Return the meanings of a word; if no spelling matches exactly, case is ignored.

    >>> [note.role for note in notes_on('INTERNAL')]
    ['http code']
    """
    by_word, by_folded = _notes()
    return by_word.get(word) or by_folded.get(word.casefold(), ())


def noted_words() -> tuple[str, ...]:
    """Return all words with a meaning, in their usual spelling."""
    return tuple(_notes()[0])


@lru_cache(maxsize=1)
def _notes() -> tuple[Mapping[str, tuple[Note, ...]], Mapping[str, tuple[Note, ...]]]:
    by_word: defaultdict[str, tuple[Note, ...]] = defaultdict(tuple)
    by_folded: defaultdict[str, tuple[Note, ...]] = defaultdict(tuple)
    for note in _iter_notes():
        by_word[note.word] += (note,)
        by_folded[note.word.casefold()] += (note,)
    return dict(by_word), dict(by_folded)


def _iter_notes() -> Iterator[Note]:
    yield from _http_notes()
    for exit_code, meaning in EXIT_CODES.items():
        yield Note(str(exit_code), 'exit code', meaning)
    for category, meaning in CATEGORIES.items():
        retryable = 'retryable' if category.retryable else 'not retryable'
        yield Note(
            category.value,
            'category',
            f'{meaning} By default {retryable}, recovery {category.recovery}.',
        )
    for recovery, meaning in RECOVERIES.items():
        yield Note(recovery.value, 'recovery', f'{meaning} In a session: {STRATEGIES[recovery]}.')
    yield from _session_notes()
    for kind in get_args(Kind):
        yield Note(kind, 'model type', MODEL_TYPES[kind])
    for code in ErrorCode:
        yield Note(code.value, 'planner code', f'Its category is {code.category}.')
    for planner_category in ErrorCategory:
        codes = [code for code in ErrorCode if code.category is planner_category]
        yield Note(
            planner_category.value,
            'planner category',
            f'Retryable: {"yes" if planner_category.retryable else "no"}. '
            f'Codes: {join_limited(codes)}.',
        )
    yield from _rpc_notes()


def _http_notes() -> Iterator[Note]:
    for status in HTTPStatus:
        if status >= HTTPStatus.BAD_REQUEST:
            yield Note(str(status.value), 'http status', f'{status.phrase}.')
            if status not in {HTTPStatus.NOT_FOUND, HTTPStatus.INTERNAL_SERVER_ERROR}:
                meaning = f'The code of an answer {status.value} of the framework or a route.'
                yield Note(status.name, 'http code', meaning)
    for word, (role, meaning) in _HTTP_WORDS.items():
        yield Note(word, role, meaning)


def _session_notes() -> Iterator[Note]:
    for code, meaning in SESSION_CODES.items():
        yield Note(code, 'session code', meaning)
    for event in get_args(ErrorName):
        yield Note(event, 'event', EVENTS[event])
    for name in dict.fromkeys((*STORED_NAMES.values(), 'UnknownError')):
        kinds = [kind.__name__ for kind, stored in STORED_NAMES.items() if stored == name]
        of = f'of {join_limited(kinds)}' if kinds else 'of an error of an unknown kind'
        yield Note(name, 'stored name', f'The name {of} in a stored message of a session.')
    for close_code, meaning in CLOSE_CODES.items():
        yield Note(str(close_code), 'close code', meaning)


def _rpc_notes() -> Iterator[Note]:
    revisions: defaultdict[tuple[str, int], dict[str, None]] = defaultdict(dict)
    for (protocol, _), codes in RPC_CODES.items():
        for name, code in codes.items():
            if code is not None:
                revisions[name, int(code)][protocol.value] = None
    for (name, code), protocols in revisions.items():
        where = join_quoted(protocols, last='and').replace("'", '')
        yield Note(str(code), 'jsonrpc code', f'{name} of {where}.')
        yield Note(name, 'jsonrpc error', f'Code {code} of {where}.')


_HTTP_WORDS: Mapping[str, tuple[str, str]] = {
    'INTERNAL': (
        'http code',
        'A defect: 500. The answer has only a reference; the log record with it has the cause.',
    ),
    'INTERNAL_ERROR': (
        'http code',
        'A defect of another service: 500. It is read, never written: an own defect is INTERNAL.',
    ),
    'AUTHENTICATION': (
        'http code',
        'A service does not know its caller: 401. It is read, never written: see UNAUTHORIZED.',
    ),
    'RESOURCE_NOT_FOUND': ('http code', 'There is no such route or resource: 404.'),
    'INVALID_REQUEST': (
        'http code',
        'The request is not valid: 400. `details.errors` names the parts.',
    ),
    'PAYLOAD_TOO_LARGE': ('http code', 'The body of the request is too large: 413.'),
    'REQUEST_CONFLICT': ('http code', 'The framework or a route answers 409.'),
    'UnknownError': ('type', 'A defect of the server; `details.ref` refers to its log record.'),
    'BadRequest': ('type', 'The framework or a route rejects the request: 400 INVALID_REQUEST.'),
    'UnauthorizedError': ('type', 'A route rejects the credentials: 401 UNAUTHORIZED.'),
    'RateLimitError': ('type', 'A route received too many requests: 429 RATE_LIMIT.'),
    'ServiceUnavailableError': ('type', 'A route is unavailable: 503 SERVICE_UNAVAILABLE.'),
    'TimeoutError': ('type', 'A route did not finish in time: 504 TIMEOUT.'),
    'NotFoundError': ('type', 'There is no such route or resource: 404 RESOURCE_NOT_FOUND.'),
}

EXIT_CODES: Mapping[int, str] = {
    0: 'No failure.',
    1: 'A failure without a code of its own.',
    2: 'The command was used incorrectly.',
    65: 'The input data is wrong (EX_DATAERR of sysexits.h).',
    66: 'The input does not exist or cannot be read (EX_NOINPUT).',
    69: 'A service is unavailable (EX_UNAVAILABLE).',
    70: 'A defect (EX_SOFTWARE); the message has its reference and names the log.',
    73: 'The output cannot be created (EX_CANTCREAT).',
    74: 'Reading or writing failed (EX_IOERR).',
    75: 'A temporary failure: repeat the command later (EX_TEMPFAIL).',
    77: 'The permission is missing (EX_NOPERM).',
    78: 'The configuration is wrong (EX_CONFIG).',
    124: 'A time limit was exceeded, as for timeout(1).',
    130: 'Interrupted by Ctrl-C: 128 + SIGINT.',
    141: 'The reader of the output has ended: 128 + SIGPIPE.',
}
"""Meanings of exit codes of the CLI seam and of the command `seamwise`."""

CATEGORIES: Mapping[Category, str] = {
    Category.VALIDATION: 'The request is wrong.',
    Category.NOT_FOUND: 'The requested thing does not exist.',
    Category.CONFLICT: 'The request contradicts the current state.',
    Category.AUTHENTICATION: 'The caller is unknown.',
    Category.PERMISSION: 'The caller is known, but not allowed.',
    Category.CONFIGURATION: 'The program is set up wrongly, or its stored data is damaged.',
    Category.QUOTA: 'A paid or assigned amount is used up.',
    Category.RATE_LIMIT: 'There were too many calls.',
    Category.CAPACITY: 'The service is full or overloaded.',
    Category.RESOURCE: 'Memory, disk or file handles are used up.',
    Category.CIRCUIT_OPEN: 'A circuit refused the call.',
    Category.TIMEOUT: 'There was no answer in time.',
    Category.UNAVAILABLE: 'The service is down.',
    Category.CONNECTION: 'The connection failed or was lost.',
    Category.EXECUTION: 'The operation itself failed.',
    Category.CANCELLED: 'A person stopped it.',
}

RECOVERIES: Mapping[Recovery, str] = {
    Recovery.CORRECT: 'The caller corrects the request and sends it again.',
    Recovery.ASK: 'A person must decide, for example the owner of the limit.',
    Recovery.WAIT: 'The caller retries with growing delays.',
    Recovery.RETRY: 'The caller retries immediately.',
    Recovery.RECONNECT: 'The caller opens a new connection and retries.',
    Recovery.FALL_BACK: 'The caller uses an alternative.',
    Recovery.STOP: 'The caller gives up.',
}

CLOSE_CODES: Mapping[int, str] = {
    1000: 'The WebSocket was closed normally.',
    1001: 'The peer went away: a page was left, or a server stopped.',
    1002: 'A frame violates the WebSocket protocol.',
    1003: 'The peer does not accept this type of data.',
    1005: 'The close frame had no code; it is never sent.',
    1006: 'The connection was lost without a close frame; it is never sent. Reconnect.',
    1007: 'The data of a message does not fit its type.',
    1008: 'A message violates the rules of the peer, or it reads too slowly.',
    1009: 'A message is too large.',
    1010: 'The server lacks an extension that the client requires.',
    1011: 'The server met an unexpected condition.',
    1012: 'The server restarts. Reconnect.',
    1013: 'The server is overloaded. Try again later.',
    1014: 'A gateway received an invalid response.',
    1015: 'The TLS handshake failed; it is never sent.',
    4401: 'The client is not authenticated.',
    4403: 'The client is not authorized.',
    4404: 'There is no such session, or its log was deleted.',
    4409: 'A newer connection of the same client replaced this one.',
    4429: 'There are too many connections or messages.',
}

EVENTS: Mapping[str, str] = {
    'error.validation': 'The input or a call is invalid.',
    'error.timeout': 'An operation exceeded its time limit.',
    'error.rate_limited': 'A rate limit refused the operation.',
    'error.recovery_failed': 'The last attempt failed, or the error cannot be recovered from.',
    'error.connection_lost': 'The connection of the session was lost.',
    'error.retry_attempt': 'An attempt failed, and another one follows after the delay.',
    'error.resource': 'Memory, disk, threads or handles are used up.',
    'error.permanent': 'A failure that ends the operation; nobody can correct the request.',
    'error.correctable': 'A failure that a person can resolve: by another request, or a decision.',
    'error.transient': 'A failure that a repetition can resolve.',
}

MODEL_TYPES: Mapping[str, str] = {
    'validation_error': 'The model called a tool with wrong arguments.',
    'file_operation_error': 'A file or folder is missing, exists already or is forbidden.',
    'content_error': 'The content of a file or an answer is not as expected.',
    'execution_error': 'A tool or a command failed.',
    'state_error': 'The call is not possible in the current state.',
    'availability_error': 'A service, a guard or the network refuses calls for now.',
    'protocol_error': 'The peer broke a protocol.',
}
