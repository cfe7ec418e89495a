"""HTML page that loads no other resources; its style and script are inside it."""

from base64 import b64encode
from hashlib import sha256
from html import escape


def html_page(title: str, body: str, *, style: str, script: str) -> str:
    """Return a page whose content security policy permits its own style and script only.

    Args:
        title: Title of the page, as a text.
        body: Content of the page as HTML, before the script.
        style: Style sheet.
        script: JavaScript, which runs after the content is parsed.

    >>> page = html_page('Errors', '<h1>Errors</h1>', style='h1 {}', script='')
    >>> page.splitlines()[-4:]
    ['<h1>Errors</h1>', '<script></script>', '</body>', '</html>']
    """
    policy = '; '.join(
        [
            "default-src 'none'",
            'img-src data:',
            f'style-src {_csp_hash(style)}',
            f'script-src {_csp_hash(script)}',
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,">
<title>{escape(title, quote=False)}</title>
<style>{style}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""


def _csp_hash(inline: str) -> str:
    """Return the hash that permits an inline style or script (CSP 3, section 6.7.2)."""
    return f"'sha256-{b64encode(sha256(inline.encode()).digest()).decode()}'"
