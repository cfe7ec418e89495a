"""Import every module of the installed package; `.ci/nightly` runs it with other versions."""

import pkgutil
import sys
from importlib import import_module

import seamwise


def problems() -> list[str]:
    """Return the modules that cannot be imported, except those whose package is not installed."""
    found: list[str] = []
    for module in pkgutil.walk_packages(seamwise.__path__, 'seamwise.', onerror=lambda _: None):
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            if (error.name or '').partition('.')[0] == 'seamwise':
                found.append(f'{module.name}: {error}')
        except Exception as error:  # noqa: BLE001 -- a module may fail in any way
            # A face of an optional package says how to install it.
            if 'pip install' not in str(error):
                found.append(f'{module.name}: {type(error).__name__}: {error}')
    return found


if __name__ == '__main__':
    sys.exit('\n'.join(problems()) or None)
