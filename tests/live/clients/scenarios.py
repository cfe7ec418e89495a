"""Faults of a server and the results of a client: the same ones for both clients."""

import json
from collections.abc import Sequence

from msgspec import Struct

from seamwise.live import Position
from tests.live.clients.drivers import Item, Options
from tests.live.clients.scripted_gateway import (
    CONNECT,
    Close,
    Drop,
    Hang,
    Pause,
    Repeat,
    Say,
    Step,
    error,
    event,
    notice,
    reconnect,
)

END = Close(1000)
HEARTBEAT = json.dumps({'event': 'system.heartbeat'})


class Scenario(Struct, frozen=True):
    """A script for each connection, and the results of a client.

    Attributes:
        delays: The delays before the attempts to connect, in seconds; None: any.
        reason: The reason of the first loss; None: any.
    """

    name: str
    scripts: Sequence[Sequence[Step]]
    items: list[Item]
    options: Options = Options()
    delays: list[float] | None = None
    reason: str | None = None
    state: object = None


def stored(seq: int, epoch: str = 'e1') -> Item:
    """Return the item of an event."""
    return ('event', epoch, seq, '')


def lost(code: int) -> Item:
    """Return the item of a lost connection."""
    return ('ConnectionLost', code)


SINCE_2 = Options(since=Position('e1', 2))
# A connection that continues behind the event 1, up to the end.
RESUMED: list[Step] = [reconnect(1), notice('complete', 2), event(2), END]


def damaged(name: str, *steps: Step) -> Scenario:
    """Return a scenario in which a frame after the event 1 is damaged."""
    return Scenario(
        name,
        [[CONNECT, notice('new', 2), event(1), *steps, Hang()], RESUMED],
        [stored(1), lost(1007), stored(2)],
        delays=[0.25],
    )


def contradicting(name: str, answer: Say) -> Scenario:
    """Return a scenario in which the answer to a position is impossible."""
    return Scenario(
        name,
        [
            [reconnect(2), answer, Hang()],
            [reconnect(2), notice('complete', 3), event(3), END],
        ],
        [lost(1007), stored(3)],
        SINCE_2,
    )


