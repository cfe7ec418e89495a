"""What a session is sent of a caller that may not go on."""

from seamwise.catalog.access import AccessDenied, AccessError, Unauthenticated
from seamwise.seams.adapter import Adapter
from seamwise.seams.session.on import on
from seamwise.seams.session.shape import ErrorEvent

ACCESS: Adapter[AccessError, ErrorEvent] = on(Unauthenticated).publishes('error.permanent', 'ERR_AUTH_002') | on(AccessDenied).publishes(
    'error.permanent', 'ERR_ACCESS_001'
)
