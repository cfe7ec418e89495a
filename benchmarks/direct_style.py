"""Five steps in direct style, compared with `Result.do` on success and with raising on failure."""

from collections.abc import Callable, Iterable
from threading import Event, Thread
from typing import Never

import result as peer
from returns.result import Result as ReturnsResult
from returns.result import Success as ReturnsSuccess

from benchmarks.measure import Comparison, Timer, timed
from benchmarks.sample import FileMissing, FileMissingError, handle
from seamwise import Do, Failure, Result, Success, fallible

Step = Callable[[int], Result[int, FileMissing]]
PlainStep = Callable[[int], int]

_PATH = 'src/app.py'
_SUCCESS: Result[int, FileMissing] = Success(1)
_FAILURE: Result[int, FileMissing] = Failure(FileMissing(tool='read_file', path=_PATH))
_RETURNS: ReturnsResult[int, FileMissing] = ReturnsSuccess(1)
_OK: peer.Result[int, FileMissing] = peer.Ok(1)


def _return_constant(_: int) -> Result[int, FileMissing]:
    return _SUCCESS


def _return_constant_failure(_: int) -> Result[int, FileMissing]:
    return _FAILURE


def _return_new_success(number: int) -> Success[int]:
    return Success(number + 1)


def _return_new_failure(_: int) -> Result[int, FileMissing]:
    return Failure(FileMissing(tool='read_file', path=_PATH))


def _return_constant_of_returns(_: int) -> ReturnsResult[int, FileMissing]:
    return _RETURNS


def _return_new_of_returns(number: int) -> ReturnsResult[int, Never]:
    return ReturnsSuccess(number + 1)


def _return_constant_ok(_: int) -> peer.Result[int, FileMissing]:
    return _OK


def _return_new_ok(number: int) -> peer.Result[int, FileMissing]:
    return peer.Ok(number + 1)


def _return_value(_: int) -> int:
    return 1


def _raise_error(_: int) -> int:
    raise FileMissingError(tool='read_file', path=_PATH)


def _ours(a: Step, b: Step, c: Step, d: Step, e: Step) -> Timer:
    @fallible
    def five(do: Do[FileMissing], number: int) -> int:
        number = do(a(number))
        number = do(b(number))
        number = do(c(number))
        number = do(d(number))
        return do(e(number))

    return _handle_failure(five)


def _do_fail() -> Timer:
    @fallible
    def fail(do: Do[FileMissing], number: int) -> int:
        if number:
            do.fail(FileMissing(tool='read_file', path=_PATH))
        return number

    return _handle_failure(fail)


def _handle_failure(call: Step) -> Timer:
    def handled(number: int) -> None:
        result = call(number)
        if type(result) is Failure:
            handle(result.failure())

    return _repeat(handled)


def _plain(a: PlainStep, b: PlainStep, c: PlainStep, d: PlainStep, e: PlainStep) -> Timer:
    def five(number: int) -> int:
        number = a(number)
        number = b(number)
        number = c(number)
        number = d(number)
        return e(number)

    return _handle_exception(five)


def _handle_exception(call: PlainStep) -> Timer:
    def handled(number: int) -> None:
        try:
            call(number)
        except FileMissingError as error:
            handle(error)

    return _repeat(handled)


def _returns_do(step: Callable[[int], ReturnsResult[int, FileMissing]]) -> Timer:
    def handled(number: int) -> None:
        result: ReturnsResult[int, FileMissing] = ReturnsResult.do(
            e
            for a in step(number)
            for b in step(a)
            for c in step(b)
            for d in step(c)
            for e in step(d)
        )
        if type(result) is not ReturnsSuccess:
            handle(result.failure())

    return _repeat(handled)


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

    return _repeat(handled)


def _with_other_thread(timer: Timer) -> Timer:
    def timer_with_thread(times: int) -> int:
        ended = Event()
        other = Thread(target=ended.wait)
        other.start()
        try:
            return timer(times)
        finally:
            ended.set()
            other.join()

    return timer_with_thread


