"""An error on its way through five frames: returned and looked at in each, or raised past them."""

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


def _fails(path: str) -> Read:
    if not path:
        return Failure(DiskBusy(disk='sda'))
    return Failure(FileMissing(tool='read_file', path=path))


def _fails_at_the_peer(path: str) -> PeerRead:
    if not path:
        return peer.Err(DiskBusy(disk='sda'))
    return peer.Err(FileMissing(tool='read_file', path=path))


def _raises(path: str) -> int:
    if not path:
        raise DiskBusyError(disk='sda')
    raise FileMissingError(tool='read_file', path=path)


def _asking_type(inner: Callable[[str], Read]) -> Callable[[str], Read]:
    def frame(path: str) -> Read:
        result = inner(path)
        if type(result) is Failure:
            return result
        return Success(result.unwrap() + 1)

    return frame


def _asking_is_failure(inner: Callable[[str], Read]) -> Callable[[str], Read]:
    def frame(path: str) -> Read:
        result = inner(path)
        if is_failure(result):
            return result
        return Success(result.unwrap() + 1)

    return frame


def _asking_at_the_peer(inner: Callable[[str], PeerRead]) -> Callable[[str], PeerRead]:
    def frame(path: str) -> PeerRead:
        result = inner(path)
        if type(result) is peer.Err:
            return result
        return peer.Ok(result.unwrap() + 1)

    return frame


def _not_asking(inner: Callable[[str], int]) -> Callable[[str], int]:
    def frame(path: str) -> int:
        return inner(path) + 1

    return frame


_returned = _asking_type(_asking_type(_asking_type(_asking_type(_fails))))
_asked = _asking_is_failure(_asking_is_failure(_asking_is_failure(_asking_is_failure(_fails))))
_returned_by_peer = _asking_at_the_peer(
    _asking_at_the_peer(_asking_at_the_peer(_asking_at_the_peer(_fails_at_the_peer)))
)
_raised = _not_asking(_not_asking(_not_asking(_not_asking(_raises))))


def _by_type(call: Callable[[str], Read]) -> None:
    result = call(_PATH)
    if type(result) is Failure:
        handle(result.failure())


def _by_is_failure(call: Callable[[str], Read]) -> None:
    result = call(_PATH)
    if is_failure(result):
        handle(result.failure())


def _by_match(call: Callable[[str], Read]) -> None:
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


def _by_match_failure_first(call: Callable[[str], Read]) -> None:
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


def _by_peer(call: Callable[[str], PeerRead]) -> None:
    result = call(_PATH)
    if type(result) is peer.Err:
        handle(result.err_value)


def _by_except(call: Callable[[str], int]) -> None:
    try:
        handle(call(_PATH))
    except FileMissingError as error:
        handle(error)
    except DiskBusyError as error:
        handle(error)


def _repeated(handled: Callable[[Callable[[str], T]], None], call: Callable[[str], T]) -> Timer:
    def work(turns: Iterable[None]) -> None:
        for _ in turns:
            handled(call)

    return timed(work)


_CONSTRUCTOR = 'most of ours is the constructor of `Failure`, which `returns` owns'
_ABSTRACT = '`case Success` asks an abstract class of `returns`, which is slow to say no'
_PATTERN = 'a pattern with a field costs ten times a look at the type'


def _beside_raising(
    way: str, ours: Timer, *, target: float | None = None, because: str = ''
) -> Comparison:
    theirs = _repeated(_by_except, _raised)
    return Comparison(
        job=f'fail through 5 frames, {way}',
        peer='raise through 5 frames and `except`',
        ours=ours,
        theirs=theirs,
        target=target,
        because=because,
    )


COMPARISONS = (
    _beside_raising(
        'handled by `type(r) is Failure`',
        _repeated(_by_type, _returned),
        target=0.75,
        because=_CONSTRUCTOR,
    ),
    _beside_raising(
        'handled by `is_failure`',
        _repeated(_by_is_failure, _returned),
        target=0.75,
        because=_CONSTRUCTOR,
    ),
    _beside_raising(
        '`is_failure` in every frame',
        _repeated(_by_is_failure, _asked),
    ),
    _beside_raising(
        'handled by the two-level match, `case Failure` first',
        _repeated(_by_match_failure_first, _returned),
        target=1.1,
        because=_PATTERN,
    ),
    _beside_raising(
        'handled by the two-level match, `case Success` first',
        _repeated(_by_match, _returned),
        target=1.1,
        because=_ABSTRACT,
    ),
    Comparison(
        job='fail through 5 frames, handled by `type(r) is Failure`',
        peer='the same with `Err` of `result`',
        ours=_repeated(_by_type, _returned),
        theirs=_repeated(_by_peer, _returned_by_peer),
    ),
)
