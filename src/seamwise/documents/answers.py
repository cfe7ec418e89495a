"""Output of the seams for an example of an error, and what their tables declare."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from seamwise._defects.exception_kinds import describe_exception
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure
from seamwise._runtime.samples import NOW
from seamwise._text.jsonable import to_json
from seamwise._text.phrases import join_limited
from seamwise._text.safe_call import call_or_describe
from seamwise.documents.shape import Answer
from seamwise.documents.tables import SEAMS, Arm, Where
from seamwise.seams.functions import FunctionArm

REQUEST = 'req-1'
"""The request id of all examples."""


def iter_answers(error: TaggedError | None, arms: Sequence[Arm]) -> Iterator[Answer]:
    """Yield the output of each seam for an error; revisions with equal output are combined.

    Without an error, only the declared answers are known.
    """
    for seam in SEAMS:
        answers = [(_answer(arm, error), arm.where) for arm in arms if arm.seam == seam]
        # Answers contain raw JSON and cannot be hashed; their encoded form can.
        distinct = {msgspec.json.encode(answer): answer for answer, _ in answers}
        for encoded, answer in distinct.items():
            if len(distinct) == 1:
                yield answer
                continue
            where = [where for other, where in answers if msgspec.json.encode(other) == encoded]
            yield msgspec.structs.replace(answer, where=_format_revisions(where))
    if error is not None:
        yield _log_answer(error)


def _answer(arm: Arm, error: TaggedError | None) -> Answer:
    if arm.is_hidden:
        return Answer(arm.seam)
    if error is None:
        return Answer(arm.seam, '', _declared(arm))
    # The arm of a program may not accept an artificial error.
    return call_or_describe(
        lambda: _output(arm, error),
        lambda cause: Answer(
            arm.seam,
            '',
            f'{_declared(arm)} (it fails for the example: {describe_exception(cause)})',
        ),
    )


def _output(arm: Arm, error: TaggedError) -> Answer:
    output = to_json(_WRITERS.get(arm.seam, _adapt)(arm, error))
    return Answer(arm.seam, '', _SUMMARIES[arm.seam](msgspec.json.decode(output)), Raw(output))


def _format_revisions(where: list[Where]) -> str:
    """Return revisions as text, grouped by protocol."""
    revisions: dict[str, list[str]] = {}
    for protocol, revision in where:
        revisions.setdefault(protocol, []).append(revision)
    return '; '.join(
        f'{protocol} {join_limited(names)}'.strip() for protocol, names in revisions.items()
    )


# The seams are imported here, because a document needs only those of its tables.


def _adapt(arm: Arm, error: TaggedError) -> object:
    return arm.adapter(error)


def _http(arm: Arm, error: TaggedError) -> object:
    from seamwise.seams import http  # noqa: PLC0415

    http_error: http.HttpError = arm.adapter(error)
    body = http.envelope(http_error, request_id=REQUEST, now=NOW)
    return {'status': http_error.status, 'headers': http_error.headers, 'body': Raw(body)}


def _session(arm: Arm, error: TaggedError) -> object:
    from seamwise.seams import session  # noqa: PLC0415

    return session.event(error, adapter=arm.adapter, locale='zh_CN', now=NOW)


def _jsonrpc(arm: Arm, error: TaggedError) -> object:
    from seamwise.seams import jsonrpc  # noqa: PLC0415
    from seamwise.seams.reporting.failure_log import SILENT_LOG  # noqa: PLC0415

    protocol, revision = arm.where if arm.where[0] else (jsonrpc.Protocol.JSON_RPC, '2.0')
    return jsonrpc.response(
        Failure(error),
        id=REQUEST,
        adapter=arm.adapter,
        protocol=jsonrpc.Protocol(protocol),
        revision=revision,
        log=SILENT_LOG,
    )


def _log_answer(error: TaggedError) -> Answer:
    from seamwise.seams import log  # noqa: PLC0415

    record = log.record(error, now=NOW)
    return Answer('log', '', f'{record.level}, {record.category}', Raw(to_json(record)))


_WRITERS: Mapping[str, Callable[[Arm, TaggedError], object]] = {
    'http': _http,
    'session': _session,
    'jsonrpc': _jsonrpc,
}


_SUMMARIES: Mapping[str, Callable[[Any], str]] = {
    'cli': lambda output: f'exit code {output["exit_code"]}',
    'http': lambda output: f'{output["status"]} {output["body"]["error"]["code"]}',
    'session': lambda output: f'{output["event"]}, {output["metadata"]["error_code"]}',
    'model': lambda output: f'{output["status"]}, {output["type"]}',
    'planner': lambda output: f'{output["code"]}, {output["category"]}',
    'jsonrpc': lambda output: (
        'a result with isError' if 'result' in output else f'error {output["error"]["code"]}'
    ),
}


def _declared(arm: Arm) -> str:
    """Return the declared answer in a few words, as far as it does not depend on the error."""
    declared: Any = arm.declared
    if isinstance(declared, FunctionArm):
        return f'the answer of {declared.name}'
    return call_or_describe(
        lambda: _DECLARED[arm.seam](declared), lambda _: f'{type(declared).__name__}'
    )


_DECLARED: Mapping[str, Callable[[Any], str]] = {
    'cli': lambda arm: f'exit code {arm.code}',
    'http': lambda arm: f'{arm.status} {arm.code}',
    'session': lambda arm: f'{arm.event}, {arm.code}',
    'model': lambda arm: f'{"denied" if arm.denied else "error"}, {arm.type}',
    'planner': lambda arm: f'{arm.code}, {arm.code.category}',
    'jsonrpc': lambda arm: f'error {arm.code}' if hasattr(arm, 'code') else 'a result with isError',
}
