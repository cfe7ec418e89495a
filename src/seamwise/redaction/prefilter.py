"""Fast search for texts that may contain a secret, before any pattern of a secret is compiled."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from re import Pattern, escape
from re import compile as pattern

from seamwise.redaction.settings import Settings

_SHORTEST = 4
"""In characters; a secret in a shorter text cannot be distinguished from a word."""


def may_contain_secret(text: str, settings: Settings) -> bool:
    """Return whether a text may contain a secret; most texts contain none.

    >>> may_contain_secret('Ann=3', Settings()), may_contain_secret('pwd=3', Settings())
    (False, True)
    """
    if len(text) < _SHORTEST and settings.is_default:
        return False
    lowered = text.lower()
    if _suspicious().search(lowered) or not (text.isascii() or _foreign().search(text) is None):
        return True
    return not settings.is_default and settings.may_match(text)


_END = (
    r"""["'`)\]\\]{0,4}(?:[ \t]{0,4}(?:[=:,!]|[?|+.&]{1,2}=)|%[23]|&|\x1b|[ ]?[<~]?->?|[ ]?[<~]"""
    r"""|\[[0-9]{0,5}\]|[ ][-\w"'(]|>|\r?\n|\\[nrux]|\Z)"""
)
"""What may follow a name before its value."""


def _words(text: str) -> Iterable[str]:
    return text.split()


