"""What the exceptions of SQLAlchemy mean, by type and by what the drivers below it say."""

from typing import Never

from typing_extensions import TypeVar

from seamwise.catalog.network import CredentialsRejected
from seamwise.catalog.storage import RecordExists, RecordNotFound, StoreUnavailable
from seamwise.containers import Failure
from seamwise.edges import Classify
from seamwise.policies.classify.driver_codes import Meaning, meaning, says_nothing
from seamwise.policies.classify.exception_text import reason

try:
    from sqlalchemy import exc as raises
except ModuleNotFoundError as missing:
    if missing.name != 'sqlalchemy':
        raise
    raise ImportError(
        'seamwise.policies.classify.sqlalchemy needs SQLAlchemy: pip install sqlalchemy'
    ) from missing

X = TypeVar('X', bound=RecordExists, default=Never)
M = TypeVar('M', bound=RecordNotFound, default=Never)


def sqlalchemy_failures(
    store: str,
    *,
    exists: X | None = None,
    missing: M | None = None,
    required_config: str | None = None,
) -> Classify[StoreUnavailable | CredentialsRejected | X | M]:
    """Give a classifier, for `refine`, of what SQLAlchemy raises where a database does not serve; with asyncio too.

    `store` names the database in the errors, `required_config` the setting that holds its credentials. The classifier gives

    - StoreUnavailable where no connection came about, it broke, or none of the pool came free in time, and where the
      database says by code that it cannot now: it is locked, starts or stops, is full, or ended the transaction for
      another one (a deadlock, a serialization failure: whoever tries again begins the whole transaction anew),
    - CredentialsRejected where it says by code that it wants other credentials,
    - `exists`, if given, where a key is taken (a unique violation), and `missing`, if given, for NoResultFound: only
      the code around knows which record it meant.

    Everything else stays an exception: a missing table, a wrong statement, and every other IntegrityError are bugs, of
    the program or of its validation. A unique violation is one too where no `exists` says that it is expected.
    The `cause` is the driver's own exception: the text of SQLAlchemy's shows the statement and its parameters.

    >>> from sqlalchemy import create_engine, text
    >>> from seamwise import refine
    >>> def count() -> int:
    ...     with create_engine('sqlite:////no/such/folder/shop.db').connect() as connection:
    ...         return connection.execute(text('select count(*) from orders')).scalar_one()
    >>> refine(count, sqlalchemy_failures('shop')).failure().reason
    'unable to open database file'
    """

    def classify(
        raised: Exception,
    ) -> Failure[StoreUnavailable | CredentialsRejected | X | M] | None:
        if isinstance(raised, raises.NoResultFound):
            return Failure(missing) if missing is not None else None
        if isinstance(raised, raises.TimeoutError):
            return Failure(StoreUnavailable(store, reason(raised), cause=raised))
        if not isinstance(raised, raises.DBAPIError) or raised.orig is None:
            return None
        meant = _meant(raised, raised.orig)
        if meant == 'taken':
            return Failure(exists) if exists is not None else None
        if meant == 'credentials':
            return Failure(
                CredentialsRejected(
                    store, required_config or f'the credentials for {store}', cause=raised.orig
                )
            )
        return (
            Failure(StoreUnavailable(store, reason(raised.orig), cause=raised.orig))
            if meant == 'not_now'
            else None
        )

    return classify


def _meant(raised: raises.DBAPIError, orig: BaseException) -> Meaning | None:
    said = meaning(orig)
    if said is not None:
        return said
    # Without a statement it was a connection that did not come about; then many drivers have no code.
    never_came = (
        isinstance(raised, raises.OperationalError)
        and raised.statement is None
        and says_nothing(orig)
    )
    return 'not_now' if raised.connection_invalidated or never_came else None
