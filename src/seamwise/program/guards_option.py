"""The guards that `seamwise run` is told to use: their file is read, and what is wrong with it is shown where it stands."""

from collections.abc import Callable, Iterator

from seamwise.catalog.workspace import ConfigError, ConfigInvalid, ConfigUnreadable
from seamwise.containers import Failure, Success
from seamwise.program.exit_errors import CommandExit, os_error_exit
from seamwise.program.exits import Exit
from seamwise.program.streams import give_up, standard
from seamwise.seams import cli
from seamwise.seams.cli import hints, tables
from seamwise.toolhost.guards.config import FILE_LIMIT, guards_of
from seamwise.toolhost.guards.guarded_call import GuardedRunner
from seamwise.toolhost.guards.toml_positions import Places


def guarding(file: str) -> GuardedRunner:
    """Read a guards file. Raises Ended where it cannot be read, or where something in it is wrong, which is shown then."""
    try:
        # To Path, nothing is the current folder, which nobody has named.
        with open(file, 'rb') as stream:  # noqa: PTH123
            data = stream.read(FILE_LIMIT + 1)
    except OSError as raised:
        raise os_error_exit(f'read {file!r}', raised, Exit.NO_INPUT) from raised
    made = guards_of(data, file)
    if type(made) is Success:
        return GuardedRunner(made.unwrap())
    _show(made.failure(), data.decode('utf-8-sig', 'replace'))
    raise CommandExit('', Exit.MISCONFIGURED)


def _show(error: ConfigError, text: str) -> None:
    stderr = standard('stderr')
    if stderr is None:
        return
    try:
        places = Places(text)
        cli.report(
            Failure(tuple(_each(error, places))),
            _table(places),
            stdout=stderr,
            stderr=stderr,
            source=lambda _: text,
        )
        stderr.flush()
    except OSError:
        # Nobody is left to be told; the exit code says it.
        give_up(stderr)


def _each(error: ConfigError, places: Places) -> Iterator[ConfigError]:
    """Give an error for each finding, in their order in the file."""
    if isinstance(error, ConfigUnreadable):
        yield error
        return
    for one in sorted(error.problems, key=lambda problem: places.of(problem.pointer)):
        yield ConfigInvalid(error.path, (one,))


def _table(places: Places) -> Callable[[ConfigError], cli.Rendered]:
    """Show an error of configuration as everywhere, with the place where its first finding stands."""

    def where(error: ConfigInvalid) -> cli.Place:
        return cli.Place(error.path, *places.of(error.problems[0].pointer))

    def what(error: ConfigInvalid) -> Iterator[str]:
        return hints.problem_hints(error.problems, whole='the file')

    invalid = cli.on(ConfigInvalid).exits(Exit.MISCONFIGURED, hint=what, place=where)
    return lambda error: (
        tables.WORKSPACE(error) if isinstance(error, ConfigUnreadable) else invalid(error)
    )
