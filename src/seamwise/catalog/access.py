"""Errors of callers of this program: authentication and permissions."""

from typing import TypeAlias

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError


class Unauthenticated(
    TaggedError, category=Category.AUTHENTICATION, message='This needs credentials ({scheme}).'
):
    """The caller sent no valid credentials. It authenticates with `scheme`, such as `Bearer`."""

    scheme: str
    reason: str | None = None


class AccessDenied(
    TaggedError, category=Category.PERMISSION, message='You may not {action} {resource!r}.'
):
    """The caller is authenticated but lacks the permission. A person who may grant it decides."""

    action: str
    resource: str


AccessError: TypeAlias = Unauthenticated | AccessDenied
