"""Grouping of several failures: equal ones are shown once, with their count."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from seamwise.seams.cli.shape import Rendered

MAX_GROUPS = 100
"""Number of different failures that are shown in full; the others are only counted."""

MIXED_EXIT_CODE = 1
"""Exit code of failures whose exit codes differ."""


class RenderedGroup(Struct, frozen=True):
    """A rendered failure and its number of occurrences."""

    rendered: Rendered
    count: int

    @property
    def lines(self) -> list[str]:
        """The lines of the text; the first one ends with the count, if there are several."""
        head, *rest = self.rendered.text.split('\n')
        return [head if self.count == 1 else f'{head} ({self.count} times)', *rest]


def group_equal(rendered: Iterable[Rendered]) -> list[RenderedGroup]:
    """Group equal failures, in the order of their first occurrence.

    >>> groups = group_equal([Rendered('No.', 1), Rendered('Why?', 2), Rendered('No.', 1)])
    >>> [(group.lines, group.count) for group in groups]
    [(['No. (2 times)'], 2), (['Why?'], 1)]
    """
    return [RenderedGroup(text, count) for text, count in Counter(rendered).items()]


def common_exit_code(groups: Iterable[RenderedGroup]) -> int:
    """Return the exit code if all failures have the same one, else 1."""
    exit_codes = {group.rendered.exit_code for group in groups}
    return exit_codes.pop() if len(exit_codes) == 1 else MIXED_EXIT_CODE
