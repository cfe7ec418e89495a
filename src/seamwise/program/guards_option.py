"""The option `--guards`: load the file, or show its errors."""

from collections.abc import Callable, Iterator, Mapping

from seamwise._results.containers import Failure, Success
from seamwise.catalog.tools import ToolError
from seamwise.catalog.workspace import ConfigError, ConfigInvalid, ConfigUnreadable
from seamwise.policies import Guard, GuardError
from seamwise.policies.config.toml_document import MAX_CONFIG_SIZE
from seamwise.policies.config.toml_positions import KeyPositions
from seamwise.program.console import CommandExit, Exit, os_error_exit, std_stream
from seamwise.seams import cli
from seamwise.seams.cli import tables
from seamwise.seams.cli.streams import discard_buffer
from seamwise.toolhost.guards.config import parse_guards
from seamwise.toolhost.tools import Tools


def load_guards(file: str, tools: Tools[ToolError]) -> Mapping[str, Guard[GuardError]]:
    """Load a guards file, and return the guards of each tool by its name.

    Raises:
        CommandExit: The file cannot be read, or is invalid; its errors have been shown.
    """
    try:
        # Not pathlib: Path('') is the current folder.
        with open(file, 'rb') as stream:  # noqa: PTH123
            data = stream.read(MAX_CONFIG_SIZE + 1)
    except OSError as error:
        raise os_error_exit(f'read {file!r}', error, Exit.NO_INPUT) from error
    guards = parse_guards(data, file, tools=tools)
    if type(guards) is Success:
        return guards.unwrap()
    _show(guards.failure(), data.decode('utf-8-sig', 'replace'))
    raise CommandExit('', Exit.MISCONFIGURED)


def _show(error: ConfigError, text: str) -> None:
    stderr = std_stream('stderr')
    if stderr is None:
        return
    try:
        positions = KeyPositions(text)
        cli.report(
            Failure(tuple(_split(error, positions))),
            _adapter(positions),
            stdout=stderr,
            stderr=stderr,
            source=lambda _: text,
        )
        stderr.flush()
    except OSError:
        # The exit code still reports the error.
        discard_buffer(stderr)


def _split(error: ConfigError, positions: KeyPositions) -> Iterator[ConfigError]:
    """Yield one error per problem, in the order of the file."""
    if isinstance(error, ConfigUnreadable):
        yield error
        return
    for problem in sorted(error.problems, key=lambda item: positions.find(item.pointer)):
        yield ConfigInvalid(error.path, (problem,))


def _adapter(positions: KeyPositions) -> Callable[[ConfigError], cli.Rendered]:
    """Return the usual table for configuration errors, with the position of the first problem."""

    def place(error: ConfigInvalid) -> cli.Place:
        return cli.Place(error.path, *positions.find(error.problems[0].pointer))

    def hint(error: ConfigInvalid) -> Iterator[str]:
        return tables.problem_hints(error.problems, whole='the file')

    invalid = cli.on(ConfigInvalid).exits(Exit.MISCONFIGURED, hint=hint, place=place)
    return lambda error: (
        tables.WORKSPACE(error) if isinstance(error, ConfigUnreadable) else invalid(error)
    )
