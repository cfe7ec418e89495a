"""Cache of the adoption report: the last one, as long as the checked files and their types stay."""

from pathlib import Path
from tempfile import NamedTemporaryFile
from time import perf_counter

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from seamwise.check.adoption.report import AdoptionReport, adoption_report
from seamwise.check.collection.code_base import read_code_base
from seamwise.check.settings import CheckSettings


class _CachedReport(Struct, frozen=True):
    digest: bytes
    report: AdoptionReport


def cached_adoption_report(
    paths: tuple[str, ...], settings: CheckSettings, *, no_cache: bool = False
) -> AdoptionReport:
    """Return the adoption report, from the cache if nothing that it depends on has changed.

    The cache is the one of the check. Whether something has changed takes much less time than the
    analysis, which needs the types of all files.
    """
    started_at = perf_counter()
    python = settings.python_executable
    if no_cache or settings.cache is None:
        return adoption_report(paths, python_executable=python)
    digest = read_code_base(paths, cache=settings.cache, python_executable=python).digest
    file = settings.cache / 'adoption'
    cached = _read(file) if digest else None
    if cached is not None and cached.digest == digest:
        return replace(cached.report, seconds=perf_counter() - started_at)
    report = adoption_report(paths, python_executable=python)
    if digest:
        _write(file, _CachedReport(digest, report))
    return report


def _read(file: Path) -> _CachedReport | None:
    try:
        return msgspec.msgpack.decode(file.read_bytes(), type=_CachedReport)
    except (OSError, msgspec.DecodeError):
        return None


def _write(file: Path, cached: _CachedReport) -> None:
    try:
        encoded = msgspec.msgpack.encode(cached)
        with NamedTemporaryFile(dir=file.parent, delete=False) as temporary:
            temporary.write(encoded)
        Path(temporary.name).replace(file)
    except (OSError, ValueError):
        # A path that is not UTF-8 cannot be encoded. The report is then made again.
        file.unlink(missing_ok=True)
