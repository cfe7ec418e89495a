"""Access to the tables of all seams: declared answers, and output for an error."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from types import ModuleType
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct
from typing_extensions import TypeIs

from seamwise._text.jsonable import to_json
from seamwise._text.phrases import join_limited
from seamwise.containers import Failure
from seamwise.documents.shape import Answer
from seamwise.errors import TaggedError
from seamwise.seams import http, jsonrpc, log, session
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.cli import tables as cli_tables
from seamwise.seams.http import tables as http_tables
from seamwise.seams.jsonrpc import tables as jsonrpc_tables
from seamwise.seams.model import tables as model_tables
from seamwise.seams.planner import tables as planner_tables
from seamwise.seams.session import tables as session_tables

NOW = datetime(2026, 2, 20, 10, 30, tzinfo=UTC)
"""The time of all examples, so that documents do not change from day to day."""

REQUEST = 'req-1'
"""The request id of all examples."""


Where: TypeAlias = tuple[str, str]
"""Protocol and revision, each empty if the table has none."""


class Arm(Struct, frozen=True):
    """The arm of one table for an error class."""

    seam: str
    where: Where
    adapter: Adapter[Any, Any]
    kind: type[TaggedError]

    @property
    def declared(self) -> object:
        """The declared answer."""
        return self.adapter.arms[self.kind]

    @property
    def is_hidden(self) -> bool:
        """Whether the error never reaches this seam."""
        return isinstance(self.declared, Hidden)


def arms_of(kind: type[TaggedError]) -> tuple[Arm, ...]:
    """Return the arms of all tables for an error class, in the order of the seams."""
    return tuple(
        Arm(seam, where, adapter, kind)
        for seam, where, adapter in _adapters()
        if kind in adapter.arms
    )


def adapters_of(seam: str) -> tuple[Adapter[Any, Any], ...]:
    """Return all tables of a seam, older revisions first."""
    return tuple(adapter for name, _, adapter in _adapters() if name == seam)


@lru_cache(maxsize=1)
def _adapters() -> tuple[tuple[str, Where, Adapter[Any, Any]], ...]:
    return tuple(
        (seam, where, adapter)
        for seam, tables in TABLES.items()
        for where, adapter in _in_module(tables)
    )


TABLES: Mapping[str, ModuleType] = {
    'cli': cli_tables,
    'http': http_tables,
    'session': session_tables,
    'model': model_tables,
    'planner': planner_tables,
    'jsonrpc': jsonrpc_tables,
}
"""The table module of each seam."""


def _in_module(tables: ModuleType) -> Iterator[tuple[Where, Adapter[Any, Any]]]:
    """Yield the public tables of a module once, although the latest revision has a second name."""
    public = [
        value for name, value in vars(tables).items() if name.isupper() and not name.startswith('_')
    ]
    yielded: set[int] = set()
    # Mappings first: they name the revisions.
    for value in sorted(public, key=_is_adapter):
        for where, adapter in _items(value):
            if _is_adapter(adapter) and id(adapter) not in yielded:
                yielded.add(id(adapter))
                yield where, adapter


def _items(value: object) -> Iterator[tuple[Where, object]]:
    if _is_mapping(value):
        for key, item in value.items():
            yield _where(key), item
    else:
        yield ('', ''), value


def _where(key: object) -> Where:
    match key:
        case (str(protocol), str(revision)):
            return protocol, revision
        case _:
            return '', str(key)


def _is_adapter(value: object) -> TypeIs[Adapter[Any, Any]]:
    return isinstance(value, Adapter)


def _is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    return isinstance(value, Mapping)


def iter_answers(error: TaggedError) -> Iterator[Answer]:
    """Yield the output of each seam for an error; revisions with equal output are combined."""
    for seam in TABLES:
        answers = [
            (_answer(arm, error), arm.where) for arm in arms_of(type(error)) if arm.seam == seam
        ]
        # Answers contain raw JSON and cannot be hashed; their encoded form can.
        distinct = {msgspec.json.encode(answer): answer for answer, _ in answers}
        for encoded, answer in distinct.items():
            if len(distinct) == 1:
                yield answer
                continue
            where = [where for other, where in answers if msgspec.json.encode(other) == encoded]
            yield msgspec.structs.replace(answer, where=_format_revisions(where))
    record = log.record(error, now=NOW)
    yield Answer('log', '', f'{record.level}, {record.category}', Raw(to_json(record)))


def _answer(arm: Arm, error: TaggedError) -> Answer:
    if arm.is_hidden:
        return Answer(arm.seam)
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


def _adapt(arm: Arm, error: TaggedError) -> object:
    return arm.adapter(error)


def _http(arm: Arm, error: TaggedError) -> object:
    http_error: http.HttpError = arm.adapter(error)
    body = http.envelope(http_error, request_id=REQUEST, now=NOW)
    return {'status': http_error.status, 'headers': http_error.headers, 'body': Raw(body)}


def _session(arm: Arm, error: TaggedError) -> object:
    return session.event(error, adapter=arm.adapter, locale='zh_CN', now=NOW)


def _jsonrpc(arm: Arm, error: TaggedError) -> object:
    protocol, revision = arm.where
    return jsonrpc.response(
        Failure(error),
        id=REQUEST,
        adapter=arm.adapter,
        protocol=jsonrpc.Protocol(protocol),
        revision=revision,
    )


_WRITERS: Mapping[str, Callable[[Arm, TaggedError], object]] = {
    'http': _http,
    'session': _session,
    'jsonrpc': _jsonrpc,
}


def _rpc_summary(output: Any) -> str:
    return 'a result with isError' if 'result' in output else f'error {output["error"]["code"]}'


_SUMMARIES: Mapping[str, Callable[[Any], str]] = {
    'cli': lambda output: f'exit code {output["exit_code"]}',
    'http': lambda output: f'{output["status"]} {output["body"]["error"]["code"]}',
    'session': lambda output: f'{output["event"]}, {output["metadata"]["error_code"]}',
    'model': lambda output: f'{output["status"]}, {output["type"]}',
    'planner': lambda output: f'{output["code"]}, {output["category"]}',
    'jsonrpc': _rpc_summary,
}
