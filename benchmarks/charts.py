"""Charts of the simulations: an SVG for light and one for dark pages."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from matplotlib import rc_context  # pyright: ignore[reportUnknownVariableType]  # it has a type for each of its 300 settings
from matplotlib.figure import Figure
from tools.themes import THEMES, Theme

Axes: TypeAlias = Any
"""The rows of a chart; like those of a figure, their methods have incomplete types."""

_WIDTH, _HEIGHT_OF_ROW = 9, 1.9
"""In inches."""


def write_chart(
    folder: Path,
    name: str,
    draw: Callable[[Axes, Theme], None],
    *,
    rows: int,
    x_label: str,
    y_label: str,
) -> None:
    """Write a chart of several rows with common axes, `NAME-light.svg` and `NAME-dark.svg`.

    Args:
        folder: Folder of the files.
        name: Name of the chart.
        draw: Draws the rows in the colors of a theme.
        rows: Number of rows.
        x_label: Label of the horizontal axis.
        y_label: Label of the vertical axes.
    """
    folder.mkdir(exist_ok=True)
    for theme_name, theme in THEMES.items():
        with rc_context(
            {
                'svg.hashsalt': 'seamwise',
                'svg.fonttype': 'none',
                'font.size': 9,
                'figure.facecolor': theme.surface,
                'axes.facecolor': theme.card,
                'axes.edgecolor': theme.line,
                'axes.labelcolor': theme.text,
                'text.color': theme.text,
                'xtick.color': theme.muted,
                'ytick.color': theme.muted,
                'grid.color': theme.line,
                'grid.linewidth': 0.4,
                'legend.facecolor': theme.card,
                'legend.edgecolor': theme.line,
            }
        ):
            figure: Any = Figure(figsize=(_WIDTH, _HEIGHT_OF_ROW * rows), layout='constrained')
            axes = figure.subplots(rows, 1, sharex=True, sharey=True)
            draw(axes, theme)
            axes[-1].set_xlabel(x_label)
            figure.supylabel(y_label)
            figure.savefig(
                folder / f'{name}-{theme_name}.svg', format='svg', metadata={'Date': None}
            )
