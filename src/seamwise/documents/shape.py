"""Facts about one error, as every document format shows them."""

from msgspec import Raw, Struct

from seamwise._errors.categories import Category, Recovery


class Field(Struct, frozen=True):
    """A field of an error, with its type in words. Seams do not show a field that is not public."""

    name: str
    type: str
    required: bool
    public: bool


class Example(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the error of an entry was made.

    Args:
        files: Contents of the files in the workspace; a name with a final `/` is a folder.
        options: Options of `seamwise run`.
        circumstances: A condition in words.
        lines: Input lines of `seamwise run`, of which the last one failed.
        constructor: The expression that makes the error, if no call produces it.
        problem: Why there is no example.
    """

    files: dict[str, str] = {}
    options: tuple[str, ...] = ()
    circumstances: str | None = None
    lines: tuple[str, ...] = ()
    constructor: str | None = None
    problem: str | None = None


class Answer(Struct, frozen=True, omit_defaults=True):
    """Output of one seam for the error of an example.

    Args:
        seam: Name of the seam.
        where: Protocols and revisions with this output, if others differ.
        summary: The output in a few words. None: the error never reaches this seam.
        output: The output as JSON. None: the error never reaches this seam, no table covers it, or
            the output of a program's arm cannot be shown.
    """

    seam: str
    where: str = ''
    summary: str | None = None
    output: Raw | None = None


class ErrorEntry(Struct, frozen=True, kw_only=True):
    """An error class: its declaration, an example, and the output of each seam.

    Args:
        name: Class name; of a class that is not of this library, with its module.
        union: Name of the smallest union with the class, or an empty text.
        meaning: The docstring, in one line.
        message: The message of the example.
        public: The template of the message for clients, if it is another one.
    """

    tag: str
    name: str
    category: Category
    retryable: bool
    recovery: Recovery
    template: str
    public: str | None
    meaning: str
    fields: tuple[Field, ...]
    advice: tuple[str, ...]
    union: str
    message: str
    example: Example
    answers: tuple[Answer, ...]


class Note(Struct, frozen=True):
    """The meaning of a word that is no name of a class, and its role, e.g. `category`."""

    word: str
    role: str
    meaning: str
