"""Rewriting of exception classes and of functions that raise them."""

import ast
from collections.abc import Sequence

import libcst as cst
from typing_extensions import override

from seamwise.check._mypy.nodes import TypeInfo
from seamwise.check.migrate.blockers import is_property, own_nodes
from seamwise.check.migrate.decisions import Decisions
from seamwise.check.migrate.exception_classes import Kind
from seamwise.check.migrate.keeping import exception_method
from seamwise.check.migrate.seams.web import ERROR_BODY, application_name, handled_by_framework
from seamwise.check.migrate.syntax import is_docstring, is_method, parse_line, statements_of
from seamwise.check.migrate.units import Unit
from seamwise.check.typed_ast.program import Module

_WIDTH = 100
_ARGUMENTS = {
    **dict.fromkeys(('list', 'set', 'frozenset', 'List', 'Set', 'FrozenSet'), 'Any'),
    **dict.fromkeys(('type', 'Type', 'Sequence', 'Iterable', 'Iterator', 'Collection'), 'Any'),
    **dict.fromkeys(('dict', 'Dict', 'Mapping', 'MutableMapping'), 'Any, Any'),
    **dict.fromkeys(('tuple', 'Tuple'), 'Any, ...'),
    'Callable': '..., Any',
}
"""Arguments of generic classes that an annotation may name without any."""


def fallible_function(
    decisions: Decisions, unit: Unit, updated: cst.FunctionDef
) -> cst.FunctionDef:
    """Return a function that returns a Result."""
    errors = decisions.union(decisions.kinds.of_names(unit.escapes))
    updated = annotated(decisions, unit, updated)
    if unit.node is not None and is_property(unit.node, decisions.module):
        # The property keeps its exceptions.
        updated = updated.with_changes(decorators=[])
    if unit.node in decisions.leaves and updated.returns is not None:
        decisions.use('Result')
        old = cst.Module([]).code_for_node(updated.returns.annotation)
        returns = updated.returns.with_changes(
            annotation=cst.parse_expression(f'Result[{old}, {errors}]')
        )
        return updated.with_changes(returns=returns)
    decisions.use('Do', 'fallible')
    parameters = updated.params
    do = cst.Param(
        cst.Name('do'),
        cst.Annotation(cst.parse_expression(f'Do[{errors}]')),
        comma=cst.MaybeSentinel.DEFAULT,
    )
    old_params = [*parameters.posonly_params, *parameters.params]
    index = 1 if is_method(unit, decisions.module) else 0
    new_params = [*old_params[:index], do, *old_params[index:]]
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(' '))
    new_params = [
        parameter.with_changes(comma=comma)
        if parameter.comma is cst.MaybeSentinel.DEFAULT and position < len(new_params) - 1
        else parameter
        for position, parameter in enumerate(new_params)
    ]
    # Beside **kwargs, which may have any name, strict mypy takes only a positional `do`.
    count = index + 1 if parameters.star_kwarg is not None else 0
    if parameters.posonly_params:
        count = len(parameters.posonly_params) + 1
    return updated.with_changes(
        params=parameters.with_changes(
            posonly_params=new_params[:count], params=new_params[count:]
        ),
        decorators=[*updated.decorators, cst.Decorator(cst.Name('fallible'))],
    )


def annotated(decisions: Decisions, unit: Unit, updated: cst.FunctionDef) -> cst.FunctionDef:
    """Return a function with an annotation for each parameter and the returned value.

    The new form of a function has some annotations, and strict mypy reports missing ones.
    """
    old = updated.params
    receiver = (old.posonly_params or old.params)[:1] if is_method(unit, decisions.module) else ()

    def complete(annotation: cst.Annotation | None) -> cst.Annotation:
        if annotation is not None and not unit.result_name:
            return annotation
        # Beside a kept function annotations stand twice, and so would their findings.
        any_ = cst.Annotation(cst.Name('Any'))
        new = annotation.visit(_Completing(decisions.module)) if annotation is not None else any_
        if not isinstance(new, cst.Annotation):
            raise TypeError('an annotation became another node')
        if annotation is None or not annotation.deep_equals(new):
            decisions.imports.setdefault('typing', set()).add('Any')
        return new

    def with_annotation(item: cst.Param) -> cst.Param:
        if item in receiver:
            return item
        new = item.with_changes(annotation=complete(item.annotation))
        is_new = item.annotation is None and item.default is not None
        return new.with_changes(equal=cst.AssignEqual()) if is_new else new

    new = old.with_changes(
        posonly_params=list(map(with_annotation, old.posonly_params)),
        params=list(map(with_annotation, old.params)),
        kwonly_params=list(map(with_annotation, old.kwonly_params)),
        star_arg=with_annotation(old.star_arg)
        if isinstance(old.star_arg, cst.Param)
        else old.star_arg,
        star_kwarg=with_annotation(old.star_kwarg) if old.star_kwarg is not None else None,
    )
    has_value = unit.node is not None and any(
        isinstance(part, ast.Return) and part.value is not None for part in own_nodes(unit.node)
    )
    returns = (
        complete(updated.returns)
        if has_value or updated.returns is not None
        else cst.Annotation(cst.Name('None'))
    )
    return updated.with_changes(params=new, returns=returns)


