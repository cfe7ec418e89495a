"""Rules for secrets in arguments of commands, as data; `rules` says how they are read."""

from re import IGNORECASE, VERBOSE, Match
from re import compile as pattern

from seamwise.redaction.harmless import is_harmless
from seamwise.redaction.rules import PLAIN_WORDS, START, Rule
from seamwise.redaction.sensitive_names import is_sensitive

_ARGUMENTS = r'[^\n|;&]{0,200}?'
"""Arguments before an option."""
_BEFORE = r"""(?:[ ]|["'],\s{0,4}["']|"[ ]a\d{1,3}=")"""
"""Space before an option; in a list and in a record of auditd, a quote."""
_AFTER = r"""(?:[ \t]{1,4}|=|["'],\s{0,4}(?=["'])|"[ ]a\d{1,3}=(?="))"""
_VALUE = r"""
(?: '(?P<in_single>[^'\n]{1,256})' | "(?P<in_double>[^"\n]{1,256})"
  | (?P<secret>(?![-$`<%{(])[^\s"'`\\|]{1,256}) )
"""

_PROGRAMS: tuple[tuple[str, str], ...] = (
    (
        (
            r'cqlsh|mongo(?:sh|dump|restore|export|import|stat|top)?|sshpass|rabbitmqadmin|arangosh'
            r'|(?:oc|cf|ibmcloud|helm[ ]registry|docker|podman|skopeo|az|crane)[ ]login'
            r'|couchbase-cli'
            r'|cbq|cbimport|cbexport|cypher-shell|psexec\w{0,4}|hdbsql|winexe|evil-winrm|nxc|smbmap'
            r'|security[ ]unlock-keychain|ncftp(?:get|put)?|usermod|useradd|exaplus|vsql|mclient'
        ),
        '-p',
    ),
    (
        r'sqlcmd|osql|isql|bcp|tsql|mosquitto_(?:pub|sub|rr)|ipmitool|ssh-keygen[ ]-p',
        '-P',
    ),
    (r'plink|pscp|psftp|putty|nodetool', '-pw'),
    (
        r'ldap(?:search|add|modify|delete|passwd|whoami)|kadmin|security[ ]add-\w{1,20}-password',
        '-w',
    ),
    (r'(?:redis|keydb|valkey)-(?:cli|benchmark)', '-a'),
    (r'schtasks', '/rp'),
    (r'openssl[ ]enc', '-k'),
    (r'ssh-keygen', '-N'),
)
"""Programs and their option for a password."""


def _of_program(names: str, option: str) -> str:
    return rf'(?:{names})(?:\.exe)?\b{_ARGUMENTS}{_BEFORE}{option}'


_OPTIONS = '|'.join(_of_program(names, option) for names, option in _PROGRAMS)


def _is_value(secret: str, _: Match[str]) -> bool:
    """Return whether an argument is a value, not a word of a sentence or of a synopsis."""
    return not PLAIN_WORDS.fullmatch(secret) and secret[:1] not in {'$', '<', '['}


_MARK = pattern(r'[!@\#$%^&*?~+]|[A-Za-z].*[0-9]|[0-9].*[A-Za-z]')
_NUMBERED = r'[a-z]+(?:[_-][a-z]+)*[_-]\d{1,3}'
_MIXED_CASE = pattern(r'(?=.*[a-zà-ÿ])(?=.*[A-ZÀ-Þ].*[_.-]|.*[_.-].*[A-ZÀ-Þ]).*')
_UNLIKE_PASSWORD = pattern(
    rf'[/\\:]|\A{_NUMBERED}\Z|\A[-+]?\d+(?:[a-z]{{1,2}}|[.]\d.*)?\Z|\A[$<\[({{%*&-]|\A\w+='
)


def is_like_password(secret: str, _: Match[str] | None = None) -> bool:
    """Return whether an argument looks like a password, not like a port, a path or a word.

    >>> [is_like_password(each) for each in ('Sommer!', 'a4-Wald', 'Rot_Kraut', '8080', 'my_dir')]
    [True, True, True, False, False]
    """
    return (
        _UNLIKE_PASSWORD.search(secret) is None
        and (_MARK.search(secret) or _MIXED_CASE.fullmatch(secret)) is not None
        and not is_harmless(secret)
    )


def _is_named_value(secret: str, match: Match[str]) -> bool:
    name = match['name'].rpartition('/')[2].rpartition(':')[2]
    return is_sensitive(name) and _is_value(secret, match)


_ENCODED = pattern(r'\$\d')


def _is_beside(secret: str, match: Match[str]) -> bool:
    return is_sensitive(match['name']) and (
        _ENCODED.match(secret) is not None or is_like_password(secret)
    )


