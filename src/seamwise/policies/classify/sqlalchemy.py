"""Classifier for the exceptions of SQLAlchemy, by their type and the error codes of the drivers."""

from ssl import SSLCertVerificationError
from typing import Never, TypeAlias

from typing_extensions import TypeVar

from seamwise._errors.causes import Raised
from seamwise._errors.errors import TaggedError, retry_after
from seamwise._results.containers import Failure
from seamwise._results.edges import Classify
from seamwise.catalog.network import CredentialsRejected
from seamwise.catalog.storage import RecordExists, RecordNotFound, StoreUnavailable
from seamwise.policies.classify.driver_codes import ErrorType, driver_error_type, has_error_code
from seamwise.policies.classify.exception_text import exception_reason

try:
    from sqlalchemy import Dialect, exc
except ModuleNotFoundError as error:
    if error.name != 'sqlalchemy':
        raise
    raise ImportError(
        'seamwise.policies.classify.sqlalchemy needs SQLAlchemy: pip install sqlalchemy'
    ) from error

__all__ = ['sqlalchemy_failures']

X = TypeVar('X', bound=RecordExists, default=Never)
M = TypeVar('M', bound=RecordNotFound, default=Never)

ConnectError: TypeAlias = StoreUnavailable | CredentialsRejected
"""Errors of an attempt to connect."""


def sqlalchemy_failures(
    store: str,
    *,
    exists: X | None = None,
    missing: M | None = None,
    required_config: tuple[str, ...] = (),
) -> Classify[StoreUnavailable | CredentialsRejected | X | M]:
    """Return a classifier, for `refine`, of the exceptions that SQLAlchemy raises in an outage.

    It also works with the asyncio extension.

    - StoreUnavailable: The connection failed or broke, or the pool had no free connection in time,
      or a guard refused to connect (`ConnectRefused`).
      Also: the error code says that the database is locked, starting, stopping or full. Also: it
      says that another transaction caused a deadlock or a serialization failure. Retry the whole
      transaction then.
    - CredentialsRejected: The error code says that the credentials are wrong.
    - `exists`: A unique constraint was violated.
    - `missing`: NoResultFound.

    Everything else remains an exception. A missing table, a wrong statement and any other
    IntegrityError are bugs. So is a unique violation if `exists` is not set, and NoResultFound if
    `missing` is not set.

    The `cause` is the exception of the driver: that of SQLAlchemy shows the statement with its
    parameters.

    Args:
        store: Name of the database in the errors.
        exists: Error for a unique violation; only the caller knows the record.
        missing: Error for NoResultFound; only the caller knows the record.
        required_config: Names of the settings with the credentials.

    >>> from sqlalchemy import create_engine, text
    >>> from seamwise import refine
    >>> def count_orders() -> int:
    ...     with create_engine('sqlite:////no/such/folder/shop.db').connect() as connection:
    ...         return connection.execute(text('select count(*) from orders')).scalar_one()
    >>> refine(count_orders, sqlalchemy_failures('shop')).failure().reason
    'unable to open database file'
    """

    def classify(
        error: Exception,
    ) -> Failure[StoreUnavailable | CredentialsRejected | X | M] | None:
        if isinstance(error, exc.NoResultFound):
            return Failure(missing) if missing is not None else None
        if isinstance(error, exc.TimeoutError) or _is_refusal(error):
            return Failure(_unavailable(store, error))
        if isinstance(error, exc.DBAPIError) and error.orig is not None:
            return classify_driver_error(error, error.orig)
        return None

    def classify_driver_error(
        error: exc.DBAPIError, driver_error: BaseException
    ) -> Failure[StoreUnavailable | CredentialsRejected | X | M] | None:
        match _error_type(error, driver_error):
            case 'duplicate_key':
                return Failure(exists) if exists is not None else None
            case 'credentials':
                return Failure(CredentialsRejected(store, required_config, cause=driver_error))
            case 'unavailable':
                reason = exception_reason(driver_error)
                return Failure(StoreUnavailable(store, reason, cause=driver_error))
            case None:
                return None

    return classify


def classify_connect(error: Exception, dialect: Dialect, store: str) -> ConnectError | None:
    """Return the error for an exception of a driver that could not connect; else None."""
    if isinstance(error, SSLCertVerificationError):
        return None
    if isinstance(error, OSError):
        # asyncpg raises those of the socket.
        return StoreUnavailable(store, exception_reason(error), cause=error)
    base: type[Exception] = dialect.loaded_dbapi.Error
    if not isinstance(error, base):
        return None
    wrapped = exc.DBAPIError.instance(None, None, error, base, dialect=dialect)
    failure = sqlalchemy_failures(store)(wrapped)
    return None if failure is None else failure.failure()


def _is_refusal(error: Exception) -> bool:
    """Return whether a guard refused to connect; other code can raise `Raised` too."""
    return isinstance(error, Raised) and isinstance(error, exc.OperationalError)


def _unavailable(store: str, error: Exception) -> StoreUnavailable:
    refusal: object = error.error if isinstance(error, Raised) else None
    delay = retry_after(refusal) if isinstance(refusal, TaggedError) else None
    return StoreUnavailable(store, exception_reason(error), retry_after=delay, cause=error)


def _error_type(error: exc.DBAPIError, driver_error: BaseException) -> ErrorType | None:
    type_ = driver_error_type(driver_error)
    if type_ is not None:
        return type_
    # An error without a statement happened while connecting. Many drivers have no code for it.
    is_connection_error = (
        isinstance(error, exc.OperationalError)
        and error.statement is None
        and not has_error_code(driver_error)
    )
    return 'unavailable' if error.connection_invalidated or is_connection_error else None
