"""The rules, one a file: what is found, what to do, and the page that explains it."""
