"""Errors of the tests."""

from seamwise import Category, Cause, Secret, TaggedError


class Gone(TaggedError, namespace='testing', category=Category.NOT_FOUND, message='{key} is gone.'):
    key: int
    shelf: str = 'A'


class Busy(TaggedError, namespace='testing', category=Category.CAPACITY):
    retry_after: float | None = None


class LoginFailed(TaggedError, namespace='testing', category=Category.AUTHENTICATION):
    user: str
    token: Secret[str]
    password: str = ''


class SyncFailed(TaggedError, namespace='testing', category=Category.EXECUTION):
    parts: tuple[Gone, ...] = ()
    cause: Cause | None = None


class Empty(TaggedError, namespace='testing', category=Category.CONFLICT):
    pass
