"""Five steps in direct style: beside `Result.do` where they succeed, beside raising where one fails."""

from collections.abc import Callable, Iterable
from threading import Event, Thread

import result as peer
from returns.result import Result as ReturnsResult

from benchmarks.measure import Comparison, Timer, timed
from benchmarks.sample import FileMissing, FileMissingError, handle
from seamwise import Do, Failure, Result, Success, fallible

Step = Callable[[int], Result[int, FileMissing]]
PlainStep = Callable[[int], int]

_PATH = 'src/app.py'
_SUCCESS: Result[int, FileMissing] = Success(1)
_FAILURE: Result[int, FileMissing] = Failure(FileMissing(tool='read_file', path=_PATH))
_OK: peer.Result[int, FileMissing] = peer.Ok(1)


def _hands_out(_: int) -> Result[int, FileMissing]:
    return _SUCCESS


def _hands_out_a_failure(_: int) -> Result[int, FileMissing]:
    return _FAILURE


def _makes(number: int) -> Success[int]:
    return Success(number + 1)


def _makes_a_failure(_: int) -> Result[int, FileMissing]:
    return Failure(FileMissing(tool='read_file', path=_PATH))


def _hands_out_ok(_: int) -> peer.Result[int, FileMissing]:
    return _OK


def _gives(_: int) -> int:
    return 1


def _raises(_: int) -> int:
    raise FileMissingError(tool='read_file', path=_PATH)


def _ours(a: Step, b: Step, c: Step, d: Step, e: Step) -> Timer:
    @fallible
    def five(do: Do[FileMissing], number: int) -> int:
        number = do(a(number))
        number = do(b(number))
        number = do(c(number))
        number = do(d(number))
        return do(e(number))

    return _looked_at(five)


def _fails_itself() -> Timer:
    @fallible
    def one(do: Do[FileMissing], number: int) -> int:
        if number:
            do.fail(FileMissing(tool='read_file', path=_PATH))
        return number

    return _looked_at(one)


def _looked_at(call: Step) -> Timer:
    def handled(number: int) -> None:
        result = call(number)
        if type(result) is Failure:
            handle(result.failure())

    return _repeated(handled)


def _plain(a: PlainStep, b: PlainStep, c: PlainStep, d: PlainStep, e: PlainStep) -> Timer:
    def five(number: int) -> int:
        number = a(number)
        number = b(number)
        number = c(number)
        number = d(number)
        return e(number)

    return _caught(five)


def _caught(call: PlainStep) -> Timer:
    def handled(number: int) -> None:
        try:
            call(number)
        except FileMissingError as error:
            handle(error)

    return _repeated(handled)


def _returns_do(step: Step) -> Timer:
    def handled(number: int) -> None:
        result: ReturnsResult[int, FileMissing] = ReturnsResult.do(
            e
            for a in step(number)
            for b in step(a)
            for c in step(b)
            for d in step(c)
            for e in step(d)
        )
        if type(result) is Failure:
            handle(result.failure())

    return _repeated(handled)


def _peer_do(step: Callable[[int], peer.Result[int, FileMissing]]) -> Timer:
    def handled(number: int) -> None:
        result: peer.Result[int, FileMissing] = peer.do(
            peer.Ok(e)
            for a in step(number)
            for b in step(a)
            for c in step(b)
            for d in step(c)
            for e in step(d)
        )
        if type(result) is peer.Err:
            handle(result.err_value)

    return _repeated(handled)


def _beside_a_thread(timer: Timer) -> Timer:
    def beside(times: int) -> int:
        ended = Event()
        other = Thread(target=ended.wait)
        other.start()
        try:
            return timer(times)
        finally:
            ended.set()
            other.join()

    return beside


def _repeated(handled: Callable[[int], None]) -> Timer:
    def work(turns: Iterable[None]) -> None:
        for _ in turns:
            handled(1)

    return timed(work)


def _all(step: Step) -> Timer:
    return _ours(step, step, step, step, step)


_FAILS_AT_1 = _ours(_hands_out_a_failure, _hands_out, _hands_out, _hands_out, _hands_out)
_FAILS_AT_5 = _ours(_hands_out, _hands_out, _hands_out, _hands_out, _hands_out_a_failure)
_RAISES_AT_1 = _plain(_raises, _gives, _gives, _gives, _gives)
_RAISES_AT_5 = _plain(_gives, _gives, _gives, _gives, _raises)

_SIGNAL = 'the early return is an exception too, and every `do` before it is a call'
_FRESH = 'the constructor of `Failure` that `returns` owns costs nearly as much as the one of the exception, and the early return comes on top'

COMPARISONS = (
    Comparison(
        job='`@fallible`, 5 steps, success, a constant each',
        peer='`Result.do` of `returns`',
        ours=_all(_hands_out),
        theirs=_returns_do(_hands_out),
        target=0.55,
        because='every `do` is a call of an object, and the function is called through another',
    ),
    Comparison(
        job='`@fallible`, 5 steps, success, a fresh one each',
        peer='`Result.do` of `returns`',
        ours=_all(_makes),
        theirs=_returns_do(_makes),
        target=0.55,
        because='five constructors of `Success`, the same on both sides, are most of it',
    ),
    Comparison(
        job='`@fallible`, 5 steps, success, a constant each',
        peer='`do` of `result`',
        ours=_all(_hands_out),
        theirs=_peer_do(_hands_out_ok),
    ),
    Comparison(
        job='`@fallible`, 5 steps, success, a constant each',
        peer='plain calls that give plain values',
        ours=_all(_hands_out),
        theirs=_plain(_gives, _gives, _gives, _gives, _gives),
    ),
    Comparison(
        job='`@fallible`, fail at step 1, a constant failure',
        peer='raise a fresh exception at step 1',
        ours=_FAILS_AT_1,
        theirs=_RAISES_AT_1,
        target=1.0,
        because=_SIGNAL,
    ),
    Comparison(
        job='`@fallible`, fail at step 5, a constant failure',
        peer='raise a fresh exception at step 5',
        ours=_FAILS_AT_5,
        theirs=_RAISES_AT_5,
        target=1.25,
        because=_SIGNAL,
    ),
    Comparison(
        job='`@fallible`, fail at step 1, a fresh failure',
        peer='raise a fresh exception at step 1',
        ours=_ours(_makes_a_failure, _hands_out, _hands_out, _hands_out, _hands_out),
        theirs=_RAISES_AT_1,
        target=1.0,
        because=_FRESH,
    ),
    Comparison(
        job='`@fallible`, fail at step 5, a fresh failure',
        peer='raise a fresh exception at step 5',
        ours=_ours(_hands_out, _hands_out, _hands_out, _hands_out, _makes_a_failure),
        theirs=_RAISES_AT_5,
        target=1.25,
        because=_FRESH,
    ),
    Comparison(
        job='`@fallible`, its body fails by `do.fail` with a fresh error',
        peer='its body raises a fresh exception',
        ours=_fails_itself(),
        theirs=_caught(_raises),
    ),
    Comparison(
        job='`@fallible`, fail at step 1, a constant failure, while another thread lives',
        peer='raise a fresh exception at step 1, likewise',
        ours=_beside_a_thread(_FAILS_AT_1),
        theirs=_beside_a_thread(_RAISES_AT_1),
    ),
)
