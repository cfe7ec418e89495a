"""How it looks at a terminal when a caller is not let in."""

from seamwise.catalog.access import AccessDenied, AccessError, Unauthenticated
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered


def _why(error: Unauthenticated) -> str | None:
    return None if error.reason is None else f'{error.reason}.'


ACCESS: Adapter[AccessError, Rendered] = on(Unauthenticated).exits(77, hint=_why) | on(AccessDenied).exits(
    77, hint='somebody who may has to grant it.'
)
