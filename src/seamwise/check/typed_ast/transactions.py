"""Context managers that commit a transaction when their block ends normally."""

import ast
from types import MappingProxyType

from seamwise.check.typed_ast.channels import base_names, union_members
from seamwise.check.typed_ast.program import Module
from seamwise.check.typed_ast.qualified_names import qualified_name

_TRANSACTIONS = frozenset({
    'sqlite3.Connection',
    'sqlalchemy.orm.session.SessionTransaction', 'sqlalchemy.engine.base.Transaction',
    'sqlalchemy.ext.asyncio.session.AsyncSessionTransaction',
    'sqlalchemy.ext.asyncio.engine.AsyncTransaction',
    'psycopg.Connection', 'psycopg.connection.Connection',
    'psycopg.AsyncConnection', 'psycopg.connection_async.AsyncConnection',
    'psycopg.transaction.Transaction', 'psycopg.transaction.AsyncTransaction',
    'psycopg2.extensions.connection', 'psycopg2._psycopg.connection',
    'asyncpg.transaction.Transaction',
    'django.db.transaction.Atomic',
})  # fmt: skip
"""Classes of context managers that commit when their block ends normally."""

_BEGIN = frozenset({'begin', 'begin_nested', 'begin_twophase'})
_METHODS = MappingProxyType({
    **dict.fromkeys((
        'sqlalchemy.orm.session.Session', 'sqlalchemy.orm.session.sessionmaker',
        'sqlalchemy.orm.scoping.scoped_session', 'sqlalchemy.engine.base.Engine',
        'sqlalchemy.engine.base.Connection', 'sqlalchemy.ext.asyncio.session.AsyncSession',
        'sqlalchemy.ext.asyncio.session.async_sessionmaker',
        'sqlalchemy.ext.asyncio.scoping.async_scoped_session',
        'sqlalchemy.ext.asyncio.engine.AsyncEngine',
        'sqlalchemy.ext.asyncio.engine.AsyncConnection',
    ), _BEGIN),
    **dict.fromkeys((
        'psycopg.Connection', 'psycopg.connection.Connection', 'psycopg.AsyncConnection',
        'psycopg.connection_async.AsyncConnection', 'asyncpg.connection.Connection',
        'asyncpg.pool.PoolConnectionProxy',
    ), frozenset({'transaction'})),
    **dict.fromkeys((
        'psycopg_pool.pool.ConnectionPool', 'psycopg_pool.pool_async.AsyncConnectionPool',
    ), frozenset({'connection'})),
})  # fmt: skip
"""Methods that return such a context manager, by the class that defines them."""

_FUNCTIONS = frozenset({'django.db.transaction.atomic'})


def commits(manager: ast.expr, module: Module) -> bool:
    """Return whether a context manager, or a decorator, is a known transaction."""
    if any(base_names(member) & _TRANSACTIONS for member in union_members(module.type_of(manager))):
        return True
    function = manager.func if isinstance(manager, ast.Call) else manager
    if qualified_name(function, module) in _FUNCTIONS:
        return True
    if not isinstance(manager, ast.Call) or not isinstance(manager.func, ast.Attribute):
        return False
    owners = union_members(module.type_of(manager.func.value))
    names = frozenset[str]().union(*map(base_names, owners))
    return any(manager.func.attr in _METHODS.get(name, ()) for name in names)
