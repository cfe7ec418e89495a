"""Public modules of the package, and the names that each exports."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / 'src'

MODULES: Mapping[str, tuple[str, ...]] = {
    'The core': (
        'seamwise',
        'seamwise.messages',
        'seamwise.typing',
        'seamwise.redaction',
        'seamwise.testing',
    ),
    'Seams': (
        'seamwise.seams.adapter',
        'seamwise.seams.cli',
        'seamwise.seams.cli.tables',
        'seamwise.seams.http',
        'seamwise.seams.http.a2a',
        'seamwise.seams.http.tables',
        'seamwise.seams.jsonrpc',
        'seamwise.seams.jsonrpc.tables',
        'seamwise.seams.log',
        'seamwise.seams.model',
        'seamwise.seams.model.tables',
        'seamwise.seams.planner',
        'seamwise.seams.planner.tables',
        'seamwise.seams.session',
        'seamwise.seams.session.tables',
        'seamwise.seams.telemetry',
    ),
    'Guards': (
        'seamwise.policies',
        'seamwise.policies.classify',
        'seamwise.policies.classify.grpc',
        'seamwise.policies.classify.httpx',
        'seamwise.policies.classify.redis',
        'seamwise.policies.classify.sqlalchemy',
        'seamwise.policies.config',
        'seamwise.policies.redis',
        'seamwise.policies.transports',
        'seamwise.policies.transports.grpc',
        'seamwise.policies.transports.httpx2',
        'seamwise.policies.transports.sqlalchemy',
    ),
    'Tools': (
        'seamwise.toolhost',
        'seamwise.toolhost.formats',
        'seamwise.toolhost.streams',
        'seamwise.toolhost.mcp',
    ),
    'Live sessions': ('seamwise.live',),
}
"""Names of the modules, by the title of their group."""


def public_names(module: str) -> tuple[str, ...]:
    """Return the names that a module exports, sorted.

    These are the names in its `__all__`; else the names that it imports `as` themselves; and if
    there are none, its own functions, classes and values without a leading underscore.

    >>> public_names('seamwise.policies.redis')
    ('Clients', 'shared_circuit', 'shared_rate_limit')
    """
    tree = ast.parse(source_file(module).read_text(encoding='utf-8'))
    listed = {
        str(name.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == '__all__'
        for name in ast.walk(node.value)
        if isinstance(name, ast.Constant)
    }
    exported = listed or {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name and not alias.name.startswith('_')
    }
    return tuple(sorted(exported or set(_own_names(tree))))


def source_file(module: str) -> Path:
    """Return the file of a module of the package."""
    path = PACKAGE.joinpath(*module.split('.'))
    return path / '__init__.py' if path.is_dir() else path.with_suffix('.py')


def _own_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.Assign(value=ast.Call(func=ast.Name(id='TypeVar' | 'ParamSpec'))):
                continue
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                pass
            case ast.ClassDef(name=name):
                pass
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                pass
            case _:
                continue
        if not name.startswith('_'):
            yield name
