"""An error that passes through five frames: returned and checked in each, or raised."""

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar, assert_never

import result as peer

from benchmarks.measure import Comparison, Timer, timed
from benchmarks.sample import DiskBusy, DiskBusyError, FileMissing, FileMissingError, handle
from seamwise import Failure, Result, Success, is_failure

Read: TypeAlias = Result[int, FileMissing | DiskBusy]
PeerRead: TypeAlias = peer.Result[int, FileMissing | DiskBusy]

T = TypeVar('T')

_PATH = 'src/app.py'


def _fail(path: str) -> Read:
    if not path:
        return Failure(DiskBusy(disk='sda'))
    return Failure(FileMissing(tool='read_file', path=path))


def _fail_with_peer(path: str) -> PeerRead:
    if not path:
        return peer.Err(DiskBusy(disk='sda'))
    return peer.Err(FileMissing(tool='read_file', path=path))


def _raise_error(path: str) -> int:
    if not path:
        raise DiskBusyError(disk='sda')
    raise FileMissingError(tool='read_file', path=path)


def _check_type(inner: Callable[[str], Read]) -> Callable[[str], Read]:
    def frame(path: str) -> Read:
        result = inner(path)
        if type(result) is Failure:
            return result
        return Success(result.unwrap() + 1)

    return frame


def _check_is_failure(inner: Callable[[str], Read]) -> Callable[[str], Read]:
    def frame(path: str) -> Read:
        result = inner(path)
        if is_failure(result):
            return result
        return Success(result.unwrap() + 1)

    return frame


def _check_peer(inner: Callable[[str], PeerRead]) -> Callable[[str], PeerRead]:
    def frame(path: str) -> PeerRead:
        result = inner(path)
        if type(result) is peer.Err:
            return result
        return peer.Ok(result.unwrap() + 1)

    return frame


def _no_check(inner: Callable[[str], int]) -> Callable[[str], int]:
    def frame(path: str) -> int:
        return inner(path) + 1

    return frame


_CALL_BY_TYPE = _check_type(_check_type(_check_type(_check_type(_fail))))
_CALL_IS_FAILURE = _check_is_failure(_check_is_failure(_check_is_failure(_check_is_failure(_fail))))
_CALL_PEER = _check_peer(_check_peer(_check_peer(_check_peer(_fail_with_peer))))
_CALL_RAISING = _no_check(_no_check(_no_check(_no_check(_raise_error))))


def _handle_by_type(call: Callable[[str], Read]) -> None:
    result = call(_PATH)
    if type(result) is Failure:
        handle(result.failure())


def _handle_by_is_failure(call: Callable[[str], Read]) -> None:
    result = call(_PATH)
    if is_failure(result):
        handle(result.failure())


def _handle_by_match(call: Callable[[str], Read]) -> None:
    match call(_PATH):
        case Success(size):
            handle(size)
        case Failure(error):
            match error:
                case FileMissing():
                    handle(error)
                case DiskBusy():
                    handle(error)
                case _:
                    assert_never(error)


def _handle_by_match_failure_first(call: Callable[[str], Read]) -> None:
    match call(_PATH):
        case Failure(error):
            match error:
                case FileMissing():
                    handle(error)
                case DiskBusy():
                    handle(error)
                case _:
                    assert_never(error)
        case Success(size):
            handle(size)


def _handle_by_peer(call: Callable[[str], PeerRead]) -> None:
    result = call(_PATH)
    if type(result) is peer.Err:
        handle(result.err_value)


def _handle_by_except(call: Callable[[str], int]) -> None:
    try:
        handle(call(_PATH))
    except FileMissingError as error:
        handle(error)
    except DiskBusyError as error:
        handle(error)


def _repeat(handled: Callable[[Callable[[str], T]], None], call: Callable[[str], T]) -> Timer:
    def work(turns: Iterable[None]) -> None:
        for _ in turns:
            handled(call)

    return timed(work)


_CONSTRUCTOR = 'each frame calls a function and compares a type'
_ABSTRACT = '`case Success` fails first, and a negative check calls the metaclass'
_PATTERN = 'a pattern with a field costs ten times as much as a type check'


def _versus_raising(
    handling: str, ours: Timer, *, target: float | None = None, because: str = ''
) -> Comparison:
    theirs = _repeat(_handle_by_except, _CALL_RAISING)
    return Comparison(
        job=f'fail through 5 frames, {handling}',
        peer='raise through 5 frames and `except`',
        ours=ours,
        theirs=theirs,
        target=target,
        because=because,
    )


COMPARISONS = (
    _versus_raising(
        'handled by `type(r) is Failure`',
        _repeat(_handle_by_type, _CALL_BY_TYPE),
        target=0.35,
        because=_CONSTRUCTOR,
    ),
    _versus_raising(
        'handled by `is_failure`',
        _repeat(_handle_by_is_failure, _CALL_BY_TYPE),
        target=0.4,
        because=_CONSTRUCTOR,
    ),
    _versus_raising(
        '`is_failure` in every frame',
        _repeat(_handle_by_is_failure, _CALL_IS_FAILURE),
    ),
    _versus_raising(
        'handled by the two-level match, `case Failure` first',
        _repeat(_handle_by_match_failure_first, _CALL_BY_TYPE),
        target=0.6,
        because=_PATTERN,
    ),
    _versus_raising(
        'handled by the two-level match, `case Success` first',
        _repeat(_handle_by_match, _CALL_BY_TYPE),
        target=0.6,
        because=_ABSTRACT,
    ),
    Comparison(
        job='fail through 5 frames, handled by `type(r) is Failure`',
        peer='the same with `Err` of `result`',
        ours=_repeat(_handle_by_type, _CALL_BY_TYPE),
        theirs=_repeat(_handle_by_peer, _CALL_PEER),
    ),
)
