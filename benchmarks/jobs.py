"""All benchmarks, by name."""

from collections.abc import Mapping

from benchmarks import (
    binding,
    building,
    checking,
    collecting,
    direct_style,
    fastapi_failing,
    five_frames,
    guarding,
    guarding_tools,
    guarding_values,
    http_bodies,
    importing,
    parsing_calls,
    planning,
    processing,
    redacting,
    suggesting,
)
from benchmarks.measure import Comparison

JOBS: Mapping[str, tuple[Comparison, ...]] = {
    'building': building.COMPARISONS,
    'five_frames': five_frames.COMPARISONS,
    'direct_style': direct_style.COMPARISONS,
    'binding': binding.COMPARISONS,
    'checking': checking.COMPARISONS,
    'collecting': collecting.COMPARISONS,
    'importing': importing.COMPARISONS,
    'redacting': redacting.COMPARISONS,
    'parsing_calls': parsing_calls.COMPARISONS,
    'http_bodies': http_bodies.COMPARISONS,
    'fastapi_failing': fastapi_failing.COMPARISONS,
    'planning': planning.COMPARISONS,
    'suggesting': suggesting.COMPARISONS,
    'guarding': guarding.COMPARISONS,
    'guarding_values': guarding_values.COMPARISONS,
    'guarding_tools': guarding_tools.COMPARISONS,
    'processing': processing.COMPARISONS,
}
