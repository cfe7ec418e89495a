"""The redaction of one text: cheap for the many that hold no secret, JSON by itself, the rest by form and by name."""

_SHORTEST = 5
"""No text of fewer characters holds a secret that can be told from a word."""

_NAMES = (
    'token',
    'key',
    'secret',
    'passw',
    'passphrase',
    'authorization',
    'cookie',
    'credential',
    'pwd',
    'sig=',
    'signature=',
)
_FORMS = (
    'sk-',
    '_live_',
    '_test_',
    'whsec',
    'ghp_',
    'gho_',
    'ghs_',
    'ghu_',
    'ghr_',
    'github_pat',
    'glpat',
    'akia',
    'asia',
    'xox',
    'xapp-',
)
_MORE = ('aiza', 'ya29', 'gocspx', 'npm_', 'pypi-', 'hf_', 'gsk_', 'sg.', 'dop_v1', 'shpat', 'hvs.')
_NEEDLES = (
    *_NAMES,
    '@',
    '://',
    'bearer',
    'basic',
    'eyj',
    'begin ',
    '-end ',
    '-u',
    'machine',
    '\\u00',
    *_FORMS,
    *_MORE,
)


def redact_text(text: str) -> str:
    """Mask every secret in a text, inside JSON of any depth of encoding too.

    >>> redact_text('GET https://ann:hunter2@example.org/?token=abc&page=2')
    'GET https://***@example.org/?token=***&page=2'
    """
    if len(text) < _SHORTEST:
        return text
    lowered = text.lower()
    for needle in _NEEDLES:
        if needle in lowered:
            break
    else:
        return text
    # Compiling the patterns takes longer than importing all else; most texts need none.
    from seamwise.redaction.in_json import around, in_whole  # noqa: PLC0415

    whole = in_whole(text, redact_text)
    return (
        around(text, redact_text=redact_text, redact_rest=_redact_rest) if whole is None else whole
    )


def _redact_rest(text: str) -> str:
    from seamwise.redaction.credentials import mask_credentials  # noqa: PLC0415
    from seamwise.redaction.named_values import mask_named  # noqa: PLC0415

    lowered = text.lower()
    text = mask_credentials(text, lowered)
    return mask_named(text) if any(name in lowered for name in _NAMES) else text
