"""What a language model is told where it may not do what it wants."""

from seamwise.catalog.access import (
    AccessDenied,
    AccessError,
    Unauthenticated,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import access as suggest

ACCESS: Adapter[AccessError, Guidance] = on(Unauthenticated).guides(
    'execution_error', suggestion=suggest.unauthenticated, denied=True
) | on(AccessDenied).guides('execution_error', suggestion=suggest.access_denied, denied=True)
