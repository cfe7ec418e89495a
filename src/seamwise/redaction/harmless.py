"""Values under sensitive names that are no secrets: references, placeholders and messages."""

from re import IGNORECASE, VERBOSE
from re import compile as pattern

from seamwise.redaction.sensitive_names import (
    FOREIGN_WORDS,
    is_compound,
    is_sensitive,
    split_words,
    words,
)

_MAX_LENGTH = 400
"""In characters; a longer text is no message about a field."""

_PLACEHOLDER = pattern(
    r"""
      \*{3,} | [xX]{3,16} | (?: [xX]{3,12}[-_.] ){1,8} [xX]{3,12} | \.{3} | … | •+ | \?
    # A prefix of a provider with a run of one character, such as `sk_test_xxxxxxxx`.
    | (?:[A-Za-z]{2,8}[-_]){0,4} (?: [xX]{6,64} | [*•.]{4,64} )
    | \[ (?: redacted | filtered | masked | hidden | removed | secret ) \]
    | </?[|]?[A-Za-z][\w .,:/'"-]{0,80}[|]?> | (?-i: \[ [A-Z_]{2,12} \] )
    | %\{ [\w:.\[\]-]{1,60} \} | \${1,2} (?: \.[A-Za-z_]\w{0,40} ){1,8} | [?*]{1,4}
    # Durations and single digits.
    | \d{1,5} [. ]?
      (?: ms | s | m | h | d | sec | min
        | (?: second | minute | hour | day | week | month | year ) s? )
      (?: [. ] (?:ago|from_now) )? | [01]
    | \{ \w{0,40} \} | \{\{ [^{}]{0,80} \}\}
    | \$ [A-Z_][A-Z0-9_]* | \$\d{1,2} | \$env:\w+ | \$?\$\{\{? [^{}]{0,80} \}\}?
    | \$\( [^()]{0,80} \)
    | %env\( [\w:]{1,60} \)% | %[a-z_]{1,20}(?:\.[a-z_]{1,20}){1,4}%
    # Tags of YAML that look a value up.
    | ![A-Za-z_]{2,24} [ ]
      (?: [\w./${}:-]{1,120} | ["']? [^"'\n]{0,120} [\$]\{ [^"'\n]{1,200} ["']? )
    | ![A-Z][A-Za-z]{1,20} [ ] ["'] \{\{ [^"'\n]{1,200} \}\} ["']
    | % (?: [sdrfiq] | \(\w{1,40}\)s | [A-Z_]{1,40}% )
    | (?: (?: put | type | choose )[ ] )? (?: your | insert | enter | replace )[-_ ]?
      (?: \w{1,20}[-_ ]? ){1,5}
    | (?-i: (?: USER (?:NAME)? : )? (?: PASSWORD | PASSWD | SECRET | TOKEN ) ) | :[a-z_]{1,40}
    | \( [a-z]{2,20} (?: [ ] [a-z]{2,20} ){1,4} \)
    | [\[<(]? \d{1,6} [ ] (?: bytes | chars | characters ) [\])>]?
    # Colors and lengths of design tokens.
    | \# (?: [0-9a-f]{3} | [0-9a-f]{6} | [0-9a-f]{8} )
    | \d{1,4} (?: \.\d{1,3} )? (?: px | r?em | vh | vw )
    # Versions of packages, such as "jsonwebtoken": "^9.0.2".
    | [~^] \d{1,4} (?: \.\d{1,5} ){0,3} (?: [-+][\w.]{1,30} )?
    | (?: [<>=~!]={0,2} [ ]? )? v? \d{1,3} (?: \.\d{1,4} ){2}
      (?: -(?:alpha|beta|rc|dev)[\w.]{0,12} )?
    """,
    VERBOSE | IGNORECASE,
)
_REFERENCE = pattern(
    r"""
      (?: ~ | \.{1,2} | [A-Za-z]: )? (?: [/\\]{1,2} \.?[A-Z]?[a-z0-9_.-]{1,60} ){2,12} /?
    | (?: ~ | \.{1,2} ) / \.?[A-Za-z][a-z0-9_.-]{1,60}
    | (?: arn | urn ) : [\w./:*@+=-]{4,300}
    | (?: op | vault | ssm | awssm | gcpsm | keyring | secretsmanager | file )
      : /{0,3} [\w ./:\#-]{3,200}
    | [\w.-]{1,60} : (?: /[\w.-]{1,60} ){2,10}
    | (?: env | secret | secretref ) : [A-Za-z][A-Za-z_-]{2,60}
    | https?://[a-z.-]{1,80}(?::\d{1,5})?(?:/[a-z_./-]{0,80})?
    | [a-z]{2,20}/data/[\w/-]{1,100} (?: : [a-z_]{1,40} )?
    | projects/[\w-]{1,60}/secrets/[\w./-]{1,120}
    | @Microsoft\.KeyVault\( [^()]{1,200} \)
    | [\w-]{1,40} \. (?: pem | key | crt | cer | p12 | pfx | jks | txt | json | ya?ml | env )
    """,
    VERBOSE,
)
"""Path of a file, or address of a secret in a store."""
_KEY_ID = pattern('(?:0x)?(?:[0-9A-F]{8}|[0-9A-F]{16}|[0-9A-F]{40})!?')
_LABEL_WORD = pattern("[A-Za-zÀ-ɏ]{1,20}(?:['’-][A-Za-zÀ-ɏ]{1,20})?")
_SCHEME = pattern(r'\A(?:bearer|basic|token)[ ]++', IGNORECASE)
_ENVIRONMENT = pattern(r'\$[a-z_]')

