"""Rules for secrets in source code, configuration files and sessions, as data."""

from re import IGNORECASE, MULTILINE, VERBOSE, Match
from re import compile as pattern

from seamwise.redaction.command_rules import is_like_password
from seamwise.redaction.harmless import is_code, is_harmless
from seamwise.redaction.random_keys import random_keys
from seamwise.redaction.rules import BOUNDARY, PLAIN_WORDS, START, Rule, has_digit
from seamwise.redaction.sensitive_names import is_sensitive, split_words

_QUOTED = r"""(?: '(?P<in_single>[^'\n]{1,512})' | "(?P<in_double>[^"\n]{1,512})" )"""
_VALUE = rf"""(?: {_QUOTED} | (?P<secret>(?!\$)[^\s"'`;\\<>(){{}}]{{4,512}}) )"""
_SECRET_WORDS = ('pass', 'secret', 'token', 'key', 'pwd', 'cred', 'auth', 'cookie', 'psk', 'pin')
_NAME_OF_SETTER = pattern(r'\A(?:set|with|use|add|put)_?', IGNORECASE)
_FIRST_WORDS = frozenset(
    (
        *('password', 'passphrase', 'passwd', 'secret', 'token', 'bearer', 'authorization'),
        'cookie',
        *('api', 'access', 'client', 'private', 'auth', 'apikey', 'master', 'encryption'),
    )
)
_SLUG = pattern(r'(?:[a-z]{1,20}|\d{1,4})(?:-(?:[a-z]{1,20}|\d{1,4})){2,20}(?:\.html?)?')
"""Last part of an address that consists of words."""
_MARKS_AND_DIGITS = pattern(r'[0-9]|[^\w.\s:/-]')


def _is_named(secret: str, match: Match[str]) -> bool:
    """Return whether the name is sensitive and the value is none of a message or a reference."""
    return is_sensitive(match['name']) and not is_harmless(secret, match['name'])


def _is_named_value(secret: str, match: Match[str]) -> bool:
    """Return whether the name is sensitive and the value differs from a word."""
    return (
        ' ' not in secret.strip()
        and _MARKS_AND_DIGITS.search(secret) is not None
        and _is_named(secret, match)
        and not is_code(secret, 0)
    )


def _is_set(secret: str, match: Match[str]) -> bool:
    name = _NAME_OF_SETTER.sub('', match['name'])
    return (
        (name != match['name'] or split_words(name)[0] in _FIRST_WORDS)
        and is_sensitive(name)
        and _is_value(secret, match)
    )


def _is_value(secret: str, _: Match[str]) -> bool:
    return not PLAIN_WORDS.fullmatch(secret) and not is_harmless(secret)


def _is_prompted(secret: str, match: Match[str]) -> bool:
    return _MARKS_AND_DIGITS.search(secret) is not None and _is_value(secret, match)


def _is_named_key(secret: str, match: Match[str]) -> bool:
    return has_digit(secret, match) and _is_named_value(secret, match)


def _is_no_slug(secret: str, _: Match[str]) -> bool:
    return _SLUG.fullmatch(secret) is None


def _is_argument(secret: str, match: Match[str]) -> bool:
    return is_sensitive(match['name'].lstrip('@#:$-')) and is_like_password(secret)


def _is_gem_credential(secret: str, match: Match[str]) -> bool:
    return '__' in match[0] and has_digit(secret, match)


def _is_answer(secret: str, match: Match[str]) -> bool:
    return is_sensitive(match['name']) and _is_prompted(secret, match)


def _is_element(secret: str, match: Match[str]) -> bool:
    name = match['name'] or match['attribute']
    return is_sensitive(name) and not is_harmless(secret, name)


