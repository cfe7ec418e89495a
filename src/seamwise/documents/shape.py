"""What a document says of an error: the one set of facts that every format shows."""

from msgspec import Raw, Struct

from seamwise.categories import Category, Recovery


class Field(Struct, frozen=True):
    """A field of an error, and its type in words. What is not public is shown to nobody."""

    name: str
    type: str
    required: bool
    public: bool


class Example(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the error of the entry came about when the document was made.

    `lines` are calls, of which the last one gave it, run on a workspace with `files`, under `options` of the command and
    `circumstances` in words. Where no call gives such an error, `constructor` is all there is.
    """

    files: dict[str, str] = {}
    options: tuple[str, ...] = ()
    circumstances: str | None = None
    lines: tuple[str, ...] = ()
    constructor: str | None = None


class Answer(Struct, frozen=True, omit_defaults=True):
    """What a seam says of the error of an example: in short, and as it writes it. None: the kind never reaches this seam.

    `where` names the protocols and revisions that this holds for, where not all of them say the same.
    """

    seam: str
    where: str = ''
    summary: str | None = None
    output: Raw | None = None


class Entry(Struct, frozen=True, kw_only=True):
    """All that a document says of a kind of error."""

    tag: str
    name: str
    union: str
    category: Category
    retryable: bool
    recovery: Recovery
    template: str
    meaning: str
    fields: tuple[Field, ...]
    message: str
    example: Example
    answers: tuple[Answer, ...]
    advice: tuple[str, ...]
