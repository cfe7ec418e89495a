"""A report as one JSON object."""

from msgspec import Struct

from seamwise._text.jsonable import to_json
from seamwise.check.checking import Report


class FindingShape(Struct, frozen=True):
    """A finding as programs read it; `line` and `column` count from 1, the latter characters."""

    code: str
    path: str
    line: int
    column: int
    message: str
    help: str
    severity: str


class ReportShape(Struct, frozen=True):
    """A report as programs read it; `seconds` is how long it took."""

    findings: list[FindingShape]
    files: int
    seconds: float


def as_json(report: Report) -> bytes:
    """Encode the findings; what could not be read is told elsewhere."""
    fields = FindingShape.__struct_fields__
    findings = [FindingShape(*(getattr(one, name) for name in fields)) for one in report.findings]
    return to_json(ReportShape(findings, report.files, round(report.seconds, 3)))
