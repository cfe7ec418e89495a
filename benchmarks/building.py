"""Construction of an error, compared with a bare Struct and an exception."""

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
        job='construct a tagged error with positional arguments, a class without `retry_after`',
        peer='a bare frozen Struct',
        ours=timed(_ours_by_position),
        theirs=timed(_struct_by_position),
        target=1.5,
        because='the constructor is that of msgspec, without code of our own',
    ),
    Comparison(
        job='construct a tagged error with keyword arguments',
        peer='the same exception with keyword arguments',
        ours=timed(_ours_by_keyword),
        theirs=timed(_exception_by_keyword),
        target=0.5,
        because=(
            'an exception formats its message when it is created, a tagged error when it is read'
        ),
    ),
    Comparison(
        job='wrap an error in a `Failure`',
        peer='wrap it in an `Err` of `result`',
        ours=timed(_failure),
        theirs=timed(_err),
    ),
)
