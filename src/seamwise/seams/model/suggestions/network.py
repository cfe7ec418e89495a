"""What a model can do next where a service that was called does not do its part."""

from seamwise.catalog.network import CredentialsRejected, HostUnreachable, NetworkTimedOut, UpstreamFailed, UpstreamRateLimited
from seamwise.seams.model.suggestions._words import again


def host_unreachable(error: HostUnreachable) -> str:
    """Tell to check the name, and that a second try may do."""
    return f'Check that {error.host!r} is the right address and try once more; if that fails too, go on without it or tell the user.'


def network_timed_out(error: NetworkTimedOut) -> str:
    """Tell when to come back, and what would be quicker."""
    return f'{again(error)}, asking {error.host} for less at once; after a second timeout go on without it.'


def upstream_rate_limited(error: UpstreamRateLimited) -> str:
    """Tell how long to wait, and how many requests there are."""
    limit = f' It takes {error.limit} requests; put several things into one.' if error.limit is not None else ''
    return f'{again(error)}, and not before: every earlier call is refused too.{limit}'


def credentials_rejected(error: CredentialsRejected) -> str:
    """Tell who can help; never to look for a key."""
    return (
        f"This program's own credentials are missing, wrong or expired; no other call to {error.service} will do better. "
        f'Tell the user to set {error.required_config!r}, and go on without {error.service}.'
    )


def upstream_failed(error: UpstreamFailed) -> str:
    """Tell when to come back; the fault is on the other side."""
    return f"The fault is {error.service}'s, not your call's. {again(error)}; if it fails once more, take another way or tell the user."
