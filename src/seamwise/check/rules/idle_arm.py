"""# SW108: an arm for an error that never arrives.

An arm that nobody can reach looks like a decision and is none: the error was taken by an arm above, or it does not come out
of what is matched. Whoever reads the code believes that it can happen, and its tests cannot reach it.

Asked are the arms of a `match` and those of an adapter that is local to a function. An adapter that many share may cover more
than one of them sends.

```python
from typing import assert_never

from seamwise import Category, Failure, Result, Success, TaggedError


class NoSuchUser(TaggedError, category=Category.NOT_FOUND, message='There is no user {uid}.'):
    uid: int


class Locked(TaggedError, category=Category.PERMISSION, message='This account is locked.'):
    pass


def find_user(uid: int) -> Result[str, NoSuchUser]:
    return Success('ada') if uid == 1 else Failure(NoSuchUser(uid))
```

Fails:

```python
def greeting(uid: int) -> str:
    match find_user(uid):
        case Success(name):
            return f'Hello {name}'
        case Failure(NoSuchUser()):
            return 'Who are you?'
        case Failure(Locked()):
            return 'Ask for help.'
```

Mended:

```python
def hello(uid: int) -> str:
    match find_user(uid):
        case Success(name):
            return f'Hello {name}'
        case Failure(error):
            match error:
                case NoSuchUser():
                    return 'Who are you?'
                case _:
                    assert_never(error)
```
"""

import ast
from collections.abc import Iterator, Mapping

from mypy.nodes import TypeInfo

from seamwise.check.channels import channel
from seamwise.check.findings import Spot
from seamwise.check.flows import reader_of
from seamwise.check.flows.bindings import Given
from seamwise.check.flows.functions import adapter_seam
from seamwise.check.flows.kinds import NOTHING, Kinds, is_error, joined, meets, without
from seamwise.check.flows.reader import FAILURE, Reader
from seamwise.check.program import Module, Program
from seamwise.check.rules.rule import Rule

HELP = 'Take the arm out; if the error should arrive, name it in the channel that it comes from.'


def find(module: Module, program: Program) -> Iterator[Spot]:  # noqa: ARG001 -- as all rules are asked
    """Give each arm for an error that cannot be there."""
    reader = reader_of(module)
    for match in module.every(ast.Match):
        yield from _arms(match, reader)
    for call in module.every(ast.Call):
        yield from _adapter(call, reader)


def _arms(match: ast.Match, reader: Reader) -> Iterator[Spot]:
    is_result = channel(reader.module.type(match.subject)) is not None
    arriving = reader.errors(match.subject) if is_result else reader.made(match.subject)
    if arriving is None or not (is_result or (arriving and all(is_error(info) for info in arriving.values()))):
        return
    left = arriving
    for arm in match.cases:
        for pattern in _parts(arm.pattern):
            inner = _of_failure(pattern, reader) if is_result else pattern
            for one in _parts(inner) if inner is not None else ():
                asked = _asked(one, reader)
                if asked and not any(meets(info, kind) for info in left.values() for kind in asked.values()):
                    yield Spot(arm, _message(one, asked, arriving), HELP)
                if arm.guard is None:
                    left = _left(one, left, reader)


def _parts(pattern: ast.pattern) -> Iterator[ast.pattern]:
    """Give the alternatives of a pattern, without the names that it is given."""
    match pattern:
        case ast.MatchOr(parts):
            for one in parts:
                yield from _parts(one)
        case ast.MatchAs(ast.pattern() as inner):
            yield from _parts(inner)
        case _:
            yield pattern


def _of_failure(pattern: ast.pattern, reader: Reader) -> ast.pattern | None:
    match pattern:
        case ast.MatchClass(kind, [inner]) if reader.module.full_name(kind) in FAILURE:
            return inner
        case _:
            return None


