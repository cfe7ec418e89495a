"""Construction of errors and results, compared with a bare Struct, exceptions and `result`."""

from collections.abc import Iterable

import result as peer
from returns.result import Failure as ReturnsFailure
from returns.result import Success as ReturnsSuccess

from benchmarks.measure import Comparison, Timer, timed
from benchmarks.sample import BareStruct, FileMissing, FileMissingError
from seamwise import Failure, Success


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


def _success(turns: Iterable[None]) -> None:
    for _ in turns:
        _ = Success(1)


def _ok(turns: Iterable[None]) -> None:
    for _ in turns:
        _ = peer.Ok(1)


def _failure(turns: Iterable[None]) -> None:
    for _ in turns:
        _ = Failure('late')


def _err(turns: Iterable[None]) -> None:
    for _ in turns:
        _ = peer.Err('late')


def _isinstance(result: object, class_: type) -> Timer:
    def work(turns: Iterable[None]) -> None:
        for _ in turns:
            isinstance(result, class_)

    return timed(work)


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
        job='construct a `Success`',
        peer='`Ok` of `result`',
        ours=timed(_success),
        theirs=timed(_ok),
        target=0.75,
        because='the constructor is that of msgspec, without code of our own',
    ),
    Comparison(
        job='construct a `Failure`',
        peer='`Err` of `result`',
        ours=timed(_failure),
        theirs=timed(_err),
        target=0.75,
        because='the constructor is that of msgspec, without code of our own',
    ),
    Comparison(
        job='`isinstance(result, Success)` of a failure',
        peer='the same with the classes of `returns`',
        ours=_isinstance(Failure('late'), Success),
        theirs=_isinstance(ReturnsFailure('late'), ReturnsSuccess),
        target=1.0,
        because='the metaclass has a check of its own',
    ),
)
