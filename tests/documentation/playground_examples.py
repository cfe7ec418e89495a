"""Expected problems, outputs and seams of the programs of the playground."""

from typing import NamedTuple


class Example(NamedTuple):
    """What one program shows.

    Attributes:
        name: Name of its file in `docs/playground`.
        problems: Lines with a problem that pyright finds.
        output: Its standard output.
        error: Tag of the error that is drawn.
        seams: Seams that its tables serve.
        of_mypy: Lines with a problem that mypy finds, if they differ.
    """

    name: str
    problems: tuple[int, ...]
    output: str
    error: str
    seams: tuple[str, ...] = ()
    of_mypy: tuple[int, ...] | None = None


EXAMPLES = (
    Example(
        'forgotten_arm',
        (26,),
        'Emma is yours for a week.\nWe do not have the book 9.\n'
        "Failure(AlreadyLent(reader='Bob'))\n",
        'AlreadyLent',
        ('cli', 'http'),
    ),
    Example(
        'bind',
        (),
        "ada Success(42)\nbob Failure(CardDeclined(reason='no money'))\n"
        "eve Failure(UserNotFound(name='eve'))\nFailure(UserNotFound(name='eve'))\n",
        'UserNotFound',
        ('cli', 'http', 'session', 'model', 'planner', 'jsonrpc'),
    ),
    Example(
        'catch_narrows',
        (27,),
        'Success(1.0)\nFailure(BankDown(retry_after=30))\n',
        'BankDown',
    ),
    Example(
        'table_lacks_an_arm',
        (22,),
        '409\nFailure(ShelfLocked(shelf=7))\n',
        'ShelfLocked',
        of_mypy=(24,),
    ),
    Example(
        'direct_style',
        (),
        "Success('ada paid 42')\nFailure(UserNotFound(name='eve'))\n"
        "Failure(CardDeclined(reason='42 is over the limit of 10'))\n",
        'CardDeclined',
        ('cli',),
    ),
    Example(
        'retry_reads_the_error',
        (),
        "Success('receipt') after [30.0, 0.2] seconds\nFailure(CardDeclined(reason='no money'))\n",
        'CardDeclined',
    ),
    Example(
        'secret_never_prints',
        (),
        '*** Secret(***)\n'
        "Failure(TokenExpired(url='https://api.example/v1', token=Secret(***)))\n"
        "Failure(TokenExpired(url='https://api.example/v1', token=Secret(***)))\n",
        'TokenExpired',
        ('cli', 'http'),
    ),
    Example(
        'two_errors',
        (),
        "Success(('Ada', 36))\nFailure((NameMissing(), AgeInvalid(age=-1)))\n"
        'Failure((NameMissing(), AgeInvalid(age=-1)))\n',
        'NameMissing',
        ('http',),
    ),
)
