"""Parts of the transports that are the same for all libraries: opening and closing."""

from types import TracebackType
from typing import Protocol, Self

from seamwise.policies._engine.pipeline import Guard


class _Closable(Protocol):
    def __enter__(self) -> object: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> object: ...
    def close(self) -> None: ...


class _AsyncClosable(Protocol):
    async def __aenter__(self) -> object: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> object: ...
    async def aclose(self) -> None: ...


class DelegatingTransport:
    """Base of a transport around another one, which it opens and closes."""

    def __init__(self, inner: _Closable) -> None:
        self._inner = inner

    def close(self) -> None:
        """Close the inner transport."""
        self._inner.close()

    def __enter__(self) -> Self:
        """Open the inner transport."""
        self._inner.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        exception: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Close the inner transport."""
        self._inner.__exit__(kind, exception, traceback)


class AsyncDelegatingTransport:
    """Base of an asynchronous transport around another one, which it opens and closes."""

    def __init__(self, inner: _AsyncClosable) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        """Open the inner transport."""
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        exception: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Close the inner transport."""
        await self._inner.__aexit__(kind, exception, traceback)


def check_guard(guard: Guard[object]) -> Guard[object]:
    """Return the argument, or raise a TypeError if it is no guard."""
    if not isinstance(guard, Guard):
        raise TypeError(f'guard must be a guard such as retry(), not {guard!r}.')
    return guard
