"""Imports of a module: edits that add one, and those that need a plugin of mypy."""

import ast
from collections.abc import Iterator

from seamwise.check.facts import TextEdit
from seamwise.check.inference.edits.annotations import node_edit, node_source
from seamwise.check.typed_ast.program import Module


def import_edits(name: str, package: str, module: Module) -> Iterator[TextEdit]:
    """Yield the edit that imports a name from a package, if the module does not import it yet.

    It extends an import from the package, or adds a line above the first import.
    """
    imports = [
        statement
        for statement in module.syntax.body
        if isinstance(statement, ast.ImportFrom | ast.Import)
    ]
    from_imports = [node for node in imports if isinstance(node, ast.ImportFrom)]
    if any(
        node.module is not None
        and node.module.partition('_')[0] == package.partition('_')[0]
        and any(alias.name == name and alias.asname is None for alias in node.names)
        for node in from_imports
    ):
        return
    for node in from_imports:
        if node.module == package and not node.level and node.names[0].name != '*':
            yield _extension(node, name, module)
            return
    for statement in imports:
        if not (isinstance(statement, ast.ImportFrom) and statement.module == '__future__'):
            line = statement.lineno
            yield TextEdit(line, 0, line, 0, '', f'from {package} import {name}\n')
            return


def pipeline_line(module: Module) -> int:
    """Return the line that imports `flow` or `pipe` of `returns`, or 0.

    mypy infers their types with the plugin of `returns` only.
    """
    for node in module.nodes_of_type(ast.ImportFrom):
        names = {alias.name for alias in node.names}
        is_pipeline = node.module == 'returns.pipeline' and names & {'flow', 'pipe', '*'}
        if is_pipeline or (node.module == 'returns' and 'pipeline' in names):
            return node.lineno
    for plain in module.nodes_of_type(ast.Import):
        if any(alias.name == 'returns.pipeline' for alias in plain.names):
            return plain.lineno
    return 0


def _extension(node: ast.ImportFrom, name: str, module: Module) -> TextEdit:
    if node.lineno == node.end_lineno and '(' not in node_source(node, module):
        names = sorted([name, *(ast.unparse(alias) for alias in node.names)])
        return node_edit(node, f'from {node.module} import {", ".join(names)}', module)
    last = node.names[-1]
    line = last.end_lineno or last.lineno
    column = module.column(line, last.end_col_offset or last.col_offset)
    return TextEdit(line, column, line, column, '', f', {name}')
