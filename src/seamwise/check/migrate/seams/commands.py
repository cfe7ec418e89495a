"""Commands of click and typer, and the call that runs a program."""

import ast
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from seamwise.check.migrate.outside import outside_uses
from seamwise.check.migrate.seams.handler import (
    ErrorHandler,
    arguments,
    created_objects,
    is_instance,
    uses_only,
)
from seamwise.check.typed_ast.program import Function, Module, Program

_CREATORS = frozenset({'click.decorators.command', 'click.decorators.group'})
_TYPER = 'typer.main.Typer'
_APPS = frozenset({_TYPER, 'click.core.Command'})
_CONTEXT = frozenset({'click.core.Context', 'typer._click.core.Context'})
_REGISTRATIONS = frozenset({'command', 'group', 'callback', 'add_command', 'add_typer'})
_PRINTERS = frozenset({'click.utils.echo', 'typer._click.utils.echo'})
_MAX_EXIT_CODE = 255


class Commands(Struct, eq=False):
    """The functions that a program runs, and the call that runs them."""

    functions: frozenset[ast.AST]
    names: frozenset[str]
    """Full names of the commands, groups and apps."""
    start: ast.Call | None
    """The call of a command, app or function; None if no analysed code has it."""
    run: ast.Call | None
    """The same, or the call of `sys.exit` around it."""
    is_typer: bool
    is_main: bool
    """Whether the program is a function without a framework."""
    problem: str = ''
    """Reason against a table."""

    def __contains__(self, function: ast.AST | None) -> bool:
        return function in self.functions


def commands_of(
    program: Program, others: Sequence[tuple[Path, ast.Module]], scripts: Collection[str]
) -> Commands | None:
    """Return the commands of a program; None if it has none.

    Args:
        program: The modules.
        others: The other files of the repository.
        scripts: Full names of the functions that installed scripts call.
    """
    functions = {
        f'{module.name}.{function.name}': function
        for module in program.modules
        for function in module.functions()
        if _is_command(function, module)
    }
    apps = {
        f'{module.name}.{name}': class_
        for module in program.modules
        for name, class_ in created_objects(module)
        if class_ in {_TYPER, 'click.core.Group'}
    }
    names = {*functions, *apps}
    is_main = not names
    if is_main:
        functions = dict(item for module in program.modules for item in _main_functions(module))
        names = {*functions}
    starts: list[tuple[ast.Call, ast.Call]] = []
    problem = ''
    for module in program.modules:
        for node in (*module.nodes_of_type(ast.Name), *module.nodes_of_type(ast.Attribute)):
            is_read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
            if not is_read or module.full_name(node) not in names:
                continue
            if (found := _start(node, module)) is not None:
                starts.append(found)
            elif not _is_registration(node, module):
                problem = problem or f'is also used at {module.path}:{node.lineno}'
    if not names:
        return None
    uses = [] if problem else outside_uses(others, sorted(names))
    if uses:
        problem = f'is also used at {uses[0].path}:{uses[0].line}'
    if len(starts) != 1:
        problem = 'is one of several programs' if starts else 'is run by no call in these files'
    if not names.isdisjoint(scripts):
        problem = 'is an entry point in pyproject.toml, not a function that runs it'
    start, run = starts[0] if starts else (None, None)
    is_typer = _TYPER in apps.values()
    return Commands(
        frozenset(functions.values()),
        frozenset(names),
        start,
        run,
        is_typer,
        is_main,
        problem,
    )


def _is_command(function: Function, module: Module) -> bool:
    """Return whether decorators make a function a command, and do nothing else."""
    is_command = False
    for decorator in function.decorator_list:
        callee = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = module.full_name(callee)
        if name in _CREATORS or (
            isinstance(callee, ast.Attribute)
            and callee.attr in _REGISTRATIONS
            and is_instance(callee.value, module, _APPS)
        ):
            is_command = True
        elif not name.startswith('click.decorators.'):
            return False
    is_sync = isinstance(function, ast.FunctionDef)
    return is_command and is_sync and isinstance(module.parents.get(function), ast.Module)


def _main_functions(module: Module) -> Iterator[tuple[str, Function]]:
    """Yield the functions without decorators that a module calls as a program."""
    functions = {
        f'{module.name}.{node.name}': node
        for node in module.syntax.body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list
    }
    for statement in module.syntax.body:
        if not isinstance(statement, ast.If) or '__main__' not in ast.unparse(statement.test):
            continue
        for call in ast.walk(statement):
            if isinstance(call, ast.Call) and _start(call.func, module) is not None:
                name = module.full_name(call.func)
                if name in functions:
                    yield name, functions[name]


def _start(node: ast.expr, module: Module) -> tuple[ast.Call, ast.Call] | None:
    """Return the call that runs a program, and the one of `sys.exit` around it."""
    call = module.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node or call.args or call.keywords:
        return None
    match module.parents.get(call):
        case ast.Expr():
            return call, call
        case ast.Call(function, [_], []) as outer if module.full_name(
            function
        ) == 'sys.exit' and isinstance(module.parents.get(outer), ast.Expr):
            return call, outer
        case _:
            return None


