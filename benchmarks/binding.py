"""Chains of `bind` with constant and with new results."""

from collections.abc import Iterable

import result as peer
from returns.result import Result as ReturnsResult
from returns.result import Success as ReturnsSuccess

from benchmarks.measure import Comparison, timed
from seamwise import Result, Success

_OURS: Result[int, str] = Success(1)
_RETURNS: ReturnsResult[int, str] = ReturnsSuccess(1)
_OK: peer.Result[int, str] = peer.Ok(1)


def _our_step(_: int) -> Result[int, str]:
    return _OURS


def _open_step(_: int) -> ReturnsResult[int, str]:
    return _RETURNS


def _peer_step(_: int) -> peer.Result[int, str]:
    return _OK


def _ours(turns: Iterable[None]) -> None:
    for _ in turns:
        _ = (
            _our_step(1)
            .bind(_our_step)
            .bind(_our_step)
            .bind(_our_step)
            .bind(_our_step)
            .bind(_our_step)
        )


def _returns(turns: Iterable[None]) -> None:
    for _ in turns:
        # pyright does not infer the result of `bind` of `returns`.
        _ = (
            _open_step(1)  # pyright: ignore[reportUnknownMemberType]
            .bind(_open_step)
            .bind(_open_step)
            .bind(_open_step)
            .bind(_open_step)
            .bind(_open_step)
        )


def _peer(turns: Iterable[None]) -> None:
    for _ in turns:
        _peer_step(1).and_then(_peer_step).and_then(_peer_step).and_then(_peer_step).and_then(
            _peer_step
        ).and_then(_peer_step)


def _new_step(number: int) -> Success[int]:
    return Success(number + 1)


def _new_peer_step(number: int) -> peer.Ok[int]:
    return peer.Ok(number + 1)


def _ours_new(turns: Iterable[None]) -> None:
    for _ in turns:
        _ = _new_step(1).bind(_new_step).bind(_new_step).bind(_new_step).bind(_new_step)


def _peer_new(turns: Iterable[None]) -> None:
    for _ in turns:
        _new_peer_step(1).and_then(_new_peer_step).and_then(_new_peer_step).and_then(
            _new_peer_step
        ).and_then(_new_peer_step)


COMPARISONS = (
    Comparison(
        job='`.bind`, a chain of 5',
        peer='`.bind` of `returns`',
        ours=timed(_ours),
        theirs=timed(_returns),
        target=1.1,
        because='both run the same code',
    ),
    Comparison(
        job='`.bind`, a chain of 5',
        peer='`.and_then` of `result`',
        ours=timed(_ours),
        theirs=timed(_peer),
    ),
    Comparison(
        job='five steps with `.bind`, new results',
        peer='`.and_then` of `result`',
        ours=timed(_ours_new),
        theirs=timed(_peer_new),
        target=0.85,
        because='the calls of the steps and of `bind` cost the same on both sides',
    ),
)
