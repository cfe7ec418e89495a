"""# SW104: a Result unwrapped without proof.

`.unwrap()` of a Failure and `.failure()` of a Success raise: the error, which was a typed value, becomes an exception that no
type names. Behind a check that proves which of the two it is (`isinstance`, `is_success`, a `match`, an early return) they
are fine. An `assert is_success(…)` is no check, it is the same bet: it is reported itself, and what follows it is not.

Tests may do both: `test_*.py`, `*_test.py`, `conftest.py` and everything in a folder `tests`.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class NoSuchUser(TaggedError, category=Category.NOT_FOUND, message='There is no user {uid}.'):
    uid: int


def find_user(uid: int) -> Result[str, NoSuchUser]:
    return Success('ada') if uid == 1 else Failure(NoSuchUser(uid))
```

Fails:

```python
def greeting(uid: int) -> str:
    return f'Hello {find_user(uid).unwrap()}'
```

Mended:

```python
def hello(uid: int) -> str:
    user = find_user(uid)
    if isinstance(user, Failure):
        return 'Who are you?'
    return f'Hello {user.unwrap()}'
```
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import FAILURE, SUCCESS, Channel, channel_of
from seamwise.check.typed_ast.program import FUNCTIONS, Module, walk

GUARDS = frozenset({'seamwise.containers.is_success', 'seamwise.containers.is_failure'})
UNTYPED = 'returns.pipeline.is_successful'
"""It tells, but narrows no type."""
CHECKS = GUARDS | {'builtins.isinstance', 'builtins.type'}
HELP = 'Prove it first (`isinstance`, `is_success`, a `match`), or use `.bind`, `.value_or`, `do`, `or_raise`.'


def find(module: Module) -> Iterator[RawFinding]:
    """Give each unwrapping, and each assertion, of a Result that may be the other one."""
    if is_test(module.path):
        return
    for statement in module.nodes_of_type(ast.Assert):
        yield from _asserted(statement, module)
    for call in module.nodes_of_type(ast.Call):
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr in {'unwrap', 'failure'}
            and not call.args
            and not call.keywords
        ):
            yield from _unwrapped(call, call.func, module)


def is_test(path: Path) -> bool:
    """Whether a file is a test, by its name or by a folder `tests` below the current directory."""
    own = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return (
        path.name == 'conftest.py'
        or path.name.startswith('test_')
        or path.stem.endswith('_test')
        or 'tests' in own.parts[:-1]
    )


def _unwrapped(call: ast.Call, method: ast.Attribute, module: Module) -> Iterator[RawFinding]:
    found = channel_of(module.type_of(method.value))
    if found is None:
        return
    is_proven = not (found.is_failure if method.attr == 'unwrap' else found.is_success)
    if is_proven or _was_asked(method.value, call, found, module):
        return
    other = 'a Failure' if method.attr == 'unwrap' else 'a Success'
    yield RawFinding(
        call,
        f'`.{method.attr}()` raises where this is {other}, and no check before it proves that it is none.',
        HELP,
    )


def _was_asked(value: ast.expr, call: ast.Call, found: Channel, module: Module) -> bool:
    """Whether an earlier check is one that mypy does not follow: what it proves, nobody can say.

    That is one by `is_successful`, any of what is typed as the open base class, and any that is kept under a name:
    `is_well = is_success(result)`.
    """
    asked = ast.unparse(value)
    for node in walk(_scope(call, module)):
        if (
            not isinstance(node, ast.Call)
            or not node.args
            or ast.unparse(node.args[0]) != asked
            or node.lineno > call.lineno
        ):
            continue
        name = module.full_name(node.func)
        if name == UNTYPED or (name in CHECKS and (found.is_open or _is_kept(node, module))):
            return True
    return found.is_open and _is_matched(value, call, module)


def _is_kept(node: ast.expr, module: Module) -> bool:
    around: ast.AST | None = node
    while isinstance(around, ast.expr):
        around = module.parents.get(around)
    return isinstance(around, ast.Assign | ast.AnnAssign)


def _is_matched(value: ast.expr, call: ast.Call, module: Module) -> bool:
    around: ast.AST | None = call
    while around is not None and not isinstance(around, FUNCTIONS):
        around = module.parents.get(around)
        if isinstance(around, ast.Match) and ast.unparse(around.subject) == ast.unparse(value):
            return True
    return False


def _scope(node: ast.AST, module: Module) -> ast.AST:
    around: ast.AST = node
    while not isinstance(around, FUNCTIONS) and around in module.parents:
        around = module.parents[around]
    return around


def _asserted(node: ast.Assert, module: Module) -> Iterator[RawFinding]:
    subject = _subject(node.test, module)
    found = channel_of(module.type_of(subject)) if subject is not None else None
    if subject is None or found is None or not (found.is_success and found.is_failure):
        return
    yield RawFinding(
        node,
        f'This assertion bets that `{ast.unparse(subject)}` is one of the two; nothing before it proves it.',
        HELP,
    )


def _subject(test: ast.expr, module: Module) -> ast.expr | None:
    """Give what an assertion says to be a Success or a Failure."""
    match test:
        case ast.UnaryOp(ast.Not(), inner):
            return _subject(inner, module)
        case ast.Call(func, [subject]) if module.full_name(func) in {*GUARDS, UNTYPED}:
            return subject
        case ast.Call(func, [subject, kind]) if module.full_name(
            func
        ) == 'builtins.isinstance' and _is_kind(kind, module):
            return subject
        case ast.Compare(ast.Call(func, [subject]), [ast.Is() | ast.Eq()], [kind]) if (
            module.full_name(func) == 'builtins.type' and _is_kind(kind, module)
        ):
            return subject
        case _:
            return None


def _is_kind(kind: ast.expr, module: Module) -> bool:
    return module.full_name(kind) in SUCCESS | FAILURE


RULE = Rule('SW104', 'a Result unwrapped without proof', 'warning', __doc__ or '', find)