def _is_registration(node: ast.expr, module: Module) -> bool:
    """Return whether a command or app is only registered, or registers another one."""
    match module.parents.get(node):
        case ast.Attribute(_, method) as attribute:
            call = module.parents.get(attribute)
            return method in _REGISTRATIONS and isinstance(call, ast.Call)
        case ast.Call(ast.Attribute(_, method)):
            return method in _REGISTRATIONS
        case _:
            return False


def runs_only(statement: ast.Try, commands: Commands) -> bool:
    """Return whether the body of a statement is only the call that runs the program."""
    match statement.body:
        case [ast.Expr(call)]:
            return call is commands.run
        case _:
            return False


def exit_of(
    clause: ast.ExceptHandler, module: Module, commands: Commands, *, is_own: bool
) -> ErrorHandler | None:
    """Return the answer of a clause that only prints an error to standard error, and exits.

    Args:
        clause: The clause.
        module: Its module.
        commands: The commands of the program.
        is_own: Whether the function of the clause is a function of the program.
    """
    match clause.body:
        case [end]:
            text = None
        case [printing, end]:
            text = _printed(printing, module)
            if text is None:
                return None
        case _:
            return None
    found = _exit(end, module, commands, is_own=is_own)
    if found is None or (text is not None and found[1] is not None):
        return None
    code, own = found
    content = text or own or ast.Constant('')
    error = clause.name or 'error'
    if not uses_only(content, error) or not 0 < code <= _MAX_EXIT_CODE:
        return None
    if _is_message(content):
        content = ast.Name(error)
    return ErrorHandler(clause, code, content, error)


def _printed(statement: ast.stmt, module: Module) -> ast.expr | None:
    """Return the value that a statement prints to standard error."""
    match statement:
        case ast.Expr(ast.Call(function, [value], [ast.keyword('file', stream)])) if (
            module.full_name(function) == 'builtins.print'
            and module.full_name(stream) == 'sys.stderr'
        ):
            return value
        case ast.Expr(ast.Call(function, [value], [ast.keyword('err', ast.Constant(True))])) if (
            module.full_name(function) in _PRINTERS
        ):
            return value
        case _:
            return None


def _exit(
    statement: ast.stmt, module: Module, commands: Commands, *, is_own: bool
) -> tuple[int, ast.expr | None] | None:
    """Return the exit code of a statement that ends the program, and the text that it prints."""
    match statement:
        case ast.Return(ast.Constant(int() as code)) if (
            is_own and commands.is_main and commands.run is not commands.start
        ):
            return code, None
        case ast.Raise(ast.Call() as call, ast.Name() | ast.Constant() | None):
            name = module.full_name(call.func)
        case ast.Expr(ast.Call(ast.Attribute(owner, 'exit')) as call) if is_instance(
            owner, module, _CONTEXT
        ):
            name = 'click.exceptions.Exit'
        case ast.Expr(ast.Call() as call):
            name = module.full_name(call.func)
            if name != 'sys.exit':
                return None
        case _:
            return None
    package, _, last = name.rpartition('.')
    given = list(arguments(call, 'code').items())
    match given:
        case [('code', ast.Constant(int() as code))] if name in {
            'sys.exit',
            'builtins.SystemExit',
        } or (last == 'Exit' and package.partition('.')[0] in {'click', 'typer'}):
            return code, None
        case [('code', value)] if name in {'sys.exit', 'builtins.SystemExit'} and _is_text(value):
            return 1, value
        case [('code', value)] if name == 'click.exceptions.ClickException':
            # typer draws a frame around the message.
            return (1, _with_label(value)) if not commands.is_typer else None
        case _:
            return None


def _is_text(value: ast.expr) -> bool:
    match value:
        case ast.JoinedStr() | ast.Constant(str()) | ast.Call(ast.Name('str')) | ast.Name():
            return True
        case _:
            return False


def _with_label(value: ast.expr) -> ast.expr:
    """Return the text of click for the message of a `ClickException`."""
    label = ast.Constant('Error: ')
    match value:
        case ast.JoinedStr(parts):
            return ast.JoinedStr([label, *parts])
        case ast.Call(ast.Name('str'), [inner]):
            return ast.JoinedStr([label, ast.FormattedValue(inner, -1)])
        case _:
            return ast.JoinedStr([label, ast.FormattedValue(value, -1)])


def _is_message(content: ast.expr) -> bool:
    """Return whether a text is the message of an error alone."""
    match content:
        case (
            ast.Name()
            | ast.Call(ast.Name('str'), [ast.Name()])
            | ast.JoinedStr([ast.FormattedValue(ast.Name(), -1, None)])
        ):
            return True
        case _:
            return False
