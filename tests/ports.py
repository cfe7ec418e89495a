"""Free ports for servers that cannot take a socket of their test."""

import random
import socket

# Below the ports that Linux, macOS and Windows give to clients: those may be taken by any
# connection of another test before the server has started.
_FIRST, _LAST = 10_000, 32_000
_RANDOM = random.SystemRandom()


def free_port() -> int:
    """Return a port of 127.0.0.1 that was free a moment ago.

    It is random, so that two tests in two processes do not get the same one.
    """
    while True:
        port = _RANDOM.randint(_FIRST, _LAST)
        with socket.socket() as probe:
            try:
                probe.bind(('127.0.0.1', port))
            except OSError:
                continue
        return port
