"""The planner's seam: an error as a classified record, of 19 codes in 10 categories."""

from seamwise.seams.planner.codes import ErrorCategory as ErrorCategory
from seamwise.seams.planner.codes import ErrorCode as ErrorCode
from seamwise.seams.planner.on import from_error as from_error
from seamwise.seams.planner.on import on as on
from seamwise.seams.planner.shape import ErrorInfo as ErrorInfo
from seamwise.seams.planner.shape import LogForm as LogForm
from seamwise.seams.planner.shape import defect as defect
from seamwise.seams.planner.shape import encode as encode
