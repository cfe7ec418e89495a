"""Redaction of one text: of its JSON, of credentials by form and of values by name."""

_SHORTEST = 5
"""In characters; a secret in a shorter text cannot be distinguished from a word."""

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
    """Mask every secret in a text, including JSON that is encoded several times.

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
    # Compiling the patterns takes longer than all other imports; most texts need none of them.
    from seamwise.redaction.in_json import redact_json_runs, redact_json_string  # noqa: PLC0415

    redacted = redact_json_string(text, redact_text)
    if redacted is not None:
        return redacted
    return redact_json_runs(text, redact_text=redact_text, redact_rest=_redact_rest)


def _redact_rest(text: str) -> str:
    from seamwise.redaction.credentials import mask_credentials  # noqa: PLC0415
    from seamwise.redaction.named_values import mask_named  # noqa: PLC0415

    lowered = text.lower()
    text = mask_credentials(text, lowered)
    return mask_named(text) if any(name in lowered for name in _NAMES) else text
