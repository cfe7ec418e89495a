"""Exceptions that stay for callers outside the migrated code."""

from collections.abc import Sequence

import libcst as cst

from seamwise.check.migrate.exception_classes import WRAPPED, Kind
from seamwise.check.migrate.syntax import is_docstring, statements_of
from seamwise.check.migrate.units import Unit


def exception_method(kind: Kind) -> str:
    """Return the source of the method that makes the exception of a tagged error."""
    name = kind.short_name
    arguments = ', '.join(f'self.{item.name}' for item in kind.fields)
    value = f'self.{WRAPPED}' if kind.is_wrapped else f'{name}({arguments})'
    if kind.has_default and not kind.has_init:
        value = f'{value} if self.message else {name}()'
    lines = [f'def exception(self) -> {name}:']
    if kind.has_cause:
        lines += [
            f'    exception = {value}',
            '    if isinstance(self.cause, BaseException):',
            '        exception.__cause__ = self.cause',
            '    return exception',
        ]
    else:
        lines.append(f'    return {value}')
    return '\n'.join(lines) + '\n'


def raising_twin(
    original: cst.FunctionDef, new: cst.FunctionDef, unit: Unit, *, is_method: bool
) -> Sequence[cst.FunctionDef]:
    """Return the function that returns a Result, and the one that keeps its name and exceptions."""
    body = original.body
    docstring = [part for part in statements_of(body)[:1] if is_docstring(part)]
    result = new.with_changes(name=cst.Name(unit.result_name))
    if docstring and len(statements_of(body)) > 1 and isinstance(new.body, cst.IndentedBlock):
        text = cst.parse_statement(f'"""Return the result of `{original.name.value}`."""\n')
        result = result.with_changes(body=new.body.with_changes(body=[text, *new.body.body[1:]]))
    decorators = {
        decorator.decorator.value
        for decorator in original.decorators
        if isinstance(decorator.decorator, cst.Name)
    }
    call = _call(original, unit, is_method=is_method, is_static='staticmethod' in decorators)
    value = f'await {call}' if original.asynchronous is not None else call
    match original.returns:
        case cst.Annotation(cst.Name('None')):
            success = 'Success():\n        pass'
        case _:
            success = 'Success(value):\n        return value'
    match_ = cst.parse_statement(
        f'match {value}:\n'
        f'    case {success}\n'
        '    case Failure(error):\n        raise error.exception()\n'
    )
    is_indented = is_method or unit.is_inner or 'staticmethod' in decorators
    gap = [cst.EmptyLine(indent=False)] * (1 if is_indented else 2)
    twin = original.with_changes(
        body=cst.IndentedBlock([*docstring, match_]), leading_lines=gap, lines_after_decorators=()
    )
    return [result, twin]


def _call(function: cst.FunctionDef, unit: Unit, *, is_method: bool, is_static: bool) -> str:
    """Return the call with all parameters."""
    parameters = function.params
    named = [item.name.value for item in (*parameters.posonly_params, *parameters.params)]
    scope = ''
    if is_static or (is_method and unit.keeps_calls):
        # A subclass may have a function of this name, too.
        scope = f'{unit.short_name.rpartition(".")[0]}.'
    elif is_method:
        scope = f'{named.pop(0)}.'
    arguments = named
    if isinstance(parameters.star_arg, cst.Param):
        arguments.append(f'*{parameters.star_arg.name.value}')
    arguments += [f'{item.name.value}={item.name.value}' for item in parameters.kwonly_params]
    if parameters.star_kwarg is not None:
        arguments.append(f'**{parameters.star_kwarg.name.value}')
    return f'{scope}{unit.result_name}({", ".join(arguments)})'
