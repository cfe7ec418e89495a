"""Explanation of a failed comparison with the verbosity and the terminal width of pytest."""

from typing import Any

import pytest

from seamwise.testing import comparison
from seamwise.testing.formatting import MAX_VALUE

FULL_DIFF = 2
"""Verbosity (`-vv`) of values that are not cut."""

LABEL_WIDTH = len('E       assert ')


def explain(config: pytest.Config, left: object, right: object) -> list[str] | None:
    """Return the lines of the explanation, or None if no side is a result or an error."""

    def explain_other(left_value: object, right_value: object) -> list[str] | None:
        # pytest itself and other plugins explain differences of lists, dicts and texts.
        explanations: Any = config.hook.pytest_assertrepr_compare(
            config=config, op='==', left=left_value, right=right_value
        )
        return next((lines for lines in explanations if lines), None)

    is_full = config.get_verbosity(pytest.Config.VERBOSITY_ASSERTIONS) >= FULL_DIFF
    terminal = config.get_terminal_writer()
    return comparison.explain(
        left,
        right,
        width=None if is_full else terminal.fullwidth - LABEL_WIDTH,
        limit=None if is_full else MAX_VALUE,
        explain_other=explain_other,
    )