SOURCE_RULES: tuple[Rule, ...] = (
    Rule(
        'random key by its context',
        (
            *('key', 'token', 'secret', 'auth', 'pass', 'cred', 'login', 'api', 'session', 'code='),
            *('config', 'appid', 'new ', 'init', 'client', 'salt'),
        ),
        '',
        "cohere.Client('⟦FAKE1fakeFAKE2fakeFAKE3fake⟧')  # api_key",
        'the clients of providers',
        find=random_keys,
    ),
    Rule(
        'text typed into a field',
        ('.type(', '.fill(', 'keys(', 'value(', '.val(', 'text(', 'input('),
        r"""
        (?P<name>[\w-]{2,40}) ["'\])]{0,6} [^\n"'()]{0,40}
        [.](?:type|fill|typeText|send_?[kK]eys|set_?[vV]alue|val|input|enter_?[tT]ext|clearAndType)
        [(]\s{0,8} ["'](?P<secret>[^"'\n]{3,128})["']
        """,
        "page.getByLabel('Password').fill('⟦FAKE-1⟧')",
        'the documentation of Playwright, Cypress and Selenium',
        accept=_is_named,
    ),
    Rule(
        'keyword of a test',
        ('input password', 'type password', 'fill secret', 'type secret'),
        r'(?:Input|Type|Fill)[ ](?:Password|Secret)[ \t]{2,20}[^\s]{1,80}[ \t]{2,20}'
        r'(?P<secret>(?![$%])[^\n\t]{3,128}?)(?=[ ]{2}|[\t\n]|\Z)',
        'Input Password    id=pw    ⟦FAKE 1⟧',
        'the documentation of Robot Framework',
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'argument after its name',
        _SECRET_WORDS,
        rf"""[,(\[]\s{{0,8}}["'](?P<name>[@\#:$-]?[\w.-]{{2,64}})["']\s{{0,8}},\s{{0,8}}{_QUOTED}
        (?=\s{{0,8}}[,)\]])""",
        "connect('shop', 'ann', 'password', '⟦FAKE-1⟧')",
        'the functions of MATLAB, and rows of settings in SQL',
        accept=_is_argument,
    ),
    Rule(
        'constant of a syntax tree',
        ('value=',),
        r"""
        \b(?:name|id|key|field|arg|attr)=["'](?P<name>[\w.-]{2,64})["'][^\n]{0,100}?
        \bvalue=(?:\w{1,20}[(](?:value=)?)?["'](?P<secret>[^"'\n]{3,256})["']
        """,
        "Assign(targets=[Name(id='password')], value=Constant(value='⟦FAKE-1⟧'))",
        'the module ast of Python',
        accept=_is_named,
    ),
    Rule(
        'cookie in a jar',
        ('<cookie ',),
        r'<Cookie[ ][\w.-]{1,64}=(?P<secret>[^\s>]{1,4096})[ ]for[ ]',
        '<RequestsCookieJar[<Cookie sid=⟦FAKE1⟧ for example.org/>]>',
        'the module http.cookiejar of Python',
    ),
    Rule(
        'user of a login module',
        ('loginmodule',),
        r'LoginModule[^;]{0,400}?\buser_[\w.-]{1,64}="(?P<secret>[^"\n]{1,256})"',
        'DigestLoginModule required user_super="⟦FAKE1⟧";',
        'the configuration of Kafka and ZooKeeper',
    ),
    Rule(
        'line of chap-secrets',
        ('secret',),
        r'^["\']?[\w.@*\\-]{1,64}["\']?[ \t]{1,20}[\w.*-]{1,64}[ \t]{1,20}'
        r'"(?P<secret>[^"\n]{4,128})"[ \t]{1,20}[\w.*:/-]{1,64}[ \t]{0,20}\r?$',
        '# client server secret IP\nann * "⟦FAKE-1⟧" *',
        'the manual of pppd',
        accept=_is_value,
        flags=VERBOSE | MULTILINE,
    ),
    Rule(
        'variable of Nagios',
        ('$user',),
        r'(?:(?<![\w$])|(?<=\\[nrt]))\$USER\d{1,3}\$=(?P<secret>(?!/)[^\s"\'\\,;]{4,128})',
        '$USER3$=⟦FAKE-1⟧',
        'the manual of Nagios',
    ),
    Rule(
        'macro',
        ('define',),
        rf'(?:\#[ \t]*|%)define[ \t]+(?P<name>\w{{1,64}})[ \t]+[LuU]?{_QUOTED}',
        '#define WIFI_PASSWORD "⟦FAKE1⟧"',
        'ISO 9899',
        accept=_is_named,
        flags=VERBOSE | MULTILINE,
    ),
    Rule(
        'directive with a name',
        ('setenv ', '_header ', '_param ', 'header ', 'set ', 'set-', 'setq ', 'def'),
        rf"""
        (?: (?:\b|(?<=\\[nrt])) (?: SetEnv | (?:proxy|grpc)_set_header | add_header |
          (?:fastcgi|uwsgi|scgi)_param
          | (?:Request)?Header[ ](?:set|add|append) | set-header | set-var | setq |
            def(?:parameter|var|constant)? | set
        ) ) [ \t]{{1,16}} ["'$]? (?P<name>[\w*:.-]{{2,64}}) ["']? [ \t]{{1,16}} {_VALUE}
        """,
        'SetEnv DB_PASS ⟦FAKE-1⟧',
        'the manuals of Apache, nginx and HAProxy, of Tcl and of Lisp',
        accept=_is_named_value,
        flags=VERBOSE | MULTILINE,
    ),
    Rule(
        'keyword with a value',
        ('_', '-', '.', ':pass', ':token', ':secret'),
        r"""
        ^[ \t]{0,40} (?P<name>[A-Za-z][A-Za-z0-9]{0,30}(?:[_.-][A-Za-z0-9]{1,30}){1,6})
        [ \t]{1,40} ["']? (?P<secret>[^\s"'`;\\<>(){},=:|]{6,512}) ["']? [ \t]{0,4};?[ \t]{0,4}\r?$
        """,
        'aws_sec_key ⟦FAKE-1⟧',
        'the configuration files of Fluentd, stunnel and Dovecot',
        accept=_is_named_key,
        flags=VERBOSE | MULTILINE,
    ),
    Rule(
        'keyword of a map',
        _SECRET_WORDS,
        rf"""
        (?: (?<=[\s{{(]):(?P<keyword>) | \{{(?P<atom>) ) (?P<name>[a-z][\w-]{{1,63}})
        (?(atom) \s{{0,8}},\s{{0,8}} | [ \t]{{1,8}} ) (?:<<)? {_QUOTED}
        """,
        '{{default_pass,<<"⟦FAKE1⟧">>}}'.replace('{{', '{').replace('}}', '}'),
        'the terms of Erlang, and the maps of Clojure',
        accept=_is_named,
    ),
    Rule(
        'quoted name beside its value',
        _SECRET_WORDS,
        rf"""(?<=["'/:.])(?P<name>[\w-]{{2,64}}+)["'][ \t]{{1,16}}(?!["']\$){_QUOTED}""",
        '"//npm.example.org/:_password" "⟦FAKE1⟧"',
        'the logs of npm, and the key values of Valve',
        accept=_is_named_value,
    ),
    Rule(
        'setter',
        _SECRET_WORDS,
        rf"""
        (?: (?<=[.>:]) | \b(?=set|with) ) (?P<name>[A-Za-z]\w{{2,48}}) [(]
          \s{{0,8}}[bru]?{_QUOTED}\s{{0,8}}[)]
        """,
        'client.setPassword("⟦FAKE1⟧")',
        'the builders of Java, C++ and Rust',
        accept=_is_set,
    ),
    Rule(
        'login call',
        (
            *('login(', 'connect(', 'auth(', 'basicauth', 'basic_auth', 'digestauth', 'plainauth'),
            *('proxyauth', 'ntlmauth', 'authenticate(', 'passwordauthentication(', 'ftp_login'),
            *('networkcredential(', 'passwordcredential', 'pdo(', 'pdo->', 'mysqli'),
            *('getconnection(', 'imap_open', 'signin', 'changeuserpassword'),
        ),
        r"""
        (?: [.>:](?:login|authenticate|auth|signIn\w{0,20}|changeUserPassword) |
          (?:\b|(?<=\\[nrt]))ftp_login | (?:\b|(?<=\\[nrt]))imap_open
          | (?:\b|(?<=\\[nrt]))PDO(?:->__construct)? |
            (?:\b|(?<=\\[nrt]))(?P<mysql>mysqli(?:->__construct|->real_connect)?|mysqli?_p?connect)
          | [.>:]connect | [gG]etConnection | NetworkCredential | UsernamePasswordCredentials? |
            PasswordAuthentication
          | (?:\b|(?<=\\[nrt]))\w{0,20}(?:Basic|Digest|Plain|Proxy|Ntlm)Auth\w{0,20} | basic_?auth
        ) [(] \s{0,8}
        (?(mysql) (?: ["'][^"'\n]{0,200}["'],\s{0,8} ){2}
          | (?: [^()"'\n]{0,60} ["'][^"'\n]{0,200}["'] [^()"'\n]{0,40} ,\s{0,8} ){1,3} )
        ["'] (?P<secret>[^"'\n]{3,256}) ["'] (?=\s{0,8}[,)])
        """,
        "PDO->__construct('mysql:host=db', 'ann', '⟦FAKE1⟧')",
        'the libraries of PHP, Java, .NET and Go',
        accept=_is_value,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'key of a cryptographic call',
        (
            *(
                'fernet(',
                'hmac.new(',
                'createhmac(',
                'hmac(',
                'hmacsha',
                'secretkeyspec(',
                'aesgcm(',
            ),
            *('chacha20poly1305(', 'hs256key(', 'createcipheriv(', 'auth(', 'serializer('),
            *('jwt.sign(', 'jwt.encode(', 'jwt.decode(', 'jwt.verify('),
        ),
        rf"""
        (?: (?:\b|(?<=\\[nrt]))Fernet[(] (?:key=)? |
          (?:\b|(?<=\\[nrt]))(?:AESGCM|ChaCha20Poly1305|SecretKeySpec|HS256Key)[(]
          | (?:\b|(?<=\\[nrt]))hmac\.new[(] (?:key=)? |
            (?:\b|(?<=\\[nrt]))createHmac[(]["'][\w-]{{1,20}}["'],[ ]? |
            (?:\b|(?<=\\[nrt]))HMAC(?:SHA)?\d{{0,3}}[(]
          | (?:\b|(?<=\\[nrt]))createCipheriv[(]["'][\w-]{{1,30}}["'],[ ]?
          | (?:\b|(?<=\\[nrt]))jwt\.(?:sign|encode|decode|verify)[(] [^()"'\n]{{1,80}}
            (?:["'][^"'\n]{{1,40}}["'][^()"'\n]{{1,80}}){{0,4}} ,[ ]?
          | (?:\b|(?<=\\[nrt]))(?:URLSafe)?(?:Timed)?(?:JSONWebSignature)?Serializer[(] |
            (?:\b|(?<=\\[nrt]))\w{{1,30}}[.:]auth[(] )
        \s{{0,8}}[bru]?{_QUOTED}
        """,
        "Fernet(b'⟦FAKE1FAKE2⟧')",
        'the libraries cryptography, PyJWT and redis, and Node.js',
        accept=_is_value,
    ),
    Rule(
        'hash of a password',
        (
            *('$1$', '$2', '$5$', '$6$', '$7$', '$y$', '$p$', '$h$', '$apr1', 'argon2', 'pbkdf2'),
            *('scrypt', 'sha}', '{ssha', '{crypt', 'scram-sha', '$krb5', ':::', 'bcrypt'),
        ),
        r"""
          (?:(?<![\w$])|(?<=\\[nrt])) \$ (?: 1 | 2[abxy] | 5 | 6 | 7 | y | gy | apr1 |
            argon2(?:id?|d) | pbkdf2(?:-\w{1,10})?
            | bcrypt-sha256 | scrypt | P | H | krb5\w{2,12} ) \$ [\w./$=,+*@-]{16,512}+
        | (?:\b|(?<=\\[nrt])) (?: pbkdf2_sha\d{1,3} | bcrypt(?:_sha256)? | argon2 | scrypt ) \$
          [\w./$=,+-]{20,512}+
        | (?:\b|(?<=\\[nrt])) (?: scrypt:\d{1,6}:\d{1,3}:\d{1,3} | pbkdf2:sha\d{1,3}:\d{1,8} ) \$
          [\w./+]{4,64} \$ [0-9a-f]{32,256}+
        | \{ (?i: s?sha(?:256|384|512)? | s?md5 | crypt | pbkdf2[\w-]{0,12} | argon2 ) \}
          [\w./$=,+]{16,512}+
        | (?<!\w) -pbkdf2 (?::\w{1,12})? -[0-9a-f]{20,128} (?:,[0-9a-f]{1,128}){0,4}
        | (?:\b|(?<=\\[nrt]))SCRAM-SHA-\d{1,3} \$ \d{1,8} : [\w+/=]{8,128} \$ [\w+/=:]{20,256}+
        | (?<!\w) \*[0-9A-F]{40} (?![0-9A-Za-z])
        | (?:\b|(?<=\\[nrt])) [0-9a-f]{32} : [0-9a-f]{32} (?=:::)
        """,
        '⟦$apr1$FAKEFAKE$FAKEFAKEFAKEFAKEFAKEF1⟧',
        'crypt(5), and the formats of passlib, Django, Werkzeug, LDAP and CouchDB',
    ),
    Rule(
        'path of a webhook',
        ('/services/', 'webhook', 'hooks', 'hook/', '/key/', '/integration/', 'hc-ping'),
        rf"""
        {START}/?services/T[A-Z0-9]{{6,14}}/B[A-Z0-9]{{6,14}}/(?P<secret>\w{{16,64}}+)
        | /IncomingWebhook/(?P<in_single>[0-9a-f]{{24,64}}/[\w-]{{20,64}})
        | (?: /hooks/catch/\d{{3,12}}/ | /with/key/ | (?:\b|(?<=\\[nrt]))hc-ping\.com/ |
          /bot/v2/hook/ | /hooks/
            | /integration/ | /webhooks?/(?:\d{{6,25}}/)? )
              (?P<in_double>(?=[\w-]{{0,60}}\d)(?=[\w-]{{0,60}}[A-Za-z])[\w-]{{7,128}}+)
        """,
        '/services/T00000000/B00000000/⟦FAKEFAKEFAKEFAKEFAKEFAKE⟧',
        'the documentation of Slack, Teams, Zapier, IFTTT, Mattermost and PagerDuty',
    ),
    Rule(
        'link with a token',
        ('reset', 'verif', 'confirm', 'activat', 'invit', 'magic', 'unsubscribe', 'set-password'),
        r"""
        / (?: (?:password[_-])?reset (?:[_-](?:password|confirm))? |
          (?:verify|verification|confirm|confirmation
          | activate|activation) (?:[_-]?(?:e?mail|account))? | invit(?:e|es|ation|ations) |
            magic(?:[_-]?(?:link|login))?
          | unsubscribe | accept[_-]invit\w{1,6} | set-password ) /
        (?: [\w=-]{1,40}/ )?? (?P<secret> (?=[^/\s]{0,200}\d) [\w.~=-]{20,512} )
          (?=[/?\s"'<>)\#&]|\Z)
        """,
        'https://example.org/accounts/reset/MQ/⟦FAKE01-FAKE0123456789FAKE⟧/',
        'the documentation of Django, Devise and Keycloak',
        accept=_is_no_slug,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'session in an address',
        ('session', 'sid=', 'ticket=', 'st-', 'tgt-', 'pt-'),
        rf"""
        (?<=[?&;]) (?: session_?id | sid | connect\.sid | sess(?:_?id)? ) =
          (?P<secret>[\w.~%-]{{16,512}}+)
        | {BOUNDARY} (?:ST|TGT|PGT|PT|PGTIOU)-\d{{1,8}}-(?P<in_single>[\w.-]{{16,256}}+)
        """,
        'GET /login?session_id=⟦FAKE1FAKE2FAKE3FAKE4⟧',
        'the protocol of CAS, and servlets',
        accept=has_digit,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'shared secret of IPsec',
        ('psk ', 'xauth ', 'eap '),
        rf'(?:^|[ ]):[ ](?:PSK|XAUTH|EAP|NTLM|PIN)[ ]{_QUOTED}',
        '10.0.0.1 10.0.0.2 : PSK "⟦FAKE1⟧"',
        'the manual of strongSwan',
        flags=VERBOSE | MULTILINE,
    ),
    Rule(
        'default of a variable',
        ('variable "',),
        rf"""
        (?:\b|(?<=\\[nrt]))variable[ ]"(?P<name>[\w-]{{1,64}})"\s{{0,8}}\{{
        (?:[^{{}}\n]{{0,200}}\n){{0,8}}? [ \t]{{0,40}}default[ \t]{{0,40}}=[ \t]{{0,8}}{_QUOTED}
        """,
        'variable "db_password" {\n  default = "⟦FAKE1⟧"\n}',
        'the documentation of Terraform',
        accept=_is_named,
    ),
    Rule(
        'element beside the element of its name',
        ('</name>', '</key>', 'name=', 'key=', ' n=', 'property=', 'field=', 'option='),
        r"""
        (?: <(?:name|key)> \s{0,8} (?P<name>[\w. -]{1,64}) \s{0,8} </(?:name|key)> \s{0,40}
          (?: <(?:value|string|data)(?:\s[^<>]{0,80})?> \s{0,40} ){1,3}
          | <[\w:.-]{1,40}\s
            [^<>]{0,80}?(?<![\w-])(?:name|key|N|property|field|option)=
              ["'](?P<attribute>[\w.-]{1,64})["'][^<>]{0,80}> \s{0,40}
              (?:<value>\s{0,8})? )
        (?P<secret>[^<>]{1,512}?) \s{0,8} </
        """,
        '<property><name>fs.s3a.secret.key</name><value>⟦FAKE1⟧</value></property>',
        'the configuration files of Hadoop, Android, .NET and macOS',
        accept=_is_element,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'password of an address without its scheme',
        ('@',),
        r"""
        (?: // | (?<![\w/:.@+-]) )
          (?P<secret>[\w.+-]{0,64}:(?=[^\s:@/"'<>]{0,64}[0-9])(?=[^\s:@/"'<>]{0,64}[A-Za-z])[^\s:@/"'<>`(){}\[\],]{5,128})
        @ [A-Za-z0-9][\w.-]{0,100}(?::\d{2,5}|/[\w-])
        """,
        'postgresql//⟦ann:FAKE1⟧@db:5432/shop',
        'connection strings of drivers',
    ),
    Rule(
        'map of passwords',
        (']:',),
        r'\[[\w.-]{1,100}\]:\d{1,5}[ \t]{1,16}[^\s:]{1,128}:(?P<secret>[^\s"\'\\]{4,256})',
        '[smtp.example.org]:587 ann@example.org:⟦FAKE1⟧',
        'the manual of Postfix',
    ),
    Rule(
        'credentials of a gem server',
        ('bundle_',),
        r'(?:\b|(?<=\\[nrt]))BUNDLE_[A-Z0-9_]{1,80}:?[ =]{1,2}["\']?'
        r'(?P<secret>(?:[\w.-]{1,64}:)?[^\s"\'/:]{6,256})',
        'BUNDLE_GEMS__EXAMPLE__COM: "⟦ann:FAKE1FAKE2⟧"',
        'the manual of Bundler',
        accept=_is_gem_credential,
    ),
    Rule(
        'answer to a prompt',
        (
            *(']: ', 'assword:', 'passphrase:', 'password (', 'passphrase (', 'passcode:'),
            *('password for ', 'password of '),
            *('passphrase for ', 'passphrase of ', 'passcode for ', 'passcode of '),
        ),
        r"""
        (?: (?:password|passphrase|passcode|secret|token|(?:access|api|secret)[ ]key)
            (?:[ ]id)?+ [^\n:\[]{0,60}? \[[^\]\n]{0,40}\] : [ ]
          | (?:password|passphrase|passcode)[ ](?:(?:for|of)[ ]|\()[^\n:]{1,120}:
            (?:[ ]|[ ]?\r?\n[ \t]{0,16})
          | (?:p?assword|passphrase
            |passcode)[ ]{0,2}:[ ]?["'\]})]{0,3}\r?\n[ \t]{0,16}(?:send(?:line)?(?:\b
            |(?<=\\[nrt]))[ (]{1,2}(?:--[ ])?["'])?
        )
        (?P<secret>[^\s"'\\`]{4,256}) (?=\\[nrt]|["'\s,;]|\Z)
        """,
        'AWS Secret Access Key [None]: ⟦FAKE1FAKE2⟧',
        'the prompts of aws, Elasticsearch and expect',
        accept=_is_prompted,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'value in a session',
        ('>>> ', ']: ', 'echo ', 'printenv ', '(pdb) ', 'irb'),
        r"""
        (?: ^>>>[ ] | ^In[ ]\[\d{1,4}\]:[ ] | ^\(Pdb\)[ ](?:p[ ]|pp[ ])? | ^irb[^\n>]{0,30}>[ ]
          | ^[^\n]{0,40}?[$\#][ ](?:echo|printenv)[ ] )
        (?:print\()? ["']? \$?\{? [^\n=]{0,80}? (?P<name>[\w.-]{2,64}) \}? ["'\])]{0,3} [ \t]{0,8}
          \r?\n
        (?:Out\[\d{1,4}\]:[ ] | =>[ ])? (?P<quote>["'])? (?P<secret>[^\s"'\\]{4,512})
          (?(quote)(?P=quote)) [ \t]{0,8} (?=\r?$|\Z)
        """,
        ">>> settings.AUTH_TOKEN\n'⟦FAKE1⟧'",
        'the interactive interpreters of Python and Ruby, and shells',
        accept=_is_answer,
        flags=VERBOSE | MULTILINE,
    ),
    Rule(
        'former value',
        ('from "', "from '", 'from `'),
        r"""
        (?:password|passphrase|secret|token
          |api[ _-]?key)[^\n"'`]{0,40}[ ]from[ ]["'`](?P<secret>[^"'`\n]{4,256})["'`]
        """,
        "changed token from '⟦FAKE-1⟧' to null",
        'messages of people and programs',
        accept=_is_value,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'present value',
        ('to "', "to '", 'to `'),
        r"""
        (?:password|passphrase|secret|token
          |api[ _-]?key)[^\n"'`]{0,40}(?:[ ]from[ ]["'`][^"'`\n]{1,256}["'`])?
        [ ]to[ ]["'`](?P<secret>[^"'`\n]{4,256})["'`]
        """,
        "changed token to '⟦FAKE-1⟧'",
        'messages of people and programs',
        accept=_is_value,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'answer of a mail client',
        ('334 ugfzc3dvcmq6',),
        r'334[ ](?i:UGFzc3dvcmQ6)\s{1,4}(?:[<>C:-]{1,3}[ ])?(?P<secret>[A-Za-z0-9+/=]{4,256}+)',
        '334 UGFzc3dvcmQ6\n⟦RkFLRTE=⟧',
        'RFC 4954, AUTH LOGIN',
    ),
    Rule(
        'key of an encrypted database',
        ('pragma', 'key '),
        rf'(?:\b|(?<=\\[nrt]))(?:PRAGMA[ ](?:\w{{1,40}}\.)?(?:re)?key[ ]?=[ ]?'
        rf'|(?:\b|(?<=\\[nrt]))ATTACH[^\n;]{{1,200}}[ ]KEY[ ]){_QUOTED}',
        "PRAGMA key = '⟦FAKE1⟧'",
        'the documentation of SQLCipher',
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'part of a connection string',
        ('missing "=" after',),
        r'missing[ ]"="[ ]after[ ]"(?P<in_double>[^"\n]{3,256})"',
        'missing "=" after "⟦FAKE1⟧" in connection info string',
        'the error messages of libpq',
        accept=_is_value,
    ),
)
"""Rules for source code, configuration files and sessions."""
