"""Planner seam: errors classified by 19 codes in 10 categories, and decisions about them."""

from seamwise.seams.planner.codes import ErrorCategory as ErrorCategory
from seamwise.seams.planner.codes import ErrorCode as ErrorCode
from seamwise.seams.planner.decisions import Correct as Correct
from seamwise.seams.planner.decisions import Decision as Decision
from seamwise.seams.planner.decisions import FallBack as FallBack
from seamwise.seams.planner.decisions import Queue as Queue
from seamwise.seams.planner.decisions import Retry as Retry
from seamwise.seams.planner.decisions import Stop as Stop
from seamwise.seams.planner.decisions import Wait as Wait
from seamwise.seams.planner.decisions import decide as decide
from seamwise.seams.planner.exceptions import from_exception as from_exception
from seamwise.seams.planner.from_text import from_error_string as from_error_string
from seamwise.seams.planner.on import on as on
from seamwise.seams.planner.outcomes import PLANNER as PLANNER
from seamwise.seams.planner.outcomes import classify as classify
from seamwise.seams.planner.shape import ErrorInfo as ErrorInfo
from seamwise.seams.planner.shape import decode as decode
from seamwise.seams.planner.shape import defect as defect
from seamwise.seams.planner.shape import encode as encode
from seamwise.seams.wire.decoding import UnreadableBody as UnreadableBody
