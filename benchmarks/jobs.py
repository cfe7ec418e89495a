"""Every job by its name."""

from collections.abc import Mapping

from benchmarks import binding, building, collecting, direct_style, five_frames, importing, redacting
from benchmarks.measure import Comparison

JOBS: Mapping[str, tuple[Comparison, ...]] = {
    'building': building.COMPARISONS,
    'five_frames': five_frames.COMPARISONS,
    'direct_style': direct_style.COMPARISONS,
    'binding': binding.COMPARISONS,
    'collecting': collecting.COMPARISONS,
    'importing': importing.COMPARISONS,
    'redacting': redacting.COMPARISONS,
}
