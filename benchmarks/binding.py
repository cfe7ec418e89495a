"""Chains of `bind`: the code is that of `returns`, so the cost must be equal."""

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
)
