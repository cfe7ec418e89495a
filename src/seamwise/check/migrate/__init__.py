"""`seamwise migrate`: from exceptions to Results, without a change of behaviour.

`migration.py` is the entrance. It decides by `kinds.py`, `flow.py` and `propagation.py`, rewrites
by `rewriting.py`, and asks mypy. `definitions.py`, `raises.py`, `handlers.py` and `assertions.py`
rewrite classes and functions, `raise` statements, handlers and tests. `writing.py` changes the
files, all or none.
"""
