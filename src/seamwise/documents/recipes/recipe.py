"""A recipe for an error: calls that the tool host is to run, in a workspace that is made for them."""

import json
from collections.abc import Mapping

from msgspec import Struct


class Calls(Struct, frozen=True):
    """Lines as `seamwise run` takes them, of which the last one fails; files that stand in the workspace, limits of the host.

    A name of a file that ends in `/` is a folder. `handles` are the files that the process may still open.
    """

    lines: tuple[str, ...]
    files: Mapping[str, str] = {}
    mistake_limit: int = 0
    handles: int | None = None


def call(tool: str, /, **arguments: object) -> str:
    """Write a call as a line."""
    return json.dumps({'tool': tool, 'arguments': arguments}, ensure_ascii=False)
