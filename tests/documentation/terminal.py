"""Environment of the commands that the tests of the pages run."""

import os
import sys
from pathlib import Path

ENVIRONMENT = {
    **os.environ,
    'PATH': f'{Path(sys.executable).parent}:{os.environ["PATH"]}',
    'COLUMNS': '80',
    'NO_PROXY': 'localhost',
    'PYTEST_ADDOPTS': '-p no:cacheprovider -p no:schemathesis -p no:randomly',
}
