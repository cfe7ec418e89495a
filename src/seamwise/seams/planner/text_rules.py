"""Rules that classify error texts by whole words."""

import re

from msgspec import Struct

from seamwise.seams.planner.codes import ErrorCode


class TextRule(Struct, frozen=True):
    """A code for texts that contain one of the hints and match the pattern."""

    code: ErrorCode
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(code: ErrorCode, hints: str, *alternatives: str) -> TextRule:
    return TextRule(
        code,
        tuple(hints.split()),
        re.compile(rf'(?<![\w/-])(?:{"|".join(alternatives)})(?![\w/-]|\.\w)', re.IGNORECASE),
    )


_STATUS = r'(?:http|status|code|error)[-_ ]?(?:code)?[ :=]{0,3}'

# Hints save time: a substring search is fifty times as fast as a search for the pattern.
# The first match wins: a rate limit can mention a timeout, and an argument can have any name.
RULES = (
    _rule(
        ErrorCode.TOOL_RATE_LIMITED,
        'rate throttl 429 requests quota',
        r'rate[-_ ]?limit(?:s|ed|ing|er)?',
        r'rate[-_ ]limit[-_ ]exceeded',
        r'RateLimit(?:ed)?(?:Error|Exceeded)?',
        r'too many requests',
        r'throttl(?:ed|ing)',
        _STATUS + r'429',
        r'429 too many requests',
        r'requests per (?:second|minute|hour|day)',
    ),
    _rule(
        ErrorCode.TOOL_CIRCUIT_OPEN,
        'circuit',
        r"circuit(?:[-_ ]?breaker)?(?: (?:for|of) '?[\w-]{1,60}'?)?"
        r'(?: is| was| has)?(?: now| still| currently)?[ _-]open(?:ed)?',
        r'open circuit(?:[-_ ]breaker)?',
        r'CircuitOpen(?:Error)?',
        r'CircuitBreaker(?:Error|Open)',
    ),
    _rule(
        ErrorCode.BULKHEAD_FULL,
        'bulkhead concurren capacity overload queue',
        r'bulkhead',
        r'Bulkhead(?:Full)?Error',
        r'concurrency limit(?: exceeded| reached)?',
        r'too many concurrent',
        r'at (?:full )?capacity',
        r'(?:is )?overloaded',
        r'queue is full',
        r'QueueFull',
    ),
    _rule(
        ErrorCode.TOOL_RESULT_ERROR,
        'result output response',
        r'invalid (?:tool )?(?:result|output)',
        r'(?:result|output) (?:validation|failed validation|does not match)',
        r"validation failed for tool '?[\w-]{1,60}'? result",
    ),
    _rule(
        ErrorCode.TOOL_ARGUMENT_ERROR,
        'argument parameter field',
        r'(?:invalid|bad|wrong|missing|unknown|unexpected|required) '
        r'(?:required )?(?:\w{1,20} )?(?:argument|parameter|field)s?',
        r"(?:argument|parameter|field)s? (?:'?[\w-]{1,60}'? )?(?:is |are )?"
        r'(?:invalid|missing|required|unknown)',
    ),
    _rule(
        ErrorCode.TOOL_VALIDATION_ERROR,
        'validat schema invalid',
        r'validation (?:error|failed|failure)s?',
        r'\d{1,6} validation errors?',
        r'ValidationError',
        r'failed validation',
        r'(?:schema|input) (?:violation|mismatch)s?',
        r'invalid (?:input|request|value|type)',
    ),
    _rule(
        ErrorCode.TOOL_TIMEOUT,
        'time deadline 504 408',
        r'time[-_ ]?outs?',
        r'timed[- ]out',
        r'\w{0,40}Timeout(?:Error|Exception)?',
        r'deadline[-_ ]exceeded',
        r'ETIMEDOUT',
        r'took too long',
        _STATUS + r'(?:504|408)',
    ),
    _rule(
        ErrorCode.RESOURCE_EXHAUSTED,
        'memory space files resource disk thread enospc emfile enomem',
        r'out of (?:memory|disk space|file descriptors)',
        r'no space left',
        r'too many open files',
        r'cannot allocate memory',
        r'MemoryError',
        r'disk (?:is )?full',
        r'resources?[-_ ](?:is |are )?exhausted',
        r"can(?:'t|not) start new thread",
        r'ENOSPC',
        r'EMFILE',
        r'ENFILE',
        r'ENOMEM',
    ),
    _rule(
        ErrorCode.TOOL_CANCELLED,
        'cancel abort interrupt',
        r'cancell?ed',
        r'cancell?ation',
        r'Cancell?edError',
        r'aborted by (?:the )?user',
        r'interrupted by (?:the )?user',
        r'KeyboardInterrupt',
    ),
    _rule(
        ErrorCode.TOOL_REGISTRATION_FAILED,
        'regist',
        r'registration (?:failed|rejected|error)',
        r'(?:failed|unable) to register',
        r'(?:cannot|could not) (?:be )?register(?:ed)?',
    ),
    _rule(
        ErrorCode.TOOL_NOT_FOUND,
        'tool function',
        r'(?:unknown|no such|unrecognized) (?:tool|function)',
        r"""(?:tool|function) (?:named )?["'`]?[\w.:/-]{0,80}["'`]?,? ?"""
        r'(?:was |is |could )?not (?:be )?(?:found|registered|available)',
        r"""(?:tool|function) (?:named )?["'`]?[\w.:/-]{0,80}["'`]?,? ?"""
        r"(?:does not exist|doesn't exist|is unknown)",
        r'no (?:tool|function) (?:is )?(?:named|called)',
    ),
    _rule(
        ErrorCode.CONFIGURATION_ERROR,
        'config api key credential unauthor 401 environment',
        r'(?:invalid|missing|bad|broken|wrong) (?:\w{1,20} )?configuration',
        r'configuration (?:error|is invalid|is missing)',
        r'misconfigured',
        r'(?:is )?not configured',
        r'ConfigurationError',
        r'(?:invalid|missing|incorrect|no|expired) (?:api[-_ ]?key|credentials)',
        r'unauthori[sz]ed',
        _STATUS + r'401',
        r'environment variable .{1,80}? (?:is )?not set',
    ),
    _rule(
        ErrorCode.MCP_TRANSPORT_ERROR,
        'reset pipe closed lost disconnect abort transport',
        r'connection (?:was |is |has been )?(?:unexpectedly )?(?:reset|closed|lost|aborted|broken)',
        r'broken pipe',
        r'ECONNRESET',
        r'EPIPE',
        r'disconnected',
        r'transport (?:error|closed|failed|failure)',
        r'Connection(?:Reset|Aborted)Error',
        r'BrokenPipeError',
    ),
    _rule(
        ErrorCode.MCP_CONNECTION_FAILED,
        'connect econn enotfound ehost enet unreachable resolution known',
        r"(?:could not|cannot|can't|failed to|unable to) (?:connect|establish a connection|reach)",
        r'connection (?:refused|error|failed|failure|attempts? failed)',
        r'connect(?:ion)? (?:error|call failed)',
        r'ConnectionRefusedError',
        r'Connect(?:ion)?Error',
        r'ECONNREFUSED',
        r'ENOTFOUND',
        r'EHOSTUNREACH',
        r'ENETUNREACH',
        r'(?:host|network|server) (?:is )?unreachable',
        r'name or service not known',
        r'name resolution',
        r'no route to host',
    ),
    _rule(
        ErrorCode.PARSER_INVALID_FORMAT,
        'format',
        r'(?:invalid|unknown|unsupported|unrecognized) (?:\w{1,20} )?format',
    ),
    _rule(
        ErrorCode.PARSER_ERROR,
        'pars json token malformed',
        r'(?:failed to|could not|cannot|unable to) parse',
        r'pars(?:e|er|ing) (?:error|failed|failure)',
        r'(?:invalid|malformed|bad) (?:json|xml)',
        r'JSONDecodeError',
        r'unexpected (?:token|end of (?:json|input))',
    ),
    _rule(
        ErrorCode.MCP_SERVER_ERROR,
        'mcp',
        r'mcp (?:server )?(?:\S{1,80} )?(?:error|failed|failure|answered)',
        r'mcp server',
    ),
)

CODE_NAMES = re.compile(rf'(?<!\w)(?:{"|".join(sorted(ErrorCode, key=len, reverse=True))})(?!\w)')
"""Names of the codes themselves."""

TRANSIENT = re.compile(
    rf'(?<!\w)(?:temporar(?:y|ily)|transient|try again|unavailable|{_STATUS}50[023])(?!\w)',
    re.IGNORECASE,
)
"""Words for a transient failure."""

MCP = re.compile(r'(?<!\w)mcp(?!\w)', re.IGNORECASE)
