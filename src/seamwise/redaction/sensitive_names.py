"""Sensitive names: decided by whole words, in any notation and several languages."""

from functools import lru_cache
from itertools import pairwise
from re import compile as pattern


def names_in_location(location: str) -> list[str]:
    """Return a path of fields, which can be one name with dots, and the names in it.

    >>> names_in_location('/body/token')
    ['/body/token', '', 'body', 'token']
    """
    return [location, *location.replace('/', '.').split('.')]


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


FOREIGN_WORDS = words(
    'passwort kennwort senha wachtwoord contraseña contrasena пароль токен parola hasło haslo'
    ' clave secreta secreto secrete secrète'
    ' segredo geheimnis lösenord losenord adgangskode salasana şifre sifre'
    ' heslo jelszó jelszo lozinka geslo'
)
"""Words for a password or a secret in other languages."""
_WORDS = FOREIGN_WORDS | words(
    'password passwords passwd passphrase passphrases passcode passcodes pwd pw secret secrets'
    ' token authorization cookie cookies credential credentials creds jwt otp totp cvv cvc mnemonic'
    ' psk psw authtok apikey apikeys authtoken accesstoken idtoken refreshtoken sessiontoken'
    ' jsessionid'
    ' phpsessid pgpass dbpass userpass rootpass mypass sshpass mailpass smtppass'
    ' adminpass samlresponse samlrequest samlart'
    ' storepass keypass'
)
"""Words that make a name sensitive wherever they occur in it."""
_LAST_WORDS = words('pass auth pin passe')
"""Words with other meanings elsewhere, such as `pass_rate` and `auth_method`."""
_ENDINGS = (
    *('password', 'passwd', 'passphrase', 'passcode', 'secret', 'token', 'cookie', 'apikey'),
    *('secretkey', 'privatekey', 'accesskey', 'passwort', 'kennwort', 'pwd', 'pswd', 'pword'),
    *('pw', 'authtok', 'passwrd', 'presharedkey'),
    *('密码', '密碼', '口令', '密钥', '密鑰', '令牌', 'パスワード', '暗証番号', '秘密鍵'),
    *('비밀번호', '암호', 'סיסמה', 'รหัสผ่าน'),
)
"""Words written together, such as `dbpassword`; some languages have no spaces."""
_QUALIFIED: dict[str, frozenset[str]] = {
    'key': words(
        'api access private secret signing encryption decryption account app application master ssh'
        ' hmac session auth shared deploy webhook root storage subscription rsa gpg pgp aes jwt'
        ' recovery backup client consumer admin license ingest integration service cipher'
        ' validation preshared server write wpa wifi unseal pairing enrollment provisioning vault'
        ' authentication management cluster join sec encrypt'
    ),
    'tokens': words(
        'refresh access bearer auth api id session csrf device push registration security personal'
        ' deploy service user client login reset invite sas jwt oauth bot app secret private'
    ),
    'code': words(
        'verification recovery backup mfa 2fa otp factor auth authorization security access sms'
        ' login pin'
    ),
    'phrase': frozenset(('seed', 'recovery', 'secret', 'pass', 'backup')),
    'signature': words('access hub webhook slack line shopify'),
    'text': frozenset(('clear',)),
    'response': frozenset(('saml',)),
    'request': frozenset(('saml',)),
    'verifier': frozenset(('code',)),
    'khẩu': frozenset(('mật',)),
    'المرور': frozenset(('كلمة',)),
}
"""Words that make a name sensitive after one of these words."""
_DESCRIPTIONS = words(
    'type url uri endpoint path file filename dir directory name policy field label prompt in at'
    ' format encoding issuer audience scope scopes status strength manager store provider rotation'
    ' enabled disabled required valid changed updated created expired expiry expires expiration'
    ' ids ref refs reference kind method mode prefix domain jar samesite algorithm alg class'
    ' stdin version supported methods algorithms providers scanning detection protection'
    ' title heading caption tooltip error errors flow flows grant grants schema service handler'
    ' pattern regex regexp separator delimiter hasher header alias hint column columns fields'
    ' exception warning mismatch encoder decoder parser generator listener'
    ' factory helper helpers middleware validator validators guard controller repository'
    ' encryption accessor chars pool cache client filter payload prevention lifespan validity'
    ' checker check service manager context interceptor resolver formatter serializer converter'
    ' renderer writer reader builder view page screen dialog widget component event events class'
    ' route router command query task job worker queue topic group groups role'
    ' roles permission permissions audience interval window period threshold quota engine backend'
    ' mount source sources target location host port interface extractor authenticator callback'
    ' callbacks hook hooks plugin module package strategy behavior mode modes option options'
    ' env var variable setting settings config configuration rule rules requirement requirements'
    ' constraint constraints test tests spec specs table tables model models type types list lists'
)
"""Last words of a name that describes a secret, such as `token_type`."""
_METADATA = _DESCRIPTIONS | words('scheme schemes description header style bearerformat tag tags')
"""Last words of a name in a container that describes a secret, such as a schema."""
_REFERENCES = frozenset(
    (
        *(('credential', 'id'), ('credentials', 'id'), ('password', 'key'), ('username', 'key')),
        *(('token', 'key'), ('existing', 'secret'), ('token', 'id'), ('cancellation', 'token')),
        *(('public', 'token'), ('key', 'header'), ('user', 'signingkey'), ('gpg', 'key')),
    )
)
"""Last words of a name whose value is the name of a secret in a store."""
_MEASURES = words(
    'count counts length len size sizes min max minimum maximum limit limits ttl age total usage'
    ' used remaining rate attempts retries tries timeout seconds minutes hours days bits bytes'
    ' bucket ratelimit per second budget cost price width index position version num number'
    ' expires expiry score entropy'
    ' rounds iterations failures within after before every lifetime since until history reuse'
    ' checked found created issued revoked rotated scanned stored sent received generated processed'
    ' cached expired loaded migrated validated verified skipped'
)
"""Words of a name that holds a number about a secret, such as `token_count`."""

