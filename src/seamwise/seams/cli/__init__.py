"""CLI seam: errors as text and exit codes for a terminal."""

from seamwise._runtime.source_excerpt import Place as Place
from seamwise.seams.cli.foreign import foreign as foreign
from seamwise.seams.cli.main import main as main
from seamwise.seams.cli.main import set_style as set_style
from seamwise.seams.cli.on import on as on
from seamwise.seams.cli.report import report as report
from seamwise.seams.cli.shape import Rendered as Rendered
from seamwise.seams.cli.shape import defect as defect
from seamwise.seams.cli.values import done as done
