"""Rewriting of exception classes and of functions that raise them."""

import ast
from collections.abc import Sequence

import libcst as cst

from seamwise.check.migrate.decisions import Decisions
from seamwise.check.migrate.exception_classes import Kind
from seamwise.check.migrate.keeping import exception_method
from seamwise.check.migrate.syntax import is_docstring, is_method, parse_line, statements_of
from seamwise.check.migrate.tables import ERROR_BODY, application_name, handled_by_framework
from seamwise.check.migrate.units import Unit

_WIDTH = 100


def fallible_function(
    decisions: Decisions, unit: Unit, updated: cst.FunctionDef
) -> cst.FunctionDef:
    """Return a function that returns a Result."""
    errors = decisions.union(decisions.kinds.of_names(unit.escapes))
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
    attribute = 'posonly_params' if parameters.posonly_params else 'params'
    old_params: Sequence[cst.Param] = getattr(parameters, attribute)
    index = 1 if is_method(unit, decisions.module) else 0
    new_params = [*old_params[:index], do, *old_params[index:]]
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(' '))
    new_params = [
        parameter.with_changes(comma=comma)
        if parameter.comma is cst.MaybeSentinel.DEFAULT and position < len(new_params) - 1
        else parameter
        for position, parameter in enumerate(new_params)
    ]
    return updated.with_changes(
        params=parameters.with_changes(**{attribute: new_params}),
        decorators=[*updated.decorators, cst.Decorator(cst.Name('fallible'))],
    )


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
