"""Parser for a TOML file; a malformed one is an error with its position."""

import re
import tomllib
from codecs import BOM_UTF8

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.problem import Problem
from seamwise.catalog.workspace import ConfigError, ConfigInvalid, ConfigUnreadable
from seamwise.policies.config.toml_positions import line_column

_POSITION = re.compile(r' \(at (?:line (\d+), column (\d+)|end of document)\)\Z')
_TABLE_KEY = re.compile(r"\(('[^']*'(?:, '[^']*')*),?\)")
"""The key of a table as `tomllib` shows it: a tuple of names."""

MAX_CONFIG_SIZE = 256 * 1024
"""In bytes: the maximum size of a file. A longer file is a mistake, or endless."""


def parse_toml(content: str | bytes, path: str) -> Result[dict[str, object], ConfigError]:
    """Parse a TOML file.

    >>> parse_toml('limit = 1', 'a.toml')
    Success({'limit': 1})
    >>> print(parse_toml('limit = ', 'a.toml').failure())
    'a.toml' cannot be read: invalid value.

    Args:
        content: The content of the file.
        path: The name of the file in errors.
    """
    # A lone surrogate in a string is reported as one in a file.
    data = content.encode('utf-8', 'surrogatepass') if isinstance(content, str) else content
    if len(data) > MAX_CONFIG_SIZE:
        return _invalid(path, f'has more than {MAX_CONFIG_SIZE:,} bytes')
    try:
        text = data.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        # `utf-8-sig` counts without the byte order mark.
        prefix = data.removeprefix(BOM_UTF8)[: error.start].decode()
        return Failure(
            ConfigUnreadable(path, *line_column(prefix, len(prefix)), 'this is not UTF-8')
        )
    try:
        return Success(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        return Failure(_unreadable(path, text, str(error)))
    except RecursionError:
        return _invalid(path, 'is nested too deeply')
    except ValueError:
        # Python does not parse integers of more than 4,300 digits.
        return _invalid(path, 'contains a number with too many digits')


def _invalid(path: str, message: str) -> Failure[ConfigInvalid]:
    return Failure(ConfigInvalid(path, (Problem('', message),)))


def _unreadable(path: str, text: str, message: str) -> ConfigUnreadable:
    line, column = line_column(text, len(text))
    if match := _POSITION.search(message):
        message = message[: match.start()]
        if match[1]:
            line, column = int(match[1]), int(match[2])
    problem = _TABLE_KEY.sub(lambda key: key[1].replace("', '", '.'), message)
    return ConfigUnreadable(path, line, column, problem[:1].lower() + problem[1:])
