"""What can go wrong with a caller of ours: who it is, and what it may do."""

from typing import TypeAlias

from seamwise.categories import Category
from seamwise.errors import TaggedError


class Unauthenticated(
    TaggedError, category=Category.AUTHENTICATION, message='This needs credentials ({scheme}).'
):
    """The caller has not said who it is, or not in a way that counts. It signs in by `scheme`, as in `Bearer`."""

    scheme: str
    reason: str | None = None


class AccessDenied(
    TaggedError, category=Category.PERMISSION, message='You may not {action} {resource!r}.'
):
    """The caller is known, but may not do this. Somebody who may grants it."""

    action: str
    resource: str


AccessError: TypeAlias = Unauthenticated | AccessDenied
