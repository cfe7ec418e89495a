"""One reader of all the seams' tables: what each seam declares for a kind of error, and what it writes of an error."""

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
"""The moment at which all examples happen, so that a page is the same whenever it is made."""

REQUEST = 'req-1'
"""The id of the request that all examples answer."""


Where: TypeAlias = tuple[str, str]


class Arm(Struct, frozen=True):
    """What one table of a seam declares for a kind; `where` is its protocol and revision, each empty where it has none."""

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
        """Whether the kind never reaches this seam."""
        return isinstance(self.declared, Hidden)


def arms(kind: type[TaggedError]) -> tuple[Arm, ...]:
    """Give what every table of every seam declares for a kind, in the order of the seams."""
    return tuple(
        Arm(seam, where, adapter, kind)
        for seam, where, adapter in _adapters()
        if kind in adapter.arms
    )


def adapters(seam: str) -> tuple[Adapter[Any, Any], ...]:
    """Give every table of a seam, older revisions first."""
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
"""The seams that have tables."""


def _in_module(tables: ModuleType) -> Iterator[tuple[Where, Adapter[Any, Any]]]:
    """Give the public tables of a module, each once: one may be both in a mapping and, as the latest, by itself."""
    public = [
        value for name, value in vars(tables).items() if name.isupper() and not name.startswith('_')
    ]
    seen: set[int] = set()
    for value in sorted(public, key=_is_adapter):
        for where, adapter in _keyed(value):
            if _is_adapter(adapter) and id(adapter) not in seen:
                seen.add(id(adapter))
                yield where, adapter


def _keyed(value: object) -> Iterator[tuple[Where, object]]:
    if _is_mapping(value):
        yield from ((_where(key), one) for key, one in value.items())
        return
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


def answers(error: TaggedError) -> Iterator[Answer]:
    """Give what each seam says of an error; revisions of a protocol that say the same are put together."""
    for seam in TABLES:
        told = [(_answer(one, error), one.where) for one in arms(type(error)) if one.seam == seam]
        # Outputs cannot be hashed, but what they are in JSON can be.
        same = {msgspec.json.encode(answer): answer for answer, _ in told}
        for written, answer in same.items():
            where = [where for other, where in told if msgspec.json.encode(other) == written]
            yield (
                answer if len(same) == 1 else msgspec.structs.replace(answer, where=_listed(where))
            )
    record = log.record(error, now=NOW)
    yield Answer('log', '', f'{record.level}, {record.category}', Raw(to_json(record)))


def _answer(arm: Arm, error: TaggedError) -> Answer:
    if arm.is_hidden:
        return Answer(arm.seam)
    output = to_json(_WRITERS.get(arm.seam, _as_it_is)(arm, error))
    return Answer(arm.seam, '', _SUMMARIES[arm.seam](msgspec.json.decode(output)), Raw(output))


def _listed(where: list[Where]) -> str:
    """Name revisions, under the names of their protocols where they have one."""
    revisions: dict[str, list[str]] = {}
    for protocol, revision in where:
        revisions.setdefault(protocol, []).append(revision)
    return '; '.join(
        f'{protocol} {join_limited(names)}'.strip() for protocol, names in revisions.items()
    )


def _as_it_is(arm: Arm, error: TaggedError) -> object:
    return arm.adapter(error)


def _http(arm: Arm, error: TaggedError) -> object:
    answer: http.HttpError = arm.adapter(error)
    body = http.envelope(answer, request_id=REQUEST, now=NOW)
    return {'status': answer.status, 'headers': answer.headers, 'body': Raw(body)}


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


def _rpc_summary(said: Any) -> str:
    return 'a result with isError' if 'result' in said else f'error {said["error"]["code"]}'


_SUMMARIES: Mapping[str, Callable[[Any], str]] = {
    'cli': lambda said: f'exit code {said["exit_code"]}',
    'http': lambda said: f'{said["status"]} {said["body"]["error"]["code"]}',
    'session': lambda said: f'{said["event"]}, {said["metadata"]["error_code"]}',
    'model': lambda said: f'{said["status"]}, {said["type"]}',
    'planner': lambda said: f'{said["code"]}, {said["category"]}',
    'jsonrpc': _rpc_summary,
}
