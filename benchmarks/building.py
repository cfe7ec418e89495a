"""Building an error: beside a bare Struct, and beside an exception."""

from collections.abc import Iterable

import result as peer

from benchmarks.measure import Comparison, timed
from benchmarks.sample import BareStruct, FileMissing, FileMissingError
from seamwise import Failure


def _ours_by_position(turns: Iterable[None]) -> None:
    for _ in turns:
        FileMissing('read_file', 'src/app.py')


def _struct_by_position(turns: Iterable[None]) -> None:
    for _ in turns:
        BareStruct('read_file', 'src/app.py')


def _ours_by_keyword(turns: Iterable[None]) -> None:
    for _ in turns:
        FileMissing(tool='read_file', path='src/app.py')


def _exception_by_keyword(turns: Iterable[None]) -> None:
    for _ in turns:
        FileMissingError(tool='read_file', path='src/app.py')


def _failure(turns: Iterable[None]) -> None:
    for _ in turns:
        _ = Failure('late')


def _err(turns: Iterable[None]) -> None:
    for _ in turns:
        _ = peer.Err('late')


COMPARISONS = (
    Comparison(
        job='build a tagged error by position, a class without a delay',
        peer='a bare frozen Struct',
        ours=timed(_ours_by_position),
        theirs=timed(_struct_by_position),
        target=1.5,
        because='the constructor must stay the one that msgspec makes, with nothing of ours in its way',
    ),
    Comparison(
        job='build a tagged error by keyword',
        peer='the same exception by keyword',
        ours=timed(_ours_by_keyword),
        theirs=timed(_exception_by_keyword),
        target=0.5,
        because='an exception formats its message when it is made, a tagged error when somebody reads it',
    ),
    Comparison(
        job='wrap an error in a `Failure`',
        peer='in an `Err` of `result`',
        ours=timed(_failure),
        theirs=timed(_err),
    ),
)