_NAMES: Mapping[str, str] = {
    **dict.fromkeys(
        _words(
            'token secret cookie credential creds pwd passw passphr passcode authorization jwt cvv'
            ' cvc mnemonic psk sessid sessionid saml signature kennwort senha wachtwoord contras'
            ' parola clave segredo geheimnis'
            ' psw pword lozinka geslo hasł lösenord'
            ' clear-text haslo losenord adgangskode salasana sifre heslo jelszo \\u00'
        ),
        '',
    ),
    'pw': _END,
    'pass': f'[0-9e]?{_END}',
    'auth': f'(?:key|code|tok|[(]["\']|[0-9]?{_END})',
    'pin': f'(?:[_ -]?code|[0-9]?{_END})',
    'otp': f'(?:[_ -]?code|[0-9]?{_END})',
    'code': f'(?:_verif|s?{_END})',
    'phrase': f's?{_END}',
    'key': f'(?:[._-]|name|value|s?[0-9]*{_END}|[a-z]{{0,9}}[=:])',
    'sig=': '',
}
"""Parts of sensitive names, with a pattern of the text that follows those in ordinary words."""
_FORMS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *(
                'login',
                'requirepass',
                'masterauth',
                'private-lines',
                'identified',
                'net use',
                'az login',
            ),
            *('redis-cli', 'ldap', 'jdbc:oracle', '-stdin', 'sshpass', 'mysql', 'mariadb', '://'),
            *('begin ', '-end ', 'machine', 'bearer', 'basic ', 'basic\t', 'basic%', 'basic+'),
            *(
                'eyj',
                '-u',
                ' -a ',
                ' -b ',
                "-b'",
                '-b"',
                'key (',
                '_key)',
                'input_value',
                'pass:',
                '/webhooks/',
                ':aa',
                'whsec',
                'dckr_pat',
                'tskey-',
            ),
            *('figd_', 'atatt3x', 'nvapi-', 'xai-', 'lsv2_', 'sbp_', 'nfp_', 'shp', 'ya29'),
            *('gocspx', 'gsk_', '_live_', '_test_', 'config set', 'configure set', 'akia', 'asia'),
            *('github_pat', 'glpat', 'glft-', 'hf_', 'npm_', 'pypi-', 'dop_v1', 'hvs.', 'aiza'),
            *('ipmitool', 'freerdp', 'rdesktop', 'securestring'),
            *('sk-', 'chpasswd', 'alias set', 'host add', 'sqlplus', 'sqlldr', 'expdp', 'impdp'),
            *('rman ', 'snmp', 'kty', 'sudo -s', 'cryptsetup', 'passphrase-fd', 'kinit'),
        ),
        '',
    ),
    **dict.fromkeys(
        (
            *(
                'cqlsh',
                'mongo',
                'arangosh',
                'cbq',
                'cbimport',
                'cbexport',
                'cypher-shell',
                'psexec',
            ),
            *('hdbsql', 'winexe', 'evil-winrm', 'nxc', 'smbmap', 'unlock-key', 'ncftp', 'usermod'),
            *(
                'useradd',
                'exaplus',
                'vsql',
                'mclient',
                'sqlcmd',
                'osql',
                'isql',
                'tsql',
                'couchbase',
            ),
            *('mosquitto_', 'plink', 'pscp', 'psftp', 'putty', 'nodetool', 'kadmin', 'schtasks'),
            *(
                'openssl enc',
                'ssh-keygen',
                'lftp',
                'http-basic',
                'pypi-tok',
                'rabbitmqctl',
                'rabbitmqadmin',
                'wifi connect',
            ),
            *('keydb-cli', 'valkey-cli', 'redis-b', 'consul kv', 'etcdctl', 'addauth', 'digest:'),
            *('secret-string', 'from-literal', 'defparameter', 'define', 'setenv', 'add_header'),
            *('_set_header', 'requestheader', 'header set', 'signin', 'getconnection', 'pdo->'),
            *('mysqli', 'networkcred', 'fernet(', 'hmac', 'jwt.', 'secretkeyspec', 'aesgcm'),
            *(
                'pbkdf2',
                'argon2',
                'scrypt',
                'bcrypt',
                '$apr1',
                'scram-sha',
                '{ssha',
                '{sha',
                '{crypt',
            ),
            *(':::', '$krb5', '/services/t', 'incomingwebhook', '/hooks/', '/hook/', 'hc-ping'),
            *('/webhook', '/integration/', '/reset', 'reset/', '/verif', '/confirm', '/activat'),
            *('/invit', '/magic', '/unsubscribe', '/set-pass', 'sid=', 'ticket=', ': psk', ': eap'),
            *(': xauth', '334 ugfz', 'pragma', 'bundle_', 'accounts', ']:', 'missing "=', '└'),
            *('/pass:', '/pwd:', 'request: pass', 'sqa_', 'sqp_', 'squ_', 'imap_open', 'ftp_login'),
            *(
                'session=',
                'session"',
                'session:',
                '-api:',
                '_api=',
                'appid',
                'authorize',
                '.logon',
                'community',
                'licen',
            ),
            *('createcredential', 'loginmodule', '$user', 'curl -', ' using ', 'value=constant'),
        ),
        '',
    ),
    '("': r'[\w-]{20}',
    "('": r'[\w-]{20}',
    ' -p': '[ ="\'a-z0-9]',
    ' -w': '[ ]',
    'n="': '(?:password|token|secret)',
    'user': r'[\w."-]{0,12}[=:][ "]{0,2}[\w.@-]{1,64}:',
    '$': '(?:[125678pyh][abxy]?[$])',
    '@': r'[a-z0-9][\w.-]{0,100}(?::[0-9]{2}|/[\w-])',
    'st-': '[0-9]',
    'gt-': '[0-9]',
    ':5': r'[0-9]{3}:[\w*-]',
    ':6': r'[0-9]{3}:[\w*-]',
    ':*:': '',
    '7z': '[arz]? ',
    'rar ': '[^\n]{0,200}-p',
    'zip ': '[^\n]{0,200}-p',
    'conn': r'(?:ect)? ["\']?\w{1,60}/',
    '"auth"': '',
    'gh': '[opsur]_',
    'xox': '[a-z]-',
    'eaa': r'[\w-]{60}',
    'key-': '[0-9a-f]{32}',
    'r8_': r'\w{30}',
    'response="': '[0-9a-f]{32}',
    'pat-': '(?:na|eu)',
    '.': r'[\w-]{6}\.[\w-]{27}',
}
"""Keywords of the rules by form, with the text that follows those in ordinary words."""
_SHORT_KEYWORDS: Mapping[str, str] = {
    'sk': '[0-9a-f]{32}',
    'pat': r'[0-9a-z]{14}\.',
    'pat.': r'[\w-]{22}',
    'sat.': r'[\w-]{22}',
    's.': '[0-9a-z]{24}',
    'sg.': r'[\w=.-]{16}',
    'eaaa': r'[\w-]{20}',
    'eaam': r'[\w-]{20}',
    'eaac': r'[\w-]{20}',
    'api-': '[0-9a-z]{26}',
    'ico-': '[0-9a-z]{32}',
    'q~': '[a-z0-9_~.-]{31}',
}
"""Keywords of formats of keys that occur in ordinary words."""

