"""What a caller who may not is to a planner."""

from seamwise.catalog.access import (
    AccessDenied,
    AccessError,
    Unauthenticated,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

ACCESS: Adapter[AccessError, ErrorInfo] = on(Unauthenticated).classifies('CONFIGURATION_ERROR') | on(AccessDenied).classifies(
    'TOOL_EXECUTION_FAILED'
)
