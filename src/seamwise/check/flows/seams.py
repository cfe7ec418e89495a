"""The adapters of a file, and the errors that arms, `catch` and adapters decide about."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from mypy.nodes import RefExpr, TypeInfo
from mypy.types import Instance

from seamwise.check.channels import members
from seamwise.check.facts import SeamFacts
from seamwise.check.flows.fates import CHECKS, taken_by
from seamwise.check.flows.functions import ADAPTER, adapter_seam
from seamwise.check.flows.kinds import NOTHING, is_error, kinds
from seamwise.check.flows.reader import CATCH, CAUGHT, Reader
from seamwise.check.places import place

FIND = 'seamwise.causes.find'


def seams(reader: Reader) -> Iterator[SeamFacts]:
    """Give the adapters of a file that have a name."""
    module = reader.module
    for kind in (ast.Assign, ast.AnnAssign):
        for statement in module.every(kind):
            match statement:
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                    seam = adapter_seam(value, module)
                    if seam:
                        yield SeamFacts(name, seam, place(statement, module), tuple(sorted(_shown(value, reader))))
                case _:
                    pass


def _shown(adapter: ast.expr, reader: Reader) -> set[str]:
    found: set[str] = set()
    for one in members(reader.module.type(adapter)):
        if isinstance(one, Instance) and one.type.fullname == ADAPTER:
            found |= set(kinds(one.args[0]) or NOTHING)
    return found - {name for node in ast.walk(adapter) if isinstance(node, ast.Call) for name in _hidden(node, reader)}


def _hidden(node: ast.Call, reader: Reader) -> set[str]:
    match node.func:
        case ast.Attribute(ast.Call(_, [kind]), 'hidden'):
            return set(reader.made_by(kind) or NOTHING)
        case _:
            return set()


class Uses(NamedTuple):
    """What a file does with error classes."""

    makes: frozenset[str]
    """It makes them, or hands them to others who do."""
    decides: frozenset[str]
    """An arm, a check, a `catch` or an adapter decides about them."""


def uses(reader: Reader) -> Uses:
    """Give what a file does with error classes: each use either asks for one, or makes it."""
    made: set[str] = set()
    found: set[str] = set()
    for node, name in _used(reader):
        (found if _only_asks(node, reader) else made).add(name)
    for match in reader.module.every(ast.Match):
        for arm in match.cases:
            for pattern in ast.walk(arm.pattern):
                if isinstance(pattern, ast.MatchClass):
                    found |= {info.fullname for info in taken_by(reader, pattern) if is_error(info)}
    return Uses(frozenset(made), frozenset(found))


def _used(reader: Reader) -> Iterator[tuple[ast.expr, str]]:
    """Give each error class that is called or handed to a call."""
    for call in reader.module.every(ast.Call):
        for node in (call.func, *call.args, *(one.value for one in call.keywords)):
            for part in node.elts if isinstance(node, ast.Tuple | ast.List) else (node,):
                found = reader.module.node(part.value if isinstance(part, ast.Subscript) else part)
                if isinstance(found, RefExpr) and isinstance(found.node, TypeInfo) and is_error(found.node):
                    yield part, found.node.fullname


def _only_asks(node: ast.expr, reader: Reader) -> bool:
    around = reader.module.parents.get(node)
    if isinstance(around, ast.Tuple):
        around = reader.module.parents.get(around)
    if not isinstance(around, ast.Call) or around.func is node:
        return False
    name = reader.module.full_name(around.func)
    return name in CHECKS or name in {CATCH, CAUGHT, FIND} or (name.startswith('seamwise.seams.') and name.endswith('.on'))