SCENARIOS = [
    Scenario(
        'a session comes whole, up to its end',
        [[CONNECT, notice('new', 2), event(1), event(2), event(3), END]],
        [stored(1), stored(2), stored(3)],
        delays=[],
    ),
    Scenario(
        'a session that has ended before ends',
        [[reconnect(2), notice('nothing_missed', 2), END]],
        [],
        SINCE_2,
    ),
    Scenario(
        'a lost connection is reported, and continued behind the last event',
        [
            [CONNECT, notice('new', 1), event(1), Drop()],
            [reconnect(1), notice('complete', 3), event(2), event(3), END],
        ],
        [stored(1), lost(1006), stored(2), stored(3)],
        delays=[0.25],
    ),
    Scenario(
        'each failed attempt is reported, and the next one comes later',
        [
            [CONNECT, Drop()],
            [CONNECT, Drop()],
            [CONNECT, notice('new', 0), Drop()],
            [reconnect(0), notice('complete', 1), event(1), Drop()],
            [reconnect(1), notice('complete', 2), event(2), END],
        ],
        [lost(1006), lost(1006), lost(1006), stored(1), lost(1006), stored(2)],
        # The event 1 makes them short again.
        delays=[0.25, 0.5, 1.0, 0.25],
    ),
    Scenario(
        'the client ends after the last delay',
        [[CONNECT, Drop()], [CONNECT, Drop()]],
        [lost(1006), lost(1006)],
        Options(delays=(0.125,)),
        delays=[0.125],
    ),
    Scenario(
        'a gap is reported, and the client continues with what there is',
        [
            [
                reconnect(2),
                notice('gap', 6, requested=3, first_available=5),
                CONNECT,
                notice('new', 6),
                event(5),
                event(6),
                END,
            ]
        ],
        [('ReplayGap', 3, 5), stored(5), stored(6)],
        SINCE_2,
    ),
    Scenario(
        'a loss after a gap continues behind the gap',
        [
            [reconnect(2), notice('gap', 6, requested=3, first_available=5), Drop()],
            [reconnect(4), notice('complete', 6), event(5), event(6), END],
        ],
        [('ReplayGap', 3, 5), lost(1006), stored(5), stored(6)],
        SINCE_2,
    ),
    Scenario(
        'a gap up to the last event leaves nothing to replay',
        [
            [
                reconnect(2),
                notice('gap', 6, requested=3, first_available=7),
                CONNECT,
                notice('new', 6),
                event(7),
                END,
            ]
        ],
        [('ReplayGap', 3, 7), stored(7)],
        SINCE_2,
    ),
    Scenario(
        'another epoch is reported, and the client starts from its beginning',
        [
            [
                reconnect(2),
                notice('unknown_epoch', 1, epoch='e2'),
                CONNECT,
                notice('new', 1, epoch='e2'),
                event(1),
                END,
            ]
        ],
        [('UnknownEpoch', 'e1', 'e2'), stored(1, 'e2')],
        SINCE_2,
    ),
    Scenario(
        'an epoch that ends at once is reported, too',
        [
            [
                reconnect(2),
                notice('unknown_epoch', 1, epoch='e2'),
                CONNECT,
                notice('new', 1, epoch='e3'),
                event(1),
                END,
            ]
        ],
        [('UnknownEpoch', 'e1', 'e2'), ('UnknownEpoch', 'e2', 'e3'), stored(1, 'e3')],
        SINCE_2,
    ),
    Scenario(
        'events that the gateway has lost are reported',
        [
            [
                reconnect(9),
                notice('ack_ahead', 2, requested=9),
                CONNECT,
                notice('new', 3),
                event(1),
                event(2),
                event(3),
                END,
            ]
        ],
        [('ReplayGap', 10, 3), stored(3)],
        Options(since=Position('e1', 9)),
    ),
    Scenario(
        'a client without a position reports the events before the first one',
        [[CONNECT, notice('new', 6), event(5), event(6), END]],
        [('ReplayGap', 1, 5), stored(5), stored(6)],
    ),
    Scenario(
        'a snapshot replaces events, which is a gap with a state',
        [
            [
                reconnect(2),
                notice('complete', 5, state={'files': 3}, state_seq=4),
                event(5),
                END,
            ]
        ],
        [('ReplayGap', 3, 5), stored(5)],
        SINCE_2,
        state={'files': 3},
    ),
    Scenario(
        'a snapshot of everything leaves nothing to replay',
        [[reconnect(2), notice('complete', 5, state=[1], state_seq=5), END]],
        [('ReplayGap', 3, 6)],
        SINCE_2,
        state=[1],
    ),
    Scenario(
        'doubled events and events out of order are returned once',
        [
            [
                *(CONNECT, notice('new', 3), event(1), event(1, 'again'), event(2)),
                *(event(1), event(3), event(2), END),
            ]
        ],
        [stored(1), stored(2), stored(3)],
    ),
    Scenario(
        'a hole in the events is a gap',
        [[CONNECT, notice('new', 4), event(1), event(4), event(3), END]],
        [stored(1), ('ReplayGap', 2, 4), stored(4)],
    ),
    Scenario(
        'an end before the promised events is a loss',
        [[CONNECT, notice('new', 2), event(1), END], RESUMED],
        [stored(1), lost(1000), stored(2)],
    ),
    Scenario(
        'an end before the answer is a loss',
        [[CONNECT, END], [CONNECT, notice('new', 0), END]],
        [lost(1000)],
    ),
    Scenario(
        'notices and refusals after the answer change nothing',
        [
            [
                *(CONNECT, notice('new', 1), notice('gap', 9, first_available=9)),
                *(notice('ack_ahead', 0), error('refused'), Say(HEARTBEAT), event(1), END),
            ]
        ],
        [stored(1)],
    ),
    Scenario(
        'an error event before the close frame is its reason',
        [
            [CONNECT, notice('new', 1), event(1), error('the disk is full'), Close(1013)],
            RESUMED,
        ],
        [stored(1), lost(1013), stored(2)],
        reason='the disk is full',
    ),
    Scenario(
        'an older error event is not the reason of a loss',
        [
            [CONNECT, notice('new', 1), error('refused'), event(1), Close(1011)],
            RESUMED,
        ],
        [stored(1), lost(1011), stored(2)],
        reason='',
    ),
    *(
        Scenario(f'the code {code} ends the client', [[CONNECT, Close(code, 'no')]], [item])
        for code, item in [
            (4401, ('Unauthenticated', 'Bearer')),
            (4403, ('AccessDenied', 'connect to')),
            (4404, ('AccessDenied', 'see')),
        ]
    ),
    Scenario(
        'a client whose connection was replaced does not connect again',
        [[CONNECT, notice('new', 1), event(1), Close(4409)]],
        [stored(1), lost(4409)],
    ),
    Scenario(
        'a client that sends too much waits',
        [[CONNECT, notice('new', 1), event(1), Close(4429)], RESUMED],
        [stored(1), lost(4429), stored(2)],
        delays=[7.5],
    ),
    Scenario(
        'a requested delay is a minimum, and is spread',
        [
            [CONNECT, notice('new', 1), event(1), error('full', retry_after_ms=2000), Close(4429)],
            RESUMED,
        ],
        [stored(1), lost(4429), stored(2)],
        delays=[3.0],
    ),
    Scenario(
        'a requested delay that is no number is ignored',
        [
            [CONNECT, notice('new', 1), event(1), error('', retry_after_ms='1'), Close(1013)],
            RESUMED,
        ],
        [stored(1), lost(1013), stored(2)],
        delays=[0.25],
    ),
    Scenario(
        'after a restart the first attempt is early, and only the first',
        [
            [CONNECT, notice('new', 1), event(1), error('', retry_after_ms=2000), Close(1012)],
            [reconnect(1), Close(1012)],
            RESUMED,
        ],
        [stored(1), lost(1012), lost(1012), stored(2)],
        Options(delays=(4.0, 6.0)),
        delays=[0.5, 6.0],
    ),
    Scenario(
        'a silent connection is lost',
        [[CONNECT, notice('new', 1), event(1), Hang()], RESUMED],
        [stored(1), lost(1006), stored(2)],
        Options(heartbeat=0.1, delays=(0.0,)),
        reason='no data for 0.2 s',
    ),
    Scenario(
        'an announced heartbeat keeps a connection, and its absence is a loss',
        [
            [
                *(CONNECT, notice('new', 1, heartbeat=0.15), event(1)),
                *(step for _ in range(4) for step in (Pause(0.1), Say(HEARTBEAT))),
                Hang(),
            ],
            RESUMED,
        ],
        [stored(1), lost(1006), stored(2)],
        Options(delays=(0.0,), skip_delays=False),
        reason='no data for 0.3 s',
    ),
    Scenario(
        'heartbeats do not replace the answer',
        [[CONNECT, Repeat(HEARTBEAT, 0.02)], [CONNECT, notice('new', 1), event(1), END]],
        [lost(1006), stored(1)],
        Options(heartbeat=0.1, delays=(0.0,)),
    ),
    Scenario(
        'a frame that is too long is a loss',
        [
            [CONNECT, notice('new', 2), event(1), event(2, 'x' * 2000), Hang()],
            RESUMED,
        ],
        [stored(1), lost(1009), stored(2)],
        Options(max_message=1000),
    ),
    damaged('half a frame of JSON is a loss', Say('{"event": ')),
    damaged('a frame that is no object is a loss', Say('[]')),
    damaged('a frame that is null is a loss', Say('null')),
    damaged('a frame without an event is a loss', Say('{"seq": 2}')),
    damaged('an event with a wrong type is a loss', Say('{"event": 1, "seq": 2}')),
    damaged('a content with a wrong type is a loss', Say('{"event": "a", "content": null}')),
    damaged('metadata with a wrong type are a loss', Say('{"event": "a", "metadata": []}')),
    damaged('a number with a wrong type is a loss', Say('{"event": "a", "seq": "2"}')),
    damaged('a number that is null is a loss', Say('{"event": "a", "seq": null}')),
    damaged('the number 0 is a loss', event(0)),
    damaged('a negative number is a loss', event(-1)),
    damaged('a number that JSON cannot represent exactly is a loss', event(2**53)),
    damaged('a frame that is nested too deeply is a loss', Say('[' * 100_000)),
    damaged('a binary frame is a loss', Say(b'{"event": "agent.thinking", "seq": 2}')),
    Scenario(
        'an event before the answer is a loss',
        [[CONNECT, event(1), Hang()], [CONNECT, notice('new', 1), event(1), END]],
        [lost(1007), stored(1)],
    ),
    Scenario(
        'a gap without a request is a loss, not a loop',
        [
            [
                reconnect(2),
                notice('gap', 6, first_available=5),
                CONNECT,
                notice('gap', 6, first_available=6),
                Hang(),
            ],
            [reconnect(4), notice('complete', 5), event(5), END],
        ],
        [('ReplayGap', 3, 5), lost(1007), stored(5)],
        SINCE_2,
    ),
    contradicting('an unknown answer is a loss', notice('partial', 3)),
    contradicting('an answer without an epoch is a loss', notice('complete', 3, epoch='')),
    contradicting('an answer with a negative top is a loss', notice('complete', -1)),
    contradicting('an answer below the position is a loss', notice('complete', 1)),
    contradicting('an answer of another epoch is a loss', notice('complete', 3, epoch='e2')),
    contradicting('an unknown epoch that is the same is a loss', notice('unknown_epoch', 3)),
    contradicting('an acknowledgement that is not ahead is a loss', notice('ack_ahead', 2)),
    contradicting('a gap without an end is a loss', notice('gap', 9)),
    contradicting('a gap of nothing is a loss', notice('gap', 9, first_available=3)),
    contradicting(
        'a gap beyond the last event is a loss', notice('gap', 9, first_available=2**53 - 1)
    ),
    contradicting('a gap with a text is a loss', notice('gap', 9, first_available='5')),
]
