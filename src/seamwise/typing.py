"""Types of the values that `catch`, `when`, `attempt` and `refine` take and return.

Programs need them only for annotations.
"""

from seamwise._results.compose import Catch, CatchAll
from seamwise._results.edges import Classify, Edge, Rules, When

__all__ = ['Catch', 'CatchAll', 'Classify', 'Edge', 'Rules', 'When']
