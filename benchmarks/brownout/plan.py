"""Times and rates of the simulation."""

from msgspec import Struct


class Plan(Struct, frozen=True):
    """A run of the simulation. Times are in seconds after its start.

    The service answers `slots` requests at a time. Each takes `service_time`, and `slow_time` if it
    begins during the brown-out. It can thus serve 700 requests per second, or 140 when it is slow.

    Attributes:
        slow_from: Start of the brown-out.
        slow_until: End of the brown-out.
        duration: Time for which the clients call.
        clients: Number of clients, in all processes.
        processes: Number of processes of the clients.
        period: Interval at which a client calls.
        patience: Time limit of an attempt.
        attempts: Maximum number of attempts of a call.
        slots: Number of requests that the service handles at a time.
        service_time: Duration of a request.
        slow_time: Duration of a request that begins during the brown-out.
    """

    slow_from: float = 3.0
    slow_until: float = 7.0
    duration: float = 20.0
    clients: int = 1000
    processes: int = 2
    period: float = 2.0
    patience: float = 0.5
    attempts: int = 4
    slots: int = 35
    service_time: float = 0.05
    slow_time: float = 0.25

    @property
    def rate(self) -> float:
        """Number of calls per second of all clients."""
        return self.clients / self.period