class _Completing(cst.CSTTransformer):
    """Adds arguments to the generic classes of an annotation."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.module = module

    @override
    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        arguments = _ARGUMENTS.get(original_node.value)
        definition = self.module.global_definition(original_node.value)
        is_own = isinstance(definition, TypeInfo) and not definition.type_vars
        if arguments is None or is_own:
            return updated_node
        return cst.parse_expression(f'{original_node.value}[{arguments}]')

    @override
    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        return original_node

    @override
    def leave_Subscript(
        self, original_node: cst.Subscript, updated_node: cst.Subscript
    ) -> cst.Subscript:
        return updated_node.with_changes(value=original_node.value)


def alias(decisions: Decisions, kind: Kind, updated: cst.ClassDef) -> list[cst.BaseStatement]:
    """Return the alias for a base class."""
    members = decisions.kinds.members(kind.name)
    decisions.imports.setdefault('typing', set()).add('TypeAlias')
    text = f'{kind.short_name}: TypeAlias = {decisions.union(members)}\n'
    docstring = ast.get_docstring(kind.node)
    lines: list[cst.BaseStatement] = [cst.parse_statement(text)]
    if docstring is not None:
        lines += [
            statement
            for statement in statements_of(updated.body)[:1]
            if isinstance(statement, cst.SimpleStatementLine)
        ]
    lines[0] = lines[0].with_changes(
        leading_lines=[cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    )
    return lines


def needs_table(decisions: Decisions) -> bool:
    """Return whether a module needs a table where it has no handler that the table replaces."""
    kinds = decisions.kinds
    is_application = kinds.application is decisions.module
    return is_application and bool(kinds.table) and not kinds.replaced_handlers


def error_table(
    decisions: Decisions, leading_lines: Sequence[cst.EmptyLine]
) -> list[cst.BaseStatement]:
    """Return the statements instead of handlers for exceptions: a table and its installation."""
    table = decisions.kinds.table
    app = application_name(decisions.module)
    response = next((item.response for item in table.values() if item.response), '')
    if not response:
        response = 'JSONResponse'
        decisions.imports.setdefault('fastapi.responses', set()).add(response)
    arms = [
        f'on({decisions.local(name)}).responds(\n'
        f'        {table[name].status},\n'
        f'        {code_of(decisions.kinds.all[name].short_name)!r},\n'
        f'        details=lambda {table[name].error}: {ast.unparse(table[name].content)},\n'
        '    )'
        for name in decisions.ordered(table)
    ]
    decisions.imports.setdefault('datetime', set()).add('datetime')
    decisions.imports.setdefault('seamwise.seams.http', set()).update(
        {'HttpError', 'bare', 'install', 'on'}
    )
    kept: list[str] = []
    for source, name, handler in handled_by_framework(decisions.module):
        # A module may have FastAPI's class of this name.
        own = f'Framework{name}'
        decisions.imports.setdefault(source, set()).add(f'{name} as {own}')
        decisions.imports.setdefault('fastapi.exception_handlers', set()).add(handler)
        kept.append(f'{app}.exception_handler({own})({handler})\n')
    text = '\n    | '.join(arms)
    blank = [cst.EmptyLine(indent=False)]
    body = cst.parse_statement(ERROR_BODY.strip('\n').format(response=response) + '\n')
    lines = [
        cst.parse_statement(f'ERRORS = (\n    {text}\n)\n').with_changes(leading_lines=blank * 2),
        cst.parse_statement(f'install({app}, ERRORS, body=ErrorBody())\n'),
        *map(cst.parse_statement, kept),
    ]
    return [body.with_changes(leading_lines=leading_lines or blank * 2), *lines]


def exit_table(decisions: Decisions, name: str) -> list[cst.BaseStatement]:
    """Return the table of exit codes.

    Args:
        decisions: The decisions for the module of the program.
        name: Name of the table.
    """
    seam = decisions.terminal
    arms: list[str] = []
    shown: dict[tuple[int, str], list[str]] = {}
    """Local names of the classes with a text of their own, by exit code and text."""
    for class_name in decisions.ordered(decisions.kinds.exits):
        handler = decisions.kinds.exits[class_name]
        kind = decisions.kinds.all[class_name]
        # An arm also shows causes and suggestions, and breaks no lines.
        is_plain = not (
            kind.has_cause
            or '\n' in kind.template
            or any(field.name == 'suggestions' for field in kind.fields)
        )
        local = decisions.local(class_name)
        if is_plain and handler.text == 'error':
            arms.append(f'{seam}.on({local}).exits({handler.status})')
        else:
            shown.setdefault((handler.status, handler.text), []).append(local)
    own: list[str] = []
    functions: list[str] = []
    for (status, text), names in shown.items():
        last = code_of(names[0].rpartition('.')[2]).lower()
        own.append(decisions.fresh(f'show_{last}', decisions.module.syntax))
        content = 'str(error)' if text == 'error' else text
        functions.append(
            f'def {own[-1]}(error: {" | ".join(names)}) -> {seam}.Rendered:\n'
            '    """Return the text and the exit code, as they were before the table."""\n'
            f'    return {seam}.Rendered({content}, {status})\n'
        )
    if not arms:
        decisions.imports.setdefault('seamwise.seams.adapter', set()).add('Adapter')
        arms.append(f'Adapter.of({own.pop(0)})')
    text = ' | '.join([*arms, *own])
    if len(text) + len(name) + 3 > _WIDTH:
        text = '(\n    ' + '\n    | '.join([*arms, *own]) + '\n)'
    blank = [cst.EmptyLine(indent=False)] * 2
    return [
        cst.parse_statement(source).with_changes(leading_lines=blank)
        for source in (*functions, f'{name} = {text}\n')
    ]


def code_of(name: str) -> str:
    """Return the code of an error: the words of its name in capital letters."""
    words = ''.join(f'_{letter}' if letter.isupper() else letter for letter in name)
    return words.strip('_').upper()


def error_class(decisions: Decisions, kind: Kind, updated: cst.ClassDef) -> cst.ClassDef:
    """Return a tagged error."""
    decisions.use('Category', 'TaggedError')
    message = repr(kind.template or '{}') if not kind.shows_exception else "''"
    category = f'category=Category.{kind.category}'
    head = f'class {kind.error_name}(TaggedError, {category}, message={message}):'
    if len(head) > _WIDTH:
        head = (
            f'class {kind.error_name}(\n    TaggedError,\n    {category},\n'
            f'    message={message},\n):'
        )
    new = cst.ensure_type(cst.parse_statement(f'{head}\n    pass\n'), cst.ClassDef)
    fields: list[str] = []
    for item in kind.fields:
        default = item.default
        if not kind.has_init and kind.has_default:
            default = "''"
        fields.append(
            f'{item.name}: {item.annotation}' + ('' if default is None else f' = {default}')
        )
    if kind.has_cause:
        decisions.use('Cause')
        fields.append('cause: Cause | None = None')
    statements: list[cst.BaseStatement] = []
    comments: list[cst.EmptyLine] = []
    for statement in statements_of(updated.body):
        if is_docstring(statement):
            statements.append(statement)
        else:
            comments += [line for line in getattr(statement, 'leading_lines', ()) if line.comment]
    for index, text in enumerate(fields):
        line: cst.BaseStatement = parse_line(text)
        if index == 0:
            gap = [cst.EmptyLine(indent=False)] if statements else []
            line = line.with_changes(leading_lines=[*gap, *comments])
        statements.append(line)
    methods: list[str] = []
    if kind.shows_exception:
        methods.append('def __str__(self) -> str:\n    return str(self.exception())\n')
    if kind.has_twin:
        methods.append(exception_method(kind))
    for source in methods:
        method = cst.parse_statement(source)
        statements.append(method.with_changes(leading_lines=[cst.EmptyLine(indent=False)]))
    body = updated.body
    block = (
        body.with_changes(body=statements)
        if isinstance(body, cst.IndentedBlock)
        else cst.IndentedBlock(statements)
    )
    return new.with_changes(
        leading_lines=updated.leading_lines,
        decorators=updated.decorators,
        lines_after_decorators=updated.lines_after_decorators,
        body=block,
    )