def _repeat(handled: Callable[[int], None]) -> Timer:
    def work(turns: Iterable[None]) -> None:
        for _ in turns:
            handled(1)

    return timed(work)


def _five(step: Step) -> Timer:
    return _ours(step, step, step, step, step)


_FAIL_AT_1 = _ours(
    _return_constant_failure, _return_constant, _return_constant, _return_constant, _return_constant
)
_FAIL_AT_5 = _ours(
    _return_constant, _return_constant, _return_constant, _return_constant, _return_constant_failure
)
_RAISE_AT_1 = _plain(_raise_error, _return_value, _return_value, _return_value, _return_value)
_RAISE_AT_5 = _plain(_return_value, _return_value, _return_value, _return_value, _raise_error)

_SIGNAL = 'the early return is an exception too, and every `do` is a call'

COMPARISONS = (
    Comparison(
        job='`@fallible`, 5 steps, all succeed, constant results',
        peer='`Result.do` of `returns`',
        ours=_five(_return_constant),
        theirs=_returns_do(_return_constant_of_returns),
        target=0.55,
        because='every `do` is a call of an object, and the function has a wrapper',
    ),
    Comparison(
        job='`@fallible`, 5 steps, all succeed, new results',
        peer='`Result.do` of `returns`',
        ours=_five(_return_new_success),
        theirs=_returns_do(_return_new_of_returns),
        target=0.4,
        because='every `do` is a call of an object, and the function has a wrapper',
    ),
    Comparison(
        job='`@fallible`, 5 steps, all succeed, new results',
        peer='`do` of `result`',
        ours=_five(_return_new_success),
        theirs=_peer_do(_return_new_ok),
        target=0.7,
        because='every `do` is a call of an object, and the function has a wrapper',
    ),
    Comparison(
        job='`@fallible`, 5 steps, all succeed, constant results',
        peer='`do` of `result`',
        ours=_five(_return_constant),
        theirs=_peer_do(_return_constant_ok),
    ),
    Comparison(
        job='`@fallible`, 5 steps, all succeed, constant results',
        peer='plain calls with plain values',
        ours=_five(_return_constant),
        theirs=_plain(_return_value, _return_value, _return_value, _return_value, _return_value),
    ),
    Comparison(
        job='`@fallible`, fail at step 1, constant failure',
        peer='raise a new exception at step 1',
        ours=_FAIL_AT_1,
        theirs=_RAISE_AT_1,
        target=1.0,
        because=_SIGNAL,
    ),
    Comparison(
        job='`@fallible`, fail at step 5, constant failure',
        peer='raise a new exception at step 5',
        ours=_FAIL_AT_5,
        theirs=_RAISE_AT_5,
        target=1.25,
        because=_SIGNAL,
    ),
    Comparison(
        job='`@fallible`, fail at step 1, new failure',
        peer='raise a new exception at step 1',
        ours=_ours(
            _return_new_failure,
            _return_constant,
            _return_constant,
            _return_constant,
            _return_constant,
        ),
        theirs=_RAISE_AT_1,
        target=1.25,
        because=_SIGNAL,
    ),
    Comparison(
        job='`@fallible`, fail at step 5, new failure',
        peer='raise a new exception at step 5',
        ours=_ours(
            _return_constant,
            _return_constant,
            _return_constant,
            _return_constant,
            _return_new_failure,
        ),
        theirs=_RAISE_AT_5,
        target=1.5,
        because=_SIGNAL,
    ),
    Comparison(
        job='`@fallible`, `do.fail` with a new error',
        peer='raise a new exception in the body',
        ours=_do_fail(),
        theirs=_handle_exception(_raise_error),
    ),
    Comparison(
        job='`@fallible`, fail at step 1, constant failure, with a second thread',
        peer='raise a new exception at step 1, with a second thread',
        ours=_with_other_thread(_FAIL_AT_1),
        theirs=_with_other_thread(_RAISE_AT_1),
    ),
)
