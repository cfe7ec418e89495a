"""Options of guards in files, with valid and invalid values."""

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from seamwise.policies import (
    Budget,
    Guard,
    adaptive,
    bulkhead,
    circuit,
    consecutive,
    deadline,
    hedge,
    percentile,
    rate_limit,
    ratio,
    retry,
)
from seamwise.policies.config.schema import is_table
from seamwise.testing import FakeWorld

WORLD = FakeWorld()

Value: TypeAlias = object
Options: TypeAlias = Mapping[str, Value]

REQUIRED: dict[str, dict[str, Value]] = {
    'rate_limit': {'limit': 9},
    'bulkhead': {'limit': 9},
    'circuit': {},
    'retry': {},
    'hedge': {'after': 0.25},
    'deadline': {'seconds': 0.5},
}
"""The required options of each guard."""

FACTORIES: dict[str, Callable[..., Guard[object]]] = {
    'rate_limit': rate_limit,
    'bulkhead': bulkhead,
    'circuit': circuit,
    'retry': retry,
    'hedge': hedge,
    'deadline': deadline,
}

ADAPTIVE = {'minimum': 2, 'maximum': 8, 'by': 'aimd', 'slow': 0.5, 'start': 3}
PERCENTILE = {'percentile': 0.9, 'min_delay': 0.02, 'calls': 50, 'minimum': 5}

OPTIONS: dict[str, dict[str, list[tuple[Value, object]]]] = {
    'rate_limit': {
        'limit': [(7, 7)],
        'period': [(2.5, 2.5)],
        'kind': [('window', 'window'), ('bucket', 'bucket')],
        'burst': [(3, 3)],
        'cost': [(1.5, 1.5)],
        'wait': [(0.5, 0.5)],
        'name': [('other', 'other')],
    },
    'bulkhead': {
        'limit': [
            (7, 7),
            ({'minimum': 2, 'maximum': 8}, adaptive(2, 8)),
            (ADAPTIVE, adaptive(2, 8, by='aimd', slow=0.5, start=3)),
            (
                {'minimum': 2, 'maximum': 8, 'by': 'gradient'},
                adaptive(2, 8, by='gradient'),
            ),
        ],
        'scope': [('namespace', 'namespace'), ('global', 'global'), ('tool', 'tool')],
        'queue': [(4, 4), ('unlimited', None)],
        'wait': [(0.5, 0.5), ('unlimited', None)],
        'name': [('other', 'other')],
    },
    'circuit': {
        'trip': [
            ({'consecutive': 3}, consecutive(3)),
            ({'ratio': 0.5, 'minimum': 4, 'window': 9.0}, ratio(0.5, minimum=4, window=9.0)),
            ({'ratio': 0.5, 'minimum': 4, 'calls': 20}, ratio(0.5, minimum=4, calls=20)),
        ],
        'open_for': [(12.5, 12.5)],
        'factor': [(2.5, 2.5)],
        'cap': [(77.5, 77.5)],
        'probes': [(3, 3)],
        'successes': [(4, 4)],
        'probe_timeout': [(3.5, 3.5)],
        'slow': [(0.25, 0.25)],
        'slow_trip': [({'consecutive': 6}, consecutive(6))],
        'name': [('other', 'other')],
    },
    'retry': {
        'attempts': [(5, 5)],
        'timeout': [(20.5, 20.5), ('unlimited', None)],
        'base': [(0.05, 0.05)],
        'factor': [(3.5, 3.5)],
        'cap': [(6.5, 6.5)],
        'jitter': [
            (jitter, jitter) for jitter in ('full', 'equal', 'tenth', 'decorrelated', 'none')
        ],
        'retry_after_cap': [(11.5, 11.5)],
        'budget': [
            (
                {'share': 0.25, 'minimum_per_second': 2.0},
                Budget.share(0.25, minimum_per_second=2.0, world=WORLD),
            ),
            (
                {'quota': 50, 'cost': 2, 'timeout_cost': 3},
                Budget.quota(50, cost=2, timeout_cost=3),
            ),
            ({'tokens': 4, 'ratio': 0.8}, Budget.tokens(4, ratio=0.8)),
        ],
        'name': [('other', 'other')],
    },
    'hedge': {
        'after': [
            (0.125, 0.125),
            ({'percentile': 0.95}, percentile(0.95)),
            (PERCENTILE, percentile(0.9, min_delay=0.02, calls=50, minimum=5)),
        ],
        'attempts': [(3, 3)],
        'share': [(0.25, 0.25)],
        'name': [('other', 'other')],
    },
    'deadline': {'seconds': [(4.5, 4.5)], 'name': [('other', 'other')]},
}
"""Values of each option: in a file, and as the argument of the guard."""

