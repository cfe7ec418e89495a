"""# SW116: failure returned inside a transaction

Return a failure after the block of a transaction, or let it raise. A `return` ends the block
normally, so that the transaction is committed although the function fails. `do.fail(…)`, `do(…)`
and `or_raise(…)` raise inside the block and roll it back.

```python
import sqlite3

from seamwise import Category, Do, Failure, Result, Success, TaggedError, fallible


class OutOfStock(TaggedError, category=Category.CONFLICT, message='{book!r} is sold out.'):
    book: str
```

Reported:

```python
def sell(db: sqlite3.Connection, book: str) -> Result[int, OutOfStock]:
    with db:
        db.execute('INSERT INTO sales (book) VALUES (?)', [book])
        row = db.execute('UPDATE stock SET n = n - 1 WHERE book = ? RETURNING n', [book]).fetchone()
        if row[0] < 0:
            return Failure(OutOfStock(book))
    return Success(row[0])
```

Fixed:

```python
@fallible
def sold(do: Do[OutOfStock], db: sqlite3.Connection, book: str) -> int:
    with db:
        db.execute('INSERT INTO sales (book) VALUES (?)', [book])
        row = db.execute('UPDATE stock SET n = n - 1 WHERE book = ? RETURNING n', [book]).fetchone()
        if row[0] < 0:
            do.fail(OutOfStock(book))
    return int(row[0])
```

| Code | Reported |
| --- | --- |
| `return Failure(…)` in the block | yes |
| `return result` in the block, where the result is narrowed to a Failure | yes |
| `return result`, which may be a Success too | no |
| A failure that is returned after the block | no |
| A failure after `rollback()` in the block, or `set_rollback(True)` of Django | no |
| A failure before the first write: only reads such as `execute(select(…))` precede it | no |

These context managers commit: `begin` and `begin_nested` of SQLAlchemy's sessions, session
factories, engines and connections, and their transactions; a `sqlite3.Connection`; a connection and
`transaction()` of psycopg, and `connection()` of its pools; a connection of psycopg2;
`transaction()` of asyncpg; `atomic` of Django, as a decorator too.

So do context managers of the checked code, also as decorators: a class whose `__exit__` or
`__aexit__` calls `.commit()` if there is no exception, itself or through functions that it calls,
and a function with `@contextmanager` that does so behind its `yield`. One that commits on another
condition too, such as a flag that a method sets, does not count. In their blocks, functions named
`get_…`, `find_…`, `is_…` and the like only read.
"""

import ast
from collections.abc import Iterator

from seamwise.check.facts import HelperCondition
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.exception_flow.block_exits import exit_of
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import FAILURE, channel_of, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Module, children, walk
from seamwise.check.typed_ast.transactions import commits

_ROLLBACKS = frozenset({'rollback', 'set_rollback'})
_READS = frozenset({
    'all', 'count', 'exists', 'fetchall', 'fetchmany', 'fetchone', 'filter', 'filter_by', 'first',
    'get', 'get_one', 'join', 'limit', 'mappings', 'one', 'one_or_none', 'options', 'order_by',
    'query', 'refresh', 'scalar', 'scalar_one', 'scalar_one_or_none', 'scalars', 'select',
    'select_for_update', 'unique', 'where', 'with_for_update',
})  # fmt: skip
"""Methods of database libraries that write nothing, unless a statement is passed to them."""
_STATEMENTS = frozenset({'execute', 'fetch', 'fetchrow', 'fetchval', 'scalar', 'scalars'})
"""Methods that run the statement in their first argument."""
_READING_VERBS = frozenset({
    'by', 'count', 'exists', 'fetch', 'find', 'get', 'has', 'is', 'list', 'load', 'lookup', 'query',
    'read', 'search', 'select',
})  # fmt: skip
_WRITING_WORDS = frozenset({'or', 'and', 'create', 'update', 'delete'})
_PURE_FUNCTIONS = frozenset({
    'builtins.isinstance', 'builtins.len', 'builtins.type',
    'seamwise._results.containers.is_failure', 'seamwise._results.containers.is_success',
    'sqlalchemy.sql._elements_constructors.text',
})  # fmt: skip

_HELP = (
    'Return it after the block; or raise it inside, which rolls back:'
    ' `do.fail(…)`, `do(result)` in a `@fallible` function, or `or_raise(result)`.'
)


def _find_committed_failures(module: Module) -> Iterator[RawFinding]:
    for statement in module.nodes_of_type(ast.Return):
        if statement.value is None or not _is_failure(statement.value, module):
            continue
        for manager, function in _transactions_around(statement, module):
            message = (
                f'This failure is returned inside `{_excerpt(manager)}`,'
                ' which commits what was written before.'
            )
            unless = HelperCondition(committing=function) if function else None
            yield RawFinding(statement, message, _HELP, unless=unless)


def _is_failure(value: ast.expr, module: Module) -> bool:
    """Return whether a value is certainly a Failure, in one branch of a condition at least."""
    if isinstance(value, ast.IfExp):
        return _is_failure(value.body, module) or _is_failure(value.orelse, module)
    if isinstance(value, ast.Call) and module.full_name(value.func) in FAILURE:
        return True
    types = [member for type_ in module.types_of(value) for member in union_members(type_)]
    channels = [channel_of(member) for member in types]
    return bool(channels) and all(
        channel is not None and channel.is_failure and not channel.is_success
        for channel in channels
    )