def _asked(pattern: ast.pattern, reader: Reader) -> Kinds:
    """Give the error class that a pattern asks for."""
    if not isinstance(pattern, ast.MatchClass):
        return NOTHING
    return {name: info for name, info in (reader.made_by(pattern.cls) or NOTHING).items() if is_error(info)}


def _left(pattern: ast.pattern, errors: Kinds, reader: Reader) -> Kinds:
    """Give the errors that go on to the next arm."""
    if isinstance(pattern, ast.MatchAs):
        return NOTHING
    if not isinstance(pattern, ast.MatchClass):
        return errors
    inner = (*pattern.patterns, *pattern.kwd_patterns)
    if not all(isinstance(one, ast.MatchAs) and one.pattern is None for one in inner):
        return errors
    return without(errors, _asked(pattern, reader).values())


def _message(pattern: ast.pattern, asked: Kinds, arriving: Mapping[str, TypeInfo]) -> str:
    name = ast.unparse(pattern.cls) if isinstance(pattern, ast.MatchClass) else 'This error'
    if any(meets(info, kind) for info in arriving.values() for kind in asked.values()):
        return f'`{name}` never arrives at this arm: one above takes it.'
    return f'`{name}` never arrives here: what is matched brings {_names(arriving)}.'


def _names(errors: Mapping[str, TypeInfo]) -> str:
    return ' and '.join(f'`{info.name}`' for info in errors.values()) or 'no error'


def _adapter(call: ast.Call, reader: Reader) -> Iterator[Spot]:
    """Look at an adapter that is called where it is made, or under a local name that nothing else sees."""
    if len(call.args) != 1 or call.keywords or not adapter_seam(call.func, reader.module):
        return
    if isinstance(call.func, ast.Name):
        made = _local(call.func, reader)
        arriving = _all_arriving(call.func, reader) if made is not None else None
        # Called twice, it is asked where it is called first.
        is_first = made is not None and _uses(call.func, reader)[0] is call.func
    else:
        made, arriving, is_first = call.func, reader.made(call.args[0]), True
    if made is None or arriving is None or not is_first:
        return
    for arm, kind in _arms_of(made, reader):
        if not any(meets(info, kind) for info in arriving.values()):
            yield Spot(arm, f'`{kind.name}` never arrives here: this adapter is handed {_names(arriving)}.', HELP)


def _local(name: ast.Name, reader: Reader) -> ast.expr | None:
    function = reader.function_of(name)
    bound = reader.bindings(function).get(name.id, ()) if function is not None else ()
    return bound[0].value if len(bound) == 1 and isinstance(bound[0], Given) else None


def _uses(name: ast.Name, reader: Reader) -> list[ast.Name]:
    function = reader.function_of(name)
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Name)] if function is not None else []
    found = [node for node in nodes if node.id == name.id and isinstance(node.ctx, ast.Load)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _all_arriving(name: ast.Name, reader: Reader) -> Kinds | None:
    """Give all that a local adapter is handed; None where it is handed on itself, and nobody can say."""
    parts: list[Kinds | None] = []
    for use in _uses(name, reader):
        call = reader.module.parents.get(use)
        if not isinstance(call, ast.Call) or call.func is not use or len(call.args) != 1:
            return None
        parts.append(reader.made(call.args[0]))
    return joined(parts)


def _arms_of(adapter: ast.expr, reader: Reader) -> Iterator[tuple[ast.Call, TypeInfo]]:
    """Give the arms of `on(A).verb(…) | on(B).verb(…)`, each at its `on(…)`."""
    match adapter:
        case ast.BinOp(left, ast.BitOr(), right):
            yield from _arms_of(left, reader)
            yield from _arms_of(right, reader)
        case ast.Call(ast.Attribute(ast.Call(on, [kind]) as made)):
            name = reader.module.full_name(on)
            if name.startswith('seamwise.seams.') and name.endswith('.on'):
                for info in (reader.made_by(kind) or NOTHING).values():
                    yield made, info
        case _:
            pass


RULE = Rule('SW108', 'an arm for an error that never arrives', 'warning', __doc__ or '', find)