_RAREST_FIRST = '$└@(\\=zjx2wk:bv_-.chgs4q~mpfauiletnor'
"""Anchors, the rarest in ordinary texts first. Every keyword contains at least one."""


def _any_of(keywords: Mapping[str, str]) -> str:
    """Return a pattern that finds a keyword by its rarest character, then by its neighbours."""
    by_anchor: defaultdict[str, list[str]] = defaultdict(list)
    for keyword, tail in keywords.items():
        anchor = next(char for char in _RAREST_FIRST if char in keyword)
        before, _, after = keyword.partition(anchor)
        look_behind = f'(?<={escape(before + anchor + after)})' if before else ''
        by_anchor[anchor].append(escape(after) + look_behind + tail)
    return '|'.join(
        f'{escape(anchor)}(?:{"|".join(neighbors)})' for anchor, neighbors in by_anchor.items()
    )


@cache
def _suspect(
    *,
    names: bool = False,
    forms: bool = False,
    keys: bool = False,
    users: bool = False,
    foreign: bool = False,
) -> Pattern[str]:
    """Return the pattern of lower-case texts that may contain a secret of some kinds."""
    # The table is large, and a program that redacts nothing needs none of it.
    from seamwise.redaction.provider_formats import FORMATS  # noqa: PLC0415

    keywords: dict[str, str] = {}
    if keys:
        parts = {
            part for _, keywords_of_format, _ in FORMATS for part in keywords_of_format.split()
        }
        keywords |= {part: _SHORT_KEYWORDS.get(part, '') for part in sorted(parts)}
    if forms:
        keywords |= _FORMS
    if names:
        keywords |= _NAMES
    others = [_USER] * users + [_FOREIGN] * foreign
    return pattern('|'.join([_any_of(keywords), *others]))


@cache
def _suspicious() -> Pattern[str]:
    """Return the pattern of lower-case texts that may contain any secret."""
    return _suspect(names=True, forms=True, keys=True)


@cache
def _foreign() -> Pattern[str]:
    """Return the pattern of texts in which a name in a language without ASCII may have a value."""
    return pattern(_FOREIGN)


_USER = r'://[^\s/@]{1,64}@'
"""A user in an address, with or without a password."""
_FOREIGN = r'[^\x00-\x7f][ \t]?[=:：是为"\'\]]'


_MANY, _PER_NAME = 8_000, 64
"""Number of names, and of characters for each: a text with more, and closer, names is hostile."""
_LINE = 1_000
"""In characters; a line without a secret before its first name is rarely longer."""


def searched_end(text: str) -> int:
    """Return the end of the part of a text that is searched for secrets; the rest is masked.

    Each sensitive name takes time. Without a bound, a text of nothing but names would take several
    times as long as any other text of its length.

    >>> searched_end('password: hunter2'), searched_end('password=' * 10_000) < 90_000
    (17, True)
    """
    if len(text) < _MANY:
        return len(text)
    names = _suspect(names=True, users=True, foreign=not text.isascii())
    for number, name in enumerate(names.finditer(text.lower()), 1):
        start = name.start()
        if number > _MANY and start < number * _PER_NAME:
            line = text.rfind('\n', max(0, start - _LINE), start)
            return start if line < 0 else line + 1
    return len(text)


def may_contain_name(lowered: str) -> bool:
    """Return whether a lower-case text may contain a sensitive name with a value."""
    return _suspect(names=True).search(lowered) is not None


def may_contain_key(lowered: str) -> bool:
    """Return whether a lower-case text may contain a key in the form of a provider."""
    return _suspect(keys=True).search(lowered) is not None
