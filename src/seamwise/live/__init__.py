"""Live sessions: event logs that lose nothing, and subscriptions that continue after a break."""

from typing import TYPE_CHECKING

from seamwise.live.events import Event as Event
from seamwise.live.events import Position as Position
from seamwise.live.events import Stored as Stored
from seamwise.live.log import EventLog as EventLog
from seamwise.live.log import LogLimits as LogLimits
from seamwise.live.metrics import Metrics as Metrics
from seamwise.live.session import Session as Session
from seamwise.live.stores.memory import MemoryLog as MemoryLog
from seamwise.live.stores.sqlite.log import SqliteLog as SqliteLog

if TYPE_CHECKING:
    from seamwise.live.client import connect as connect
    from seamwise.live.server.gateway import gateway as gateway
    from seamwise.live.stores.redis.log import RedisLog as RedisLog
    from seamwise.live.tokens import Principal as Principal
    from seamwise.live.tokens import signed_tokens as signed_tokens
else:
    # Imported on first use: a client needs no server, and a service with another store no redis-py.
    _MODULES = {
        'Principal': 'tokens',
        'RedisLog': 'stores.redis.log',
        'Tokens': 'tokens',
        'connect': 'client',
        'gateway': 'server.gateway',
        'signed_tokens': 'tokens',
    }
    _PACKAGES = {
        'client': ('websockets', 'websockets', 'live'),
        'server.gateway': ('starlette', 'Starlette', 'live'),
        'stores.redis.log': ('redis', 'redis-py', 'redis'),
        'tokens': ('jwt', 'PyJWT', 'live'),
    }
    """The package that a module needs, its name for people, and the extra that installs it."""

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 -- see above

        if name not in _MODULES:
            raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
        module = _MODULES[name]
        package, title, extra = _PACKAGES[module]
        try:
            return getattr(import_module(f'{__name__}.{module}'), name)
        except ImportError as error:
            if not _is_missing(package, error):
                raise
            message = f"seamwise.live.{name} needs {title}: pip install 'seamwise[{extra}]'"
            raise ModuleNotFoundError(message, name=package) from error

    def _is_missing(package: str, error: BaseException | None) -> bool:
        while isinstance(error, ImportError):
            if (error.name or '').partition('.')[0] == package:
                return True
            error = error.__cause__
        return False

    def __dir__() -> list[str]:
        return sorted({*globals(), *_MODULES})
