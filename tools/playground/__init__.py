"""The playground of the documentation site: the type checker and Python in the browser.

`assets` collects its files, `program` runs the code of a reader in WebAssembly, and `page` has the
scripts.
"""
