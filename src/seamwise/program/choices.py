"""Options of few values, where a misspelt one is answered with the nearest."""

from collections.abc import Sequence

import click
from typing_extensions import override

from seamwise._close_matches import close_matches
from seamwise._text.phrases import join_quoted


class Choice(click.Choice[str]):
    """Like click's own, but it asks `did you mean`."""

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(choices)

    @override
    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """Say what is allowed, and what is near."""
        found = close_matches(str(value), self.choices)
        asked = f' Did you mean {join_quoted(found)}?' if found else ''
        return super().get_invalid_choice_message(value, ctx) + asked
