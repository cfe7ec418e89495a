"""All code that depends on mypy: its options, builds, nodes, types and plugin API.

mypy promises none of these interfaces. A new version of mypy therefore changes this folder only;
`versions` refuses versions that it was not written for.
"""

from seamwise.check._mypy.versions import check_version

check_version()