def _transactions_around(statement: ast.Return, module: Module) -> Iterator[tuple[ast.expr, str]]:
    """Yield the context managers around a statement that commit a write before it.

    These are the innermost one that certainly commits, and those inside of it that commit if
    another function does. Its full name is empty for the former.
    """
    before: list[ast.AST] = []
    node: ast.AST = statement
    while (parent := module.parents.get(node)) is not None:
        before += _executed_before(parent, node)
        for manager, function in _transactions_of(parent, module):
            nodes = [child for part in before for child in _nodes_before(part)]
            if any(map(_is_rollback, nodes)):
                return
            if any(_may_write(child, module) for child in nodes):
                yield manager, function
            if not function:
                return
        if isinstance(parent, FUNCTIONS):
            return
        node = parent


def _transactions_of(parent: ast.AST, module: Module) -> Iterator[tuple[ast.expr, str]]:
    """Yield the context managers of a statement that may commit, with the function that does."""
    managers: list[ast.expr] = []
    if isinstance(parent, ast.With | ast.AsyncWith):
        managers = [item.context_expr for item in reversed(parent.items)]
    elif isinstance(parent, FUNCTIONS):
        managers = parent.decorator_list
    for manager in managers:
        if commits(manager, module):
            yield manager, ''
            continue
        function = exit_of(
            manager,
            inference_of(module),
            is_async=isinstance(parent, ast.AsyncWith),
            is_decorator=isinstance(parent, FUNCTIONS),
        )
        if function:
            yield manager, function


def _executed_before(parent: ast.AST, node: ast.AST) -> list[ast.AST]:
    """Return the parts of a statement that run before one of its children, or around it."""
    blocks: list[list[ast.AST]] = [
        getattr(parent, name, []) for name in ('body', 'orelse', 'handlers', 'finalbody', 'cases')
    ]
    block = next((block for block in blocks if node in block), None)
    if block is None:
        return []
    earlier = block[: block.index(node)]
    match parent:
        case ast.If(test=test):
            return [test, *earlier]
        case ast.While(test=test):
            return [test, *parent.body]
        case ast.Match(subject=subject):
            return [subject]
        case ast.For(iter=iterable) | ast.AsyncFor(iter=iterable):
            # An earlier iteration runs the whole body.
            return [iterable, *parent.body]
        case ast.Try() | ast.TryStar():
            return [*earlier, *(parent.body if node not in parent.body else ()), *parent.finalbody]
        case _:
            return earlier


def _nodes_before(part: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run before a later statement: no functions, and no branches that end."""
    if isinstance(part, ast.Return | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    yield part
    ended: list[ast.AST] = []
    if isinstance(part, ast.If | ast.match_case):
        for block in (part.body, part.orelse if isinstance(part, ast.If) else []):
            if block and isinstance(block[-1], ast.Return | ast.Raise):
                ended += block
    for child in children(part):
        if child not in ended:
            yield from _nodes_before(child)


def _is_rollback(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _ROLLBACKS
    )


def _may_write(node: ast.AST, module: Module) -> bool:
    match node:
        case (
            ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del())
        ):
            # An object-relational mapper writes changed objects.
            return True
        case ast.Call(ast.Attribute(attr=name), [statement, *_]) if name in _STATEMENTS:
            return not _is_query(statement)
        case ast.Call(ast.Attribute(attr=name)) if name in _READS:
            return False
        case ast.Call(function) if _is_read(function, module):
            return False
        case ast.Call(function):
            return module.full_name(function) not in _PURE_FUNCTIONS and not _is_select(function)
        case _:
            return False


def _is_read(function: ast.expr, module: Module) -> bool:
    """Return whether a function only constructs an object, or is named as one that only reads."""
    if module.class_at(function) is not None:
        return True
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, 'id', '')
    verb, *words = name.lstrip('_').split('_')
    return verb in _READING_VERBS and _WRITING_WORDS.isdisjoint(words)


def _is_query(statement: ast.expr) -> bool:
    if isinstance(statement, ast.Constant) and isinstance(statement.value, str):
        return statement.value.lstrip().upper().startswith('SELECT')
    if isinstance(statement, ast.Call) and isinstance(statement.func, ast.Name) and statement.args:
        is_text = statement.func.id == 'text'
        return _is_query(statement.args[0]) if is_text else _is_select(statement.func)
    return any(isinstance(node, ast.Call) and _is_select(node.func) for node in walk(statement))


def _is_select(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, 'id', '')
    return name in {'select', 'exists'}


def _excerpt(manager: ast.expr) -> str:
    if isinstance(manager, ast.Call) and (manager.args or manager.keywords):
        return f'{ast.unparse(manager.func)}(…)'
    return ast.unparse(manager)


RULE = Rule(
    'SW116',
    'failure returned inside a transaction',
    'warning',
    __doc__ or '',
    _find_committed_failures,
)
