"""The tools of a workspace, one file each: Structs for arguments and result, and a service.

No tool depends on a seam.
"""

from importlib.util import find_spec

if find_spec('rapidfuzz') is None:
    raise ModuleNotFoundError(
        'The tools of a workspace require rapidfuzz: install "seamwise[toolhost]".',
        name='rapidfuzz',
    )

from seamwise.toolhost.builtin.workspace_tools import (
    workspace_tools as workspace_tools,
)
