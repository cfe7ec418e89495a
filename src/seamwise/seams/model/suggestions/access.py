"""What a model can do next where it may not do what it wants."""

from seamwise.catalog.access import AccessDenied, Unauthenticated


def unauthenticated(error: Unauthenticated) -> str:
    """Tell who signs in; never to ask for a password."""
    return f'Ask the user to sign in ({error.scheme}); do not ask for the credentials themselves.'


def access_denied(_: AccessDenied) -> str:
    """Tell who decides."""
    return 'Do not try to get around this. Work with what you may use, or ask the user to have it granted.'
