"""Python environments: the one of the project, in which its imports are found."""

import os
import sys
from pathlib import Path

_FOLDERS = ('.venv', 'venv')


def project_python(folder: Path) -> str | None:
    """Return the Python of the environment of a project; None if it runs this program.

    It is the activated environment (`VIRTUAL_ENV`), or else the one in the folder `.venv` or `venv`
    next to the code. A program that pipx or uvx has installed runs in an environment of its own,
    without the packages of the project.
    """
    activated = os.environ.get('VIRTUAL_ENV')
    candidates = [Path(activated)] if activated else [folder / name for name in _FOLDERS]
    for environment in candidates:
        python = _python_in(environment)
        if python is not None:
            is_own = environment.resolve() == Path(sys.prefix).resolve()
            return None if is_own else str(python)
    return None


def _python_in(environment: Path) -> Path | None:
    if not (environment / 'pyvenv.cfg').is_file():
        return None
    executable = 'Scripts/python.exe' if sys.platform == 'win32' else 'bin/python'
    python = environment / executable
    return python if python.exists() else None
