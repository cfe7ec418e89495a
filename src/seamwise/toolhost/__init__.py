"""Tool host, which reads tool calls, runs them in a workspace and returns typed results."""

from importlib.util import find_spec

for _package in ('pathspec', 'rapidfuzz'):
    if find_spec(_package) is None:
        raise ModuleNotFoundError(
            f'The tool host requires {_package}: install "seamwise[toolhost]".', name=_package
        )