_UPPER_AND_MARK = pattern(r'(?=.*[A-ZÀ-Þ])(?=.*[0-9])(?=.*[^\w.]|.*_).*')


def _is_mixed(secret: str, _: Match[str]) -> bool:
    return _UPPER_AND_MARK.fullmatch(secret) is not None and is_like_password(
        secret.replace(':', '')
    )


def _is_password_of_pair(secret: str, match: Match[str]) -> bool:
    return is_like_password(secret.replace(':', ''), match)


def _is_set(secret: str, match: Match[str]) -> bool:
    return is_sensitive(match['name']) and secret[:1] not in {'$', '['}


def _is_stored_value(secret: str, match: Match[str]) -> bool:
    """Return whether a value is stored under a sensitive name, or in a store of secrets."""
    return match['name'] is None or 'secret set' in match[0] or _is_named_value(secret, match)


COMMAND_RULES: tuple[Rule, ...] = (
    Rule(
        'option for a password',
        (
            *('cqlsh', 'mongo', 'sshpass', 'rabbitmqadmin', 'arangosh', 'login', 'couchbase-cli'),
            *('cbq', 'cbimport', 'cbexport', 'cypher-shell', 'psexec', 'hdbsql', 'winexe'),
            *('evil-winrm', 'nxc', 'smbmap', 'unlock-keychain', 'ncftp', 'usermod', 'useradd'),
            *('exaplus', 'vsql', 'mclient', 'sqlcmd', 'osql', 'isql', 'bcp', 'tsql', 'mosquitto_'),
            *('ipmitool', 'plink', 'pscp', 'psftp', 'putty', 'nodetool', 'ldap', 'kadmin'),
            *('-password', '-cli', 'redis-benchmark', 'schtasks', 'openssl enc', 'ssh-keygen'),
        ),
        rf'{START}(?:{_OPTIONS}){_AFTER}{_VALUE}',
        'sqlcmd -S db -U ann -P ⟦FAKE1⟧',
        'the manuals of the programs',
        accept=_is_value,
    ),
    Rule(
        'options for a user and a password',
        (' -p', ' -w', ' -pw', ' --pw'),
        rf"""
        (?: (?<![\w-]) (?:-u|-U|-n|-l|--?user|--?username|--login) (?:[ =]|(?<=-U)) ["']?
            [\w.@\\/:-]{{1,64}} ["']? [ ] (?:[^\n|;&]{{0,80}}?[ ])?? (?:-p|-P|-w|-W|--?pw)[ ]?
          | \b(?:login|user|\w{{1,20}}-shell|auth|connect)\b [^\n|;&]{{0,120}}?[ ](?:-p|-P)[ ] )
        {_VALUE}
        """,
        'tool -u ann -p ⟦FAKE-1⟧ list',
        'the manuals of beeline, racadm, tabcmd, fly and conan',
        accept=is_like_password,
    ),
    Rule(
        'password after the words for it',
        (' using ', '.logon', 'createcredential', '--plaintext', 'rootpw'),
        rf"""
        (?: (?:\b|(?<=\\[nrt])) USER [ ] ["']?[\w.@-]{{1,64}}["']? [ ] USING [ ]
          | [.]LOGON [ ] [\w.-]{{1,64}}/[\w.-]{{1,64}},
          | -createCredential [ ] [^\s]{{1,128}} [ ] [^\s]{{1,128}} [ ]
          | rootpw [ ] (?:--\w{{1,20}}[ ]){{1,3}} )
        {_VALUE}
        """,
        "CONNECT TO shop USER ann USING '⟦FAKE-1⟧'",
        'the manuals of Db2, Informix, Teradata, Oracle and Kickstart',
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'user and password in one setting',
        ('login', 'user', 'auth', 'creds'),
        r"""
        (?<![\w-]) (?: [\w.-]{0,40}?(?:login|userpwd|user[._-]?info|user_?pass|user|creds?)
          | [\w.-]{0,40}?(?:basic|proxy|http)[._-]?auth ) ["']? [ ]? [=:] [ ]? ["']?
        [\w.@-]{1,64} : (?P<secret>[^\s"'\\;,/]{4,256})
        """,
        'cache_peer proxy.example.org parent 3128 0 login=ann:⟦FAKE-1⟧',
        'the manuals of Squid and of the Schema Registry',
        accept=_is_password_of_pair,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'value beside its name',
        ('pass', 'secret', 'token', 'key ', 'psk ', 'key\t'),
        r"""
        (?<![\w.$-]) (?P<name>(?:[\w.]{1,30}[_.-])?
          (?: password | passwd | passphrase | pass | secret | token | psk | passcode
            | (?:access|api|secret|private|shared|server|community|auth|encryption)[_-]?key )
          \d{0,2}) [ \t]{1,40}
        (?: (?: \d{1,2} | ENC | ascii-text | hexadecimal | hex | encrypted | cipher | simple | plain
            | plaintext | hash | sha512 | md5 | key ) [ ] )?
        (?: '(?P<in_single>[^'\n]{6,256})' | "(?P<in_double>[^"\n]{6,256})"
          | (?P<secret>[^\s"'`\\|:=,;()\[\]{}<>]{6,256}) (?=[\s,;\\"'`]|\Z) )
        """,
        'set passwd ENC ⟦FAKE1fake⟧',
        'the command lines of routers and of rclone',
        accept=_is_beside,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'key of a router',
        ('server key ', 'server-key ', 'radius', 'tacacs'),
        rf'{START}(?:tacacs|radius)[\w-]{{0,20}}[ ](?:[\w.-]{{1,40}}[ ]){{0,6}}?key[ ](?:\d[ ])?'
        r'(?P<secret>[^\s"\'\\,;|]{4,256})',
        'tacacs-server key 7 ⟦0000AAAA0000⟧',
        'the manual of Cisco IOS',
        accept=_is_value,
    ),
    Rule(
        'community of a router',
        ('community ',),
        rf'{START}(?:snmp[\w-]{{0,20}}[ ])?community[ ](?P<secret>[^\s"\'\\:=,;|]{{4,64}})',
        'snmp-server community ⟦FAKE-1⟧ RO',
        'the manual of Cisco IOS',
        accept=is_like_password,
    ),
    Rule(
        'user and password in a message',
        ('auth', 'login', 'credential', 'denied', 'logged in'),
        r"""
        (?:auth\w{0,16}|logg?ed[ ]in|log-?in|credentials?|denied) [^\n:"']{0,60}?
        [ ] ["']? (?![au]rn:) [\w.@-]{2,64} : (?P<secret>[A-Za-z][^\s"'\\;,/]{5,128}+) (?!/)
        """,
        'login failed for ann:⟦FAKE-1a⟧',
        'messages of people and programs',
        accept=_is_mixed,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'password in braces',
        ('set ',),
        rf'{START}set[ ](?P<name>\w{{2,64}})[ ]\{{(?P<secret>[^{{}}\n]{{4,128}})\}}',
        'set password {⟦FAKE 1⟧}',
        'the manual of Tcl',
        accept=_is_set,
    ),
    Rule(
        'option of Windows',
        ('/pass', '/pwd:'),
        rf'(?<![^\s"\'])/(?:pass|password|pwd):(?![*?](?:\s|\Z)){_VALUE}',
        'cmdkey /add:srv /user:ann /pass:⟦FAKE1⟧',
        'the manuals of cmdkey and wmic',
        accept=_is_value,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'password after its option',
        ('mosquitto_', 'sqlcmd', 'usermod', 'useradd', '-uroot', 'lftp', 'ftp'),
        rf"""
        {START} (?: lftp\b{_ARGUMENTS}{_BEFORE}-u[ ]["']?[\w.@-]{{1,64}},
          (?P<secret>[^\s"']{{1,256}})
          | sqlcmd\b{_ARGUMENTS}{_BEFORE}-P(?P<in_single>[^\s"'-][^\s"']{{2,256}}) )
        """,
        'lftp -u ann,⟦FAKE1⟧ ftp.example.org',
        'the manuals of lftp and sqlcmd',
    ),
    Rule(
        'password as an argument',
        ('htpasswd', 'rabbitmqctl', 'http-basic', 'pypi-token', 'wpa_passphrase', 'wifi connect'),
        rf"""
        {START} (?:
            htpasswd (?: [ ]-[A-Za-z]{{1,6}} ){{0,6}}? [ ]-[A-Za-z]{{0,5}}b[A-Za-z]{{0,5}}
              (?: [ ]-[A-Za-z]{{1,6}} | [ ]-C[ ]\d{{1,2}} ){{0,6}} (?: [ ][^\s-][^\s]{{0,128}}
                ){{1,2}}
          | rabbitmqctl\b[^\n|;]{{0,80}}?[ ](?:add_user|change_password
            |authenticate_user)[ ][^\s]{{1,128}}
          | config[ ](?:--?[a-z]{{1,12}}[ ]){{0,3}}(?:http-basic\.[\w.-]{{1,64}}[ ][^\s]{{1,128}}
            |pypi-token\.[\w.-]{{1,64}})
          | wpa_passphrase[ ](?:"[^"\n]{{1,64}}"|'[^'\n]{{1,64}}'|[^\s]{{1,64}})
          | wifi[ ]connect[ ](?:"[^"\n]{{1,64}}"|'[^'\n]{{1,64}}'|[^\s]{{1,64}})[ ]password
        ) [ ] {_VALUE}
        """,
        'rabbitmqctl change_password ann ⟦FAKE1⟧',
        'the manuals of htpasswd, rabbitmqctl, poetry, composer, wpa_supplicant and nmcli',
        accept=_is_value,
    ),
    Rule(
        'value of a key in a store',
        (' put ', ' set ', ' import ', 'setex '),
        rf"""
        {START} (?: (?:consul[ ]kv|etcdctl|wrangler[ ]kv[: ]key)[ ](?:put|set)
          (?:[ ]--?[\w=/.-]{{1,60}}){{0,4}}
          | (?:redis|keydb|valkey)-cli\b[^\n|;]{{0,120}}?[ ]SET | doppler[ ]secrets[ ]set
          | (?:npm|pnpm|yarn|pip|git|gcloud|bundle|aws|jf
            |firebase)[ ](?:[\w:.]{{1,20}}[ ])?(?:config(?:ure)?|functions:config)?[ ]?set
            (?:[ ]--?[\w=/.-]{{1,60}}){{0,4}} )
        [ ] ["']? (?P<name>[\w./:@-]{{1,128}}) ["']? [ ] {_VALUE}
        """,
        'consul kv put app/api_key ⟦FAKE1⟧',
        'the manuals of consul, etcdctl and redis-cli',
        accept=_is_named_value,
        flags=VERBOSE | IGNORECASE,
    ),
    Rule(
        'value of a named secret',
        ('--value', '--body', '--data', '--secret-string', '--from-literal', '--parameter-value'),
        rf"""
        (?<![\w-]) (?:
            (?: --name | -n | secret[ ]set )[ =]["']?(?P<name>[\w./-]{{1,128}})["']?
              [^\n]{{0,200}}? [ ](?: --value | --body | --data | --parameter-value )
          | secret[ ]set\b[^\n]{{0,200}}?[ ](?:--value|--body) | (?<![\w-])--secret-string
          | (?<![\w-])--from-literal[ =]["']?[\w.-]{{1,64}}
        ) (?: [ ] | = ) {_VALUE}
        """,
        "aws ssm put-parameter --name /app/db_password --value '⟦FAKE1⟧'",
        'the manuals of aws, az, gh and kubectl',
        accept=_is_stored_value,
    ),
    Rule(
        'user and password as an argument',
        ('addauth', 'digest:', 'creds'),
        r"""
        (?: (?:\b|(?<=\\[nrt])) addauth[ ]digest[ ] | \b setAcl[ ][^\s]{1,128}[ ]digest:
          | (?<![\w-]) creds[ ] ) ["']?
        [\w.@-]{1,64}:(?P<secret>[^\s"'\\]{4,256})
        """,
        'addauth digest ann:⟦FAKE-1⟧',
        'the manuals of skopeo, podman and ZooKeeper',
        accept=_is_value,
    ),
    Rule(
        'argument of printf',
        ('printf',),
        rf"""
        {START} printf[ ]["'] [^"'\n%]{{0,80}}? (?P<name>[\w.-]{{1,64}}) (?:=|:[ ]?) %s
        [^"'\n]{{0,40}} ["'] [ ] {_VALUE}
        """,
        "printf 'db_password=%s' '⟦FAKE1⟧'",
        'POSIX, printf',
        accept=_is_named_value,
    ),
    Rule(
        'password for standard input',
        ('passwd', 'secret create', 'secret put', 'secrets ', 'with-token', 'passin', '-stdin'),
        rf"""
        {START} (?: (?:echo|printf)[ ](?:-[ne]{{1,2}}[ ])? (?P<quote>["'])?
          (?P<secret>(?![$%])[^\s"'|\\]{{4,256}}) [^\n|]{{0,80}} \| [ ]? (?:sudo[ ])?
          (?: passwd | smbpasswd | docker[ ]secret[ ]create | wrangler[ ]secret[ ]put | gh[ ]auth
            | gcloud[ ]secrets | vault | openssl | fly[ ]secrets | oc[ ] )
          | (?:chpasswd|passwd|--\w{{1,20}}-stdin)\b[^\n|]{{0,60}}<<<[ ]?["']?(?:[\w.-]{{1,64}}:)?
            (?P<in_single>[^\s"'\\$][^\s"'\\]{{3,256}}) )
        """,
        'echo ⟦FAKE1⟧ | passwd --stdin ann',
        'the manuals of passwd, docker and gh',
    ),
    Rule(
        'community of snmp',
        ('snmp',),
        rf'{START}snmp[a-z]{{1,12}}[ ]{_ARGUMENTS}[ ]-c[ ]{_VALUE}',
        'snmpwalk -v2c -c ⟦FAKE1⟧ host',
        'the manual of Net-SNMP',
        accept=_is_value,
    ),
)
"""Rules for arguments of commands."""
