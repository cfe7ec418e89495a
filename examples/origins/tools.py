"""Tools of a coding agent: guidance for the model, a record for the log, a text for the user."""

import logging
from collections.abc import Mapping
from typing import TypeAlias, assert_never

from seamwise import Failure, Result, Success
from seamwise.catalog.streaming import ChunkUnparsable
from seamwise.catalog.tools import FileNotFound, MissingParameter, PathForbidden
from seamwise.seams import log, model
from seamwise.seams.cli import Rendered
from seamwise.seams.model.messages import OpenAiMessage
from seamwise.seams.model.tables import TOOLS

ReadError: TypeAlias = MissingParameter | FileNotFound | PathForbidden

FILES = {'src/app.py': 'print("hello")'}


def path_of(params: Mapping[str, str]) -> Result[str, MissingParameter]:
    path = params.get('path')
    return Success(path) if path else Failure(MissingParameter('read_file', 'path', 'src/app.py'))


def read(path: str) -> Result[str, FileNotFound | PathForbidden]:
    if path.startswith('.'):
        return Failure(PathForbidden('read_file', path, 'ignored'))
    return Success(FILES[path]) if path in FILES else Failure(FileNotFound('read_file', path))


def read_file(
    params: Mapping[str, str], call_id: str, logger: logging.Logger
) -> tuple[Result[str, ReadError], OpenAiMessage]:
    """Run the tool; return its result and the message for the model, and log a failure."""
    result = path_of(params).bind(read)
    if type(result) is Failure:
        record = log.record(result.failure(), params=params)
        logger.log(record.levelno, record.message, extra=record.extra())
    return result, model.tool_message(result, adapter=TOOLS, call_id=call_id)


def to_user(error: ReadError) -> Rendered:
    match error:
        case MissingParameter():
            return Rendered.of(error, exit_code=2)
        case FileNotFound():
            return Rendered.of(error, exit_code=66)
        case PathForbidden(path=path):
            return Rendered.of(error, exit_code=77, hint=f'remove {path} from the ignore list.')
        case _:
            assert_never(error)


def parse_chunk(chunk: str) -> Result[str, ChunkUnparsable]:
    """Parse a chunk of the stream: another domain, with errors of its own."""
    if chunk.startswith('data: '):
        return Success(chunk.removeprefix('data: '))
    return Failure(ChunkUnparsable('there is no data', excerpt=chunk, position=0))
