"""Lists of tools of a server: tools that cannot be used are left out, and named."""

from collections.abc import Mapping
from logging import getLogger
from typing import Any, Final

from mcp.types import Tool as ToolDefinition
from mcp.types.methods import validate_server_result
from pydantic import ValidationError

from seamwise._text.jsonable import to_json
from seamwise._text.shortening import shorten
from seamwise.toolhost.formats.entries import is_array, is_object

_LOGGER: Final = getLogger('seamwise.mcp')

MAX_TOOLS: Final = 1_000
"""The maximum number of tools of a server; the others are left out."""

MAX_DEFINITION: Final = 2**18
"""The maximum size of the definition of a tool, in bytes of JSON."""

_MAX_REJECTED: Final = 100
"""The number of tools that are left out whose names and reasons are kept."""

_NAME_LIMIT: Final = 80


class ToolFilter:
    """Filter for the lists of tools of a server, before the official package reads them.

    That package refuses a whole list because of one definition, and takes long for many.

    Args:
        server: The name of the server, for the log.

    Attributes:
        rejected: The tools that were left out: the reason by name.
        revision: The revision of MCP that the connection uses, empty while it is opened.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self.rejected: dict[str, str] = {}
        self.revision = ''

    def reset(self) -> None:
        """Forget the tools that were left out of the list before."""
        self.rejected = {}

    def rewrite(self, result: dict[str, Any]) -> dict[str, Any]:
        """Return a result of the server, without unusable tools if it is a list of tools."""
        tools: object = result.get('tools')
        if not is_array(tools):
            return result
        if len(tools) > MAX_TOOLS:
            self._reject(f'tools after the first {MAX_TOOLS:,}', 'there are too many')
        return {**result, 'tools': [tool for tool in tools[:MAX_TOOLS] if self._is_usable(tool)]}

    def _is_usable(self, tool: object) -> bool:
        reason = _problem(tool, self.revision)
        if reason is None:
            return True
        name = tool.get('name') if is_object(tool) else tool
        self._reject(shorten(name if isinstance(name, str) else repr(name), _NAME_LIMIT), reason)
        return False

    def _reject(self, name: str, reason: str) -> None:
        if len(self.rejected) < _MAX_REJECTED:
            self.rejected[name] = reason
            _LOGGER.warning('The tool %r of %s cannot be used: %s.', name, self._server, reason)


def _problem(tool: object, revision: str) -> str | None:
    """Return the reason why a definition cannot be used, or None."""
    if not is_object(tool):
        return 'its definition is not an object'
    if (size := len(to_json(tool))) > MAX_DEFINITION:
        return f'its definition has {size:,} bytes, more than {MAX_DEFINITION:,}'
    try:
        ToolDefinition.model_validate(tool, by_name=False)
        if revision:
            validate_server_result('tools/list', revision, _page(tool))
    except ValidationError as error:
        return shorten(_describe(error))
    return None


def _page(tool: Mapping[str, object]) -> dict[str, object]:
    # The members that a page has since 2026-07-28.
    return {'tools': [tool], 'resultType': 'complete', 'ttlMs': 0, 'cacheScope': 'private'}


def _describe(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = '/'.join(str(part) for part in first['loc'] if part not in {'tools', 0})
    return f'{path}: {first["msg"]}' if path else first['msg']
