"""URLs of the pages of the rules in the documentation."""

from functools import cache
from importlib.metadata import metadata


def page_url(code: str) -> str | None:
    """Return the URL of the page of a rule; None if the documentation has no URL."""
    documentation = documentation_url()
    return f'{documentation}/check/{code}.md' if documentation else None


@cache
def documentation_url() -> str:
    """Return the URL of the documentation in the metadata of this package; empty without one."""
    for item in metadata('seamwise').get_all('Project-URL') or ():
        label, _, url = str(item).partition(',')
        if label.strip().lower() == 'documentation':
            return url.strip().rstrip('/')
    return ''
