"""Several failures at once: those that look alike are told once, with their number."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from seamwise.seams.cli.shape import Rendered

MOST_GROUPS = 100
"""So many different failures are told; of more, how many there are."""

VARIOUS = 1
"""The exit code of failures that do not have the same one."""


class Group(Struct, frozen=True):
    """A failure, and how often it came."""

    rendered: Rendered
    count: int

    @property
    def lines(self) -> list[str]:
        """The lines of its text, with the number in the first one."""
        head, *rest = self.rendered.text.split('\n')
        return [head if self.count == 1 else f'{head} ({self.count} times)', *rest]


def grouped(rendered: Iterable[Rendered]) -> list[Group]:
    """Put failures together that look alike, in the order in which they first came.

    >>> [(group.lines, group.count) for group in grouped([Rendered('No.', 1), Rendered('Why?', 2), Rendered('No.', 1)])]
    [(['No. (2 times)'], 2), (['Why?'], 1)]
    """
    return [Group(one, count) for one, count in Counter(rendered).items()]


def common_code(groups: Iterable[Group]) -> int:
    """Give the exit code that all failures have, else 1."""
    codes = {one.rendered.exit_code for one in groups}
    return codes.pop() if len(codes) == 1 else VARIOUS
