"""Baseline files: the findings that a code base already has, so that only new ones are reported.

A finding is identified as in a comparison with a commit: by rule, file, message and source line,
but not by its line number. Paths are relative to the folder of the baseline file.
"""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise.check.findings import Finding

_VERSION = 1


class BaselineEntry(Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """Equal findings of one file."""

    path: str
    code: str
    message: str
    source: str
    """Text of the line, without the indentation."""
    count: int = 1


class Baseline(Struct, frozen=True, forbid_unknown_fields=True):
    """Contents of a baseline file."""

    version: int
    findings: tuple[BaselineEntry, ...]


def write_baseline(file: Path, findings: Iterable[Finding]) -> int:
    """Write a baseline file, and return the number of its findings.

    Raises:
        OSError: The file cannot be written.
    """
    counts = Counter(_entry(finding, file) for finding in findings)
    entries = sorted(msgspec.structs.replace(entry, count=n) for entry, n in counts.items())
    encoded = msgspec.json.encode(Baseline(_VERSION, tuple(entries)))
    file.write_bytes(msgspec.json.format(encoded, indent=1) + b'\n')
    return counts.total()


def read_baseline(file: Path) -> Result[Baseline, str]:
    """Read a baseline file, or return a one-line error message."""
    try:
        baseline = msgspec.json.decode(file.read_bytes(), type=Baseline)
    except (OSError, msgspec.DecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Failure(f'{file} cannot be read: {reason}.')
    if baseline.version != _VERSION:
        return Failure(f'{file} has version {baseline.version}, not {_VERSION}: write it again.')
    return Success(baseline)


def without_baseline(
    findings: Iterable[Finding], baseline: Baseline, file: Path
) -> tuple[Finding, ...]:
    """Return the findings that a baseline does not have; of equal ones, the last are new."""
    known = Counter[BaselineEntry]()
    for entry in baseline.findings:
        known[msgspec.structs.replace(entry, count=1)] += entry.count
    new: list[Finding] = []
    for finding in findings:
        entry = _entry(finding, file)
        if known[entry] > 0:
            known[entry] -= 1
        else:
            new.append(finding)
    return tuple(new)


def _entry(finding: Finding, file: Path) -> BaselineEntry:
    path = Path(os.path.relpath(finding.path, file.parent)).as_posix()
    return BaselineEntry(
        path=_without_surrogates(path),
        code=finding.code,
        message=_without_surrogates(finding.message),
        source=_without_surrogates(finding.source.strip()),
    )


def _without_surrogates(text: str) -> str:
    # JSON cannot contain the surrogates of file names that are not UTF-8.
    return text.encode('utf-8', 'replace').decode()