MAX_NAME = 64
"""In characters: the longest name of a pair."""
_NAME = pattern(rf'[\w.$ /-]{{1,{MAX_NAME}}}')
NAME_KEYS = frozenset(('name', 'key', 'field', 'header', 'Name', 'Key', 'k', 'ParameterKey'))
VALUE_KEYS = frozenset(('value', 'Value', 'val', 'v', 'ParameterValue'))
"""Keys of a pair, such as `{"name": "DB_PASSWORD", "value": "…"}`."""

LOCATION_KEYS = frozenset(('loc', 'path', 'absolute_path'))
INPUT_KEYS = frozenset(('input', 'instance', 'received'))
"""Keys of a validation error, such as `{"loc": ["password"], "input": "…"}`."""

PATCH_KEYS = frozenset(('op', 'path', 'value'))
"""Keys of a change by JSON Patch: `{"op": "add", "path": "/password", "value": "…"}`."""

PRIVATE_MEMBERS = frozenset(('d', 'p', 'q', 'dp', 'dq', 'qi', 'k'))
"""Private members of a JSON Web Key (RFC 7518)."""

HINT = (
    'pass|pwd|pw|secret|token|auth|bearer|cookie|cred|key|jwt|otp|pin|code|phrase|cvv|cvc|mnemonic'
    '|psk|psw|pword|lozinka|geslo|sess|saml|signature|[^\\x00-\\x7f]|clave|secreta|secreto|segredo|geheim|kennwort|senha|wachtwoord|contrasena|parola|haslo'
    '|losenord|adgangskode|salasana|sifre|heslo|jelszo|clear'
)
"""Pattern of a part of every sensitive name, in lower case."""
_HINT = pattern(HINT)
_HUMP = pattern(r'(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])')
_BETWEEN = pattern(r'[\W_]+')


def split_words(name: str) -> list[str]:
    """Split a name in snake, kebab, camel or spaced form into lower-case words without digits.

    >>> split_words('X-Api-Key'), split_words('AWSSecretKey2'), split_words('max_tokens')
    (['x', 'api', 'key'], ['aws', 'secret', 'key'], ['max', 'tokens'])
    """
    parts = _BETWEEN.split(_HUMP.sub(' ', name).lower())
    return [part.rstrip('0123456789') for part in parts if part]


def is_sensitive(name: str) -> bool:
    """Return whether a name alone shows that its value is secret; in a path, only the end counts.

    >>> is_sensitive('apiKey'), is_sensitive('dbpassword'), is_sensitive('密码')
    (True, True, True)
    >>> is_sensitive('monkey'), is_sensitive('primary_key'), is_sensitive('token_type')
    (False, False, False)
    >>> is_sensitive('db.password.new'), is_sensitive('src/token_store.py')
    (True, False)
    >>> is_sensitive('/run/db-token')
    True
    """
    return _is_sensitive(name) if len(name) <= MAX_NAME else _decide(name)


def _decide(name: str) -> bool:
    if not _HINT.search(name.lower()):
        return False
    if '/' in name:
        name = name.rpartition('/')[2].rpartition('.')[2]
    parts = split_words(name)
    if (
        not parts
        or parts[-1] in _DESCRIPTIONS
        or parts[-1].removesuffix('s') in _DESCRIPTIONS
        or parts[-1] in _MEASURES
        or tuple(parts[-2:]) in _REFERENCES
        or 'publickey' in ''.join(parts)
    ):
        return False
    return (
        parts[-1] in _LAST_WORDS
        or name.lower().endswith('bearer')
        or any(word in _WORDS or word.endswith(_ENDINGS) for word in parts)
        or any(_is_qualified(before, word) for before, word in pairwise(parts))
        or _is_joined(parts)
    )