_WORDS_OF_STATE = words(
    'null none nil undefined true false str string bytes int integer bool boolean number text'
    ' object any unset empty blank missing required optional invalid expired revoked unknown hidden'
    ' redacted filtered masked n/a enabled disabled yes no on off never always active inactive'
    ' strict lax strong weak inherit sensitive write read daily weekly monthly yearly argon2'
)

_NAMES_OF_OBJECTS = (
    'import|self|this|cls|request|req|settings|config|cfg|conf|os|process|env|environ|args|options|opts'
    '|params|props|ctx|context|secrets|vars|var|local|inputs|kwargs|payload|form'
    '|session|event|client|response|res|result|row|record|item|credentials|creds|user|account'
)
_TYPES = (
    r'(?:Secret)?(?:str|Str|Bytes)|string|String|bytes|bool|boolean|int|number|any|Any|None|null'
    r'|undefined|unknown|object|text|varchar(?:\(\d+\))?|VARCHAR(?:\(\d+\))?|TEXT|byte\[\]|&str'
)
TYPE_PATTERN = (
    rf'(?:(?:{_TYPES})|[A-Z][A-Za-z]{{1,40}}|(?:[A-Za-z.]{{1,40}}\[[\w\[\], .|]{{0,60}}\]))'
    rf'(?:[ ]?\|[ ]?(?:{_TYPES}|[A-Z][A-Za-z]{{1,40}})){{0,4}}'
)
"""Pattern of a type in an annotation."""
DECLARED_TYPES = (
    r'\*?string|\[\]byte|str|text|char|n?(?:var)?char2?(?:\(\d{1,5}\))?|String'
    r'|TEXT|CHAR|N?(?:VAR)?CHAR2?(?:\(\d{1,5}\))?'
)
"""Pattern of the type between a name and its value, as in `var token string = "…"`."""
SUBSCRIPTS = r"""[A-Za-z_$][\w.$]{0,60}(?:\[["'][\w. -]{1,60}["']\]){1,6}(?=[\s,;)\]}]|\Z)"""
"""Pattern of a value in containers, such as `config['db']['password']`."""
_DECLARING_CALL = r"""
    (?: \w{1,30}\. ){0,3}
    (?: [Ff]ield | [A-Z][a-z]{2,20}Field | [Cc]olumn | mapped_column | relationship | Option
      | Argument | Query | Header | Cookie | Form | Body | Security | Depends | attrib | ib )
    [(] (?! ["'] | [^()\n]{0,200}? default[ ]?=[ ]?["'] )
"""
"""Pattern of a call that declares a field and has no literal as its default."""
_CODE = pattern(
    rf"""
      (?: {_TYPES} ) (?: [ ]?\|[ ]?\w{{1,40}} )*+ (?= [\s,;)\]}}] | \Z )
    | [A-Z][A-Za-z]{{1,40}} [ ]?\|[ ]?\w{{1,40}}
    | [A-Za-z_$][\w$.]{{0,60}} < [^<>()\n]{{1,80}} (?: <[^<>()\n]{{0,60}}> )? [^<>()\n]{{0,60}} >
      [(]
    | {_DECLARING_CALL}
    | {SUBSCRIPTS}
    | [$][(] (?! echo\b | printf\b ) [a-z][\w./-]{{1,40}} [ ] [^\n`]{{0,400}}
    | (?: Optional | Union | Final | Annotated | ClassVar | List | list | dict | Dict | tuple
        | Promise | Array | Vec | Option | Callable | Mapping ) [\[<]
    | (?: (?: await | lambda | new | not | yield | try[?!]? | co_await | defer )[ ] ){{1,3}} [\w.(]
    | (?: {_NAMES_OF_OBJECTS} ) (?: \??\. | -> ) [A-Za-z_$]
    | [A-Za-z_$][\w$]{{0,40}} (?: (?: \??\.|::|->) [A-Za-z_$][\w$]{{0,40}} ){{1,8}} !?[(]
    | [A-Za-z_$][A-Za-z_.]{{0,60}} (?<! \b[bfru] ) \( [^()"'`]{{0,100}} (?: \([^()]{{0,100}}\) )? \)
      (?= [\s,;)\]}}.] | \Z )
    | [A-Za-z_$][A-Za-z_.]{{0,60}} (?<! \b[bfru] )
      \( [^()"'`]{{0,100}} (?: \([^()"'`]{{0,60}}\) [^()"'`]{{0,100}} ){{1,4}} \)
    | [a-z_]{{1,40}} \[ (?:-?\d{{1,4}}|[a-z_]{{1,40}}) \] (?= [\s,;)\]}}.] | \Z )
    # A cast, and a selector of Objective-C.
    | \( [A-Za-z_][\w.]{{0,40}} (?:<[\w ,<>]{{1,40}}>)? [ ]? (?: [*&]{{1,2}} \) [ ]? | \) )
      [A-Za-z_][\w.]{{0,60}} (?= [\s,;)\]}}.(] | \Z )
    # A call whose literals are too short for a secret.
    | [A-Za-z_$][A-Za-z_.]{{1,60}} (?<! \b[bfru] )
      \( [A-Za-z_&*\[(] [^()"'`\n]{{0,100}} (?: ["'] [^"'\n]{{0,3}} ["']
      [^()"'`\n]{{0,60}} ){{1,4}} \)
    | (?:String|Int|ID|Boolean|Float|Secret)! (?= [\s,;)\]}}] | \Z )
    | \?, | %\( | (?: \$\d{{1,2}} | %s ) (?= [\s,;)'\"] | \Z )
    """,
    VERBOSE,
)