RATES: dict[str, Value] = {
    'rates': [{'limit': 10}, {'limit': 100, 'period': 60.0}],
    'kind': 'window',
    'cost': 2,
    'wait': 1.5,
}
"""The options of a rate limit with several rates."""

MISTAKES: list[tuple[tuple[str, ...], Value]] = [
    (('retry', 'attempts'), 0),
    (('retry', 'timeout'), -1),
    (('retry', 'base'), 'x'),
    (('retry', 'factor'), 0.5),
    (('retry', 'cap'), 'x'),
    (('retry', 'jitter'), 'ful'),
    (('retry', 'retry_after_cap'), float('nan')),
    (('retry', 'budget', 'share'), 2),
    (('retry', 'budget', 'minimum_per_second'), 'x'),
    (('retry', 'atempts'), 3),
    (('circuit', 'trip', 'ratio'), 3),
    (('circuit', 'trip', 'minimum'), 0),
    (('circuit', 'trip', 'window'), True),
    (('circuit', 'open_for'), 0),
    (('circuit', 'factor'), 0),
    (('circuit', 'cap'), []),
    (('circuit', 'probes'), 0),
    (('circuit', 'successes'), 1.5),
    (('circuit', 'probe_timeout'), -1),
    (('circuit', 'slow'), 'x'),
    (('circuit', 'slow_trip', 'consecutive'), 0),
    (('rate_limit', 'limit'), 0),
    (('rate_limit', 'period'), 0),
    (('rate_limit', 'kind'), 'windw'),
    (('rate_limit', 'burst'), 0),
    (('rate_limit', 'cost'), -1),
    (('rate_limit', 'wait'), {}),
    (('bulkhead', 'limit', 'minimum'), 0),
    (('bulkhead', 'limit', 'maximum'), 'x'),
    (('bulkhead', 'scope'), 'x'),
    (('bulkhead', 'queue'), -1),
    (('bulkhead', 'wait'), -1),
    (('hedge', 'after', 'percentile'), 2),
    (('hedge', 'after', 'calls'), 0),
    (('hedge', 'attempts'), 1),
    (('hedge', 'share'), 2),
    (('deadline', 'seconds'), 0),
    (('deadline', 'name'), ' '),
    (('deadlin',), {}),
]
"""Invalid values, each a problem of its own."""

VALID: dict[str, dict[str, Value]] = {
    'retry': {'base': 9, 'cap': 10, 'budget': {'share': 0.2, 'minimum_per_second': 1.0}},
    'circuit': {
        'trip': {'ratio': 0.5, 'minimum': 5, 'window': 30},
        'slow': 0.5,
        'slow_trip': {'consecutive': 5},
        'probes': 1,
    },
    'rate_limit': {'limit': 3, 'burst': 5, 'cost': 5},
    'bulkhead': {'limit': {'minimum': 2, 'maximum': 8}},
    'hedge': {'after': {'percentile': 0.9}},
    'deadline': {'seconds': 2.0},
}
"""Valid tables that contain the places of the mistakes."""


def toml_value(value: Value) -> str:
    """Return a value in TOML."""
    if is_table(value):
        items = (f'{toml_key(key)} = {toml_value(item)}' for key, item in value.items())
        return f'{{ {", ".join(items)} }}'
    if isinstance(value, list):
        return f'[{", ".join(map(toml_value, cast("list[Value]", value)))}]'
    if isinstance(value, str):
        escaped = value.replace('\\', '\\\\').replace('"', '\\"')
        return f'"{escaped}"'
    return str(value).lower() if isinstance(value, bool) else repr(value)


def toml_key(key: str) -> str:
    return f'"{key}"'


def toml_document(document: Mapping[str, Value]) -> str:
    """Return a document in TOML."""
    return ''.join(f'{toml_key(key)} = {toml_value(value)}\n' for key, value in document.items())
