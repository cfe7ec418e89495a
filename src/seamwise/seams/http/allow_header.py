"""The methods that a resource takes, over all routes that lead to it: Starlette names those of the first one only."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from seamwise.seams.http.exchange import Scope


@runtime_checkable
class _Route(Protocol):
    """What a route of Starlette or FastAPI has, and a mount has not."""

    methods: Iterable[str] | None

    def matches(self, scope: Scope, /) -> tuple[object, Scope]: ...


def allowed_methods(scope: Scope) -> set[str]:
    """Give the methods of every route that matches the path of a request (RFC 9110, 10.2.1); none where no router is known."""
    routes: Iterable[object] = getattr(scope.get('router'), 'routes', ())
    return {
        method
        for route in routes
        if isinstance(route, _Route) and _leads_there(route, scope)
        for method in route.methods or ()
    }


def _leads_there(route: _Route, scope: Scope) -> bool:
    # A match of Starlette is 0 where there is none, 1 where only the method is another one, 2 in full.
    match, _ = route.matches(dict(scope))
    return bool(getattr(match, 'value', 0))
