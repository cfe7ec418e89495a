"""Types of the steps that `catch` returns and of the rules that `attempt` takes.

Programs need them only for annotations.
"""

from seamwise._results.compose import Catch
from seamwise._results.edges import Rules

__all__ = ['Catch', 'Rules']
