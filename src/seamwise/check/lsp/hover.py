"""Text about the channel of a function, at its definition and at its calls."""

from collections.abc import Iterator, Sequence

from seamwise.check.facts import FileFacts, FunctionFacts, Location
from seamwise.check.rules.rule import short_name


def hover_text(file: FileFacts, files: Sequence[FileFacts], line: int, column: int) -> str | None:
    """Return Markdown about the function at a position; None if there is none with a channel.

    Args:
        file: Facts of the file.
        files: Facts of all files, for the functions that are called.
        line: Line, counted from 1.
        column: Column in characters, counted from 1.
    """
    functions = {function.name: function for facts in files for function in facts.functions}
    sources = [
        source
        for function in file.functions
        for source in function.error_sources
        if source.callee and _contains(source.location, line, column)
    ]
    if sources:
        # The innermost call begins last.
        source = max(sources, key=lambda item: (item.location.line, item.location.column))
        callee = functions.get(source.callee)
        if callee is not None and callee.declared is not None:
            return _channel(callee)
        return '\n'.join(
            [f'**`{short_name(source.callee)}`** can fail with:', '', *_list(source.errors)]
        )
    for function in file.functions:
        if function.location.line <= line <= function.location.last_line:
            return _channel(function)
    return None


def _contains(location: Location, line: int, column: int) -> bool:
    if location.line == location.last_line == line:
        return location.column <= column < location.end_column
    if location.line == line:
        return location.column <= column
    return location.line < line <= location.last_line


def _channel(function: FunctionFacts) -> str | None:
    declared, inferred = function.declared, function.inferred
    if declared is None:
        return None
    name = f'**`{short_name(function.name)}`**'
    if not declared:
        return f'{name} always succeeds.'
    lines = [f'{name} can fail with:', '', *_list(declared)]
    unused = [error for error in declared if inferred is not None and error not in inferred]
    if unused:
        names = ', '.join(f'`{short_name(error)}`' for error in unused)
        lines += ['', f'Nothing in it returns {names} today.']
    return '\n'.join(lines)


def _list(errors: Sequence[str]) -> Iterator[str]:
    return (f'- `{short_name(error)}` ({error.rpartition(".")[0]})' for error in errors)
