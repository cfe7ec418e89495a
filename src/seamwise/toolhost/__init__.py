"""The tool server: it reads calls, runs them on a workspace, and gives a typed result for each."""

from importlib.util import find_spec

for _needed in ('pathspec', 'rapidfuzz'):
    if find_spec(_needed) is None:
        raise ModuleNotFoundError(
            f'The tool host needs {_needed}: install "seamwise[toolhost]".', name=_needed
        )
