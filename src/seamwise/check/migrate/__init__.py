"""`seamwise migrate`: from exceptions to Results, without a change of behaviour.

`migration.py` is the entrance: it decides by `kinds.py` and `flow.py`, rewrites by `rewriting.py`
and asks mypy. `writing.py` changes the files, all or none.
"""
