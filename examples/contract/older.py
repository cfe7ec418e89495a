"""The older contract of an API: the shapes that its clients still read, and answers with them."""

from collections.abc import Mapping

from seamwise import TaggedError
from seamwise.catalog.models import ModelNotFound, ProviderNotReady
from seamwise.catalog.protocols import McpConnectionFailed
from seamwise.catalog.sessions import SessionBusy, SessionNotFound
from seamwise.catalog.workspace import ConfigInvalid, ConfigUnreadable
from seamwise.seams import http
from seamwise.seams.http import Legacy, tables

OLDER: Mapping[type[TaggedError], Legacy] = {
    ModelNotFound: Legacy(
        'ProviderModelNotFoundError',
        {'providerID': 'provider', 'modelID': 'model', 'suggestions': 'suggestions'},
        has_message=False,
    ),
    ProviderNotReady: Legacy('ProviderInitError', {'providerID': 'provider'}, has_message=False),
    McpConnectionFailed: Legacy('MCPFailed', {'name': 'server'}, has_message=False),
    SessionNotFound: Legacy('SessionNotFoundError', {'sessionID': 'session'}),
    SessionBusy: Legacy('SessionBusyError', {'sessionID': 'session'}),
    ConfigUnreadable: Legacy('ConfigJsonError', {'path': 'path'}),
    ConfigInvalid: Legacy(
        'ConfigInvalidError',
        {'path': 'path', 'issues': 'problems'},
        optional=('issues',),
        has_paths=True,
    ),
}
"""The shapes by class, for the answers of the server and for `decode` of its clients."""

BAD_REQUEST = Legacy('BadRequest', {'kind': 'kind'})
"""The shape of `HttpError.bad_request`, which has no class."""


MODELS = tables.MODELS.but(
    http.on(ModelNotFound).responds(404, 'MODEL_NOT_FOUND', legacy=OLDER[ModelNotFound])
    | http.on(ProviderNotReady).responds(
        503, 'PROVIDER_UNAVAILABLE', details=('provider',), legacy=OLDER[ProviderNotReady]
    )
)
MCP = tables.MCP.but(
    http.on(McpConnectionFailed).responds(
        502, 'UPSTREAM_ERROR', details=('server',), legacy=OLDER[McpConnectionFailed]
    )
)
SESSIONS = tables.SESSIONS.but(
    http.on(SessionNotFound).responds(404, 'SESSION_NOT_FOUND', legacy=OLDER[SessionNotFound])
    | http.on(SessionBusy).responds(409, 'SESSION_CONFLICT', legacy=OLDER[SessionBusy])
)
CONFIG = http.on(ConfigUnreadable).responds(
    400, 'CONFIG_UNREADABLE', legacy=OLDER[ConfigUnreadable]
) | http.on(ConfigInvalid).responds(400, 'CONFIG_INVALID', legacy=OLDER[ConfigInvalid])