_GRAMMAR = words(
    'input string integer number boolean list dict object type format expected found got extra'
    ' unsupported supplied given one argument arguments header none '
    'a an and any are as at be been before but by can cannot could did do does for from had has'
    ' have how if in into is it its may might must no nor not of on only or our so than that the'
    ' their then there these they this those to too was we were what when where which who whose'
    ' why will'
    ' with would you your see'
    " can't doesn't isn't don't didn't couldn't wasn't"
    # Messages of validators.
    ' required invalid missing expired revoked incorrect wrong blank null empty short long weak'
    ' common match matches least most minimum maximum contain contains characters character digit'
    ' letter field value valid password token key secret should needs need please enter provide'
    ' unexpected malformed'
    ' updated changed successfully reset sent verified accepted rejected authentication'
    ' error unknown denied unable failed allowed used must-have provided ensure already taken'
    ' exists whether shorter longer data than length unable used use uses specifies specify'
    ' indicates defines describes controls sets enables disables if optional must'
    ' darf muss nicht leer sein ist mindestens zeichen haben ungültig erforderlich falsch zu kurz'
    ' doit contenir au moins caractères est invalide requis obligatoire ce champ trop court'
    ' debe tener al menos caracteres es obligatorio inválido no válido este campo'
)
_MARKERS = words(
    'unsupported extra expected found shorter longer whether '
    'must required invalid missing expired revoked incorrect wrong blank null empty short long weak'
    ' unexpected malformed'
    ' common match matches least most minimum maximum contain contains should cannot valid denied'
    " failed allowed needs error provided already can't doesn't isn't didn't"
    ' darf muss ungültig erforderlich falsch kurz doit invalide requis obligatoire court debe'
    ' obligatorio inválido'
)
_CHINESE_MESSAGE = pattern(
    r'[\u4e00-\u9fff，。、0-9 ]*'
    r'(?:不能|必须|必需|必填|不正确|错误|无效|过期|太短|至少|不匹配|为空|不可)'
    r'[\u4e00-\u9fff，。、0-9 ]*'
)
_PLAIN_WORD = pattern(
    r"[A-Za-zÀ-ÿ]?[a-zà-ÿ]{0,19}(?:['’-][a-z]{1,14}){0,3}|[A-Z]{2,7}|\d{1,4}"
    r'|[a-z_]{1,20}=[a-z_.]{1,30}'
)
_PUNCTUATION = '.,;:!?()'
_QUOTES = '"\'`“”‘’'
_PAIR_OF_WORDS = 2
_MIN_GRAMMAR = 0.4
"""Share of words of grammar and of validators in a sentence; a passphrase has fewer."""


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret without being one.

    >>> [is_placeholder(value) for value in ('***', '${DB_PASSWORD}', 'null', 'hunter2')]
    [True, True, True, False]
    """
    value = value.strip()
    return value.rstrip('.!').lower() in _WORDS_OF_STATE or (
        _PLACEHOLDER.fullmatch(value) is not None and not _ENVIRONMENT.match(value)
    )


def is_message(value: str, *, prose: bool = False) -> bool:
    """Return whether a value is a message about its field, such as an error of a validator.

    With `prose`, any sentence is one; otherwise it must contain a word of validators, because a
    passphrase can be a sentence.

    >>> is_message('must have 8 characters'), is_message('correct horse battery staple')
    (True, False)
    >>> is_message("'hunter2' is invalid")
    False
    """
    if len(value) > _MAX_LENGTH:
        return False
    if _CHINESE_MESSAGE.fullmatch(value):
        return True
    parts = [part for raw in value.split() if (part := raw.strip(_PUNCTUATION))]
    bare = [part.strip(_QUOTES).lower() for part in parts]
    known = [word in _GRAMMAR for word in bare]
    return (
        len(parts) > 1
        and known[0]
        and sum(known) >= _MIN_GRAMMAR * len(parts)
        and all(
            is_known or _PLAIN_WORD.fullmatch(part)
            for is_known, part in zip(known, parts, strict=True)
        )
        and ((prose and len(parts) > _PAIR_OF_WORDS) or not _MARKERS.isdisjoint(bare))
    )


_MIN_SENTENCE, _MIN_SHARE = 3, 0.25


def is_sentence(value: str) -> bool:
    """Return whether a text after a name is prose, with at least some words of grammar.

    >>> is_sentence("function argument 'token_url'"), is_sentence('correct horse battery staple')
    (True, False)
    """
    parts = [part for raw in value.split() if (part := raw.strip(_MARKS_AROUND))]
    known = sum(part.lower() in _GRAMMAR for part in parts)
    return (
        len(parts) >= _MIN_SENTENCE
        and known >= _MIN_SHARE * len(parts)
        and all(map(_WORD_OR_NUMBER.fullmatch, parts))
    )


def is_harmless(value: str, name: str = '') -> bool:
    """Return whether a text under a sensitive name is no secret.

    >>> [is_harmless(value, 'password') for value in ('/run/secrets/db', 'Your password', 'ab1')]
    [True, True, False]
    """
    value = _SCHEME.sub('', value.strip())
    return (
        not value
        or is_placeholder(value)
        or is_reference(value)
        or is_message(value)
        or _is_label(value, name)
        or ('sign' in name.lower() and _KEY_ID.fullmatch(value) is not None)
        or (name[-2:].lower() == 'id' and _SLUG.fullmatch(value) is not None)
        or (
            name != ''
            and len(value) <= _MAX_LENGTH
            and is_compound(name)
            and is_wordy(value)
            and (name.lower() != 'auth' or ' ' in value or ':' in value or value in _GRAMMAR)
        )
    )


def is_wordy(value: str) -> bool:
    """Return whether a text consists of words, short numbers and addresses without a user.

    >>> is_wordy('17 tokens checked in 0.8 s'), is_wordy('hunter2'), is_wordy('k4-Xy')
    (True, False, False)
    """
    return all(
        _WORD_OR_NUMBER.fullmatch(part)
        for raw in value.split()
        if (part := raw.strip(_MARKS_AROUND))
    )


_SLUG = pattern('[a-z]{1,20}(?:[/_-][a-z]{1,20}){1,6}')
_MARKS_AROUND = '.,;:!?()[]{}<>"\'`*|“”‘’'
_WORD_OR_NUMBER = pattern(
    r"""
      [A-Za-zÀ-ɏ]{1,30} (?: ['’_./-]{1,2} [A-Za-zÀ-ɏ]{1,30} ){0,8} (?: [:/]\d{1,5} )?
    | \d{1,6} (?: [.:/-]\d{1,6} ){0,4} (?:[.]?[A-Za-z%]{1,8})?
    | [a-z]{2,12}://[\w.-]{1,80}(?::\d{1,5})?(?:/[A-Za-z_./-]{0,80})?
    | [-=+/&|<>#→]{1,3}
    """,
    VERBOSE,
)


def is_reference(value: str) -> bool:
    """Return whether a value is the path of a file, or the address of a secret in a store.

    >>> is_reference('~/.ssh/id_ed25519'), is_reference('arn:aws:kms:x'), is_reference('hunter2')
    (True, True, False)
    """
    return _REFERENCE.fullmatch(value) is not None


def _is_label(value: str, name: str) -> bool:
    """Return whether a value is the translated label of a field, such as "Forgot password?"."""
    if len(value) > _MAX_LABEL:
        return False
    if not value.isascii() and value.isalpha() and is_sensitive(value):
        return not value[0].islower() or value == name
    parts = value.rstrip('?!.:…').split()
    if not value[0].isupper() or not all(map(_LABEL_WORD.fullmatch, parts)):
        return False
    if len(parts) == 1:
        return parts[0].lower() in {*split_words(name), *FOREIGN_WORDS}
    return any(part.lower() in split_words(name) for part in parts) or is_sensitive(' '.join(parts))


_MAX_LABEL = 60
"""In characters."""


def is_code(text: str, at: int, limit: int | None = None) -> bool:
    """Return whether the text at an index is code that refers to a value: a type, a call, a name.

    >>> is_code('str | None = None', 0), is_code('get_token()', 0), is_code('hunter2', 0)
    (True, True, False)
    """
    return _CODE.match(text, at, len(text) if limit is None else limit) is not None
