"""The documentation site: `python -m tools.documentation` builds it.

The pages of `docs/` are written for readers of the repository, too. `stage` copies them,
`reference` adds pages that are made from the code, and Sphinx builds the result.
"""