_is_sensitive = lru_cache(maxsize=1024)(_decide)


_SAME = words(
    'value hash string data text plaintext plain raw new old current confirm confirmation repeat'
    ' again retype b encrypted hex content bytes dev prod production test staging live primary'
    ' secondary main default base env local key next previous first second a x id user'
)
"""Last words of a name that still holds the secret, such as `password_hash`."""


@lru_cache(maxsize=1024)
def is_compound(name: str) -> bool:
    """Return whether a sensitive word is only a part of a longer word for another thing.

    The last word of an English name says what the thing is. `auth` alone is a part too.

    >>> is_compound('passwordSafeLevel'), is_compound('auth')
    (True, True)
    >>> is_compound('db_password'), is_compound('DB_PASSWORD_EU'), is_compound('token_old')
    (False, False, False)
    """
    parts = split_words(name)
    return _is_sensitive(name) and (
        parts == ['auth']
        or not (
            (name.isupper() and '_' in name)
            or parts[-1] in _SAME
            or not parts[-1].isascii()
            or _decide(parts[-1])
            or _decide('_'.join(parts[-2:]))
        )
    )


def is_name(text: str) -> bool:
    """Return whether a text can be the name in a pair of a name and a value.

    >>> is_name('X-Api-Key'), is_name('token=abc')
    (True, False)
    """
    return _NAME.fullmatch(text) is not None


def is_metadata(name: str) -> bool:
    """Return whether a name in a container describes a secret or refers to it.

    >>> is_metadata('tokenUrl'), is_metadata('existingSecret'), is_metadata('password')
    (True, True, False)
    """
    parts = split_words(name)
    return bool(parts) and (parts[-1] in _METADATA or tuple(parts[-2:]) in _REFERENCES)


def is_measure(name: str) -> bool:
    """Return whether a number under this name is a measure, such as a length or a count.

    >>> is_measure('password_min_length'), is_measure('pin')
    (True, False)
    """
    parts = split_words(name)
    # `pass` alone counts passed tests.
    return parts == ['pass'] or not _MEASURES.isdisjoint(parts)


_PLURALS = words(
    'passwords passphrases secrets tokens cookies credentials creds keys apikeys authtokens'
)
_FEW = 5
"""In digits: a longer number under `token` can be a code."""


def is_number_about(name: str, number: str) -> bool:
    """Return whether a number under this name is a count, a size or an index, but no secret.

    >>> is_number_about('pad_token_id', '0'), is_number_about('credentials', '12')
    (True, True)
    >>> is_number_about('password', '12'), is_number_about('token', '123456')
    (False, False)
    """
    if is_measure(name):
        return True
    parts = split_words(name)
    return bool(parts) and (
        parts[-2:] == ['token', 'id']
        or parts[-1] in _PLURALS
        or (is_compound(name) and parts != ['auth'] and len(number) <= _FEW)
        or (
            parts[-1] == 'token'
            and number.isdecimal()
            and len(number) <= _FEW
            and parts[0] not in {'otp', 'pin', 'mfa'}
        )
    )


def is_command(text: str) -> bool:
    """Return whether the first item of a list is a command whose flags are known by name.

    >>> is_command('/usr/bin/curl'), is_command('mkdir')
    (True, False)
    """
    return _COMMAND.fullmatch(text) is not None


_COMMAND = pattern(r'(?:[\w./-]{0,200}/)?(?:curl|(?:mysql|mariadb)\w{0,20})(?:\.exe)?')


def is_credential(text: str) -> bool:
    """Return whether a text under `tokens`, which can be parts of a text, is a credential.

    >>> is_credential('hunter2xyz'), is_credential('unbelievable'), is_credential('12')
    (True, False, False)
    """
    return _CREDENTIAL.fullmatch(text) is not None


_CREDENTIAL = pattern(r'(?=[^\d\s]*\d)(?=[^A-Za-z\s]*[A-Za-z])[!-~]{8,4096}')


def _is_qualified(before: str, word: str) -> bool:
    word = word.removesuffix('s') if word in {'keys', 'codes', 'phrases'} else word
    if before in _QUALIFIED.get(word, ()):
        return True
    if word != 'key':
        return False
    # The table is large, and few names have a key.
    from seamwise.redaction.provider_formats import PROVIDERS  # noqa: PLC0415

    return before in PROVIDERS


def _is_joined(parts: list[str]) -> bool:
    """Return whether a word consists of two words, such as `signingkey`."""
    return any(
        word.removesuffix('s').endswith('key') and word.removesuffix('s')[:-3] in _QUALIFIED['key']
        for word in parts
    )
