"""Live sessions: event logs that lose nothing, and subscriptions that continue after a break."""

from seamwise.live.delivery.subscription import Subscription as Subscription
from seamwise.live.events import Event as Event
from seamwise.live.events import Position as Position
from seamwise.live.events import Stored as Stored
from seamwise.live.limits import Limits as Limits
from seamwise.live.log import EventLog as EventLog
from seamwise.live.replay import Replay as Replay
from seamwise.live.stores.memory import MemoryLog as MemoryLog
