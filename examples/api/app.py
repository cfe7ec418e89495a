"""API for notes, with FastAPI: services that return Results, and one table of errors.

    pip install 'seamwise[http]' fastapi uvicorn
    uvicorn examples.api.app:app

The services do not import HTTP, and the handlers contain no status of an error: only the tables
`NOTES` and `ACCESS` map errors to responses.
"""

from collections.abc import Iterator
from typing import Annotated, TypeAlias

from fastapi import Depends, FastAPI, Header
from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.catalog.access import Unauthenticated
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import Created, HttpError, install, on, openapi
from seamwise.seams.http.tables import ACCESS

MAX_NOTES = 100
MAX_BODY = 64 * 1024
"""Maximum size of a request body in bytes."""


# Errors and services


class NoteNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no note {name!r}.'):
    """The note does not exist, or was deleted. The caller checks the name."""

    name: str


class NoteExists(
    TaggedError, category=Category.CONFLICT, message='The note {name!r} already exists.'
):
    """The name is in use. The caller uses another name, or deletes that note first."""

    name: str


class TooManyNotes(
    TaggedError, category=Category.CAPACITY, message='The limit of {limit} notes is reached.'
):
    """The store is full. The caller deletes a note, or retries after `retry_after` seconds."""

    limit: int
    retry_after: float | None = None


NoteError: TypeAlias = NoteNotFound | NoteExists | TooManyNotes


class Note(BaseModel):
    """A text with a unique name."""

    name: Annotated[str, Field(min_length=1, max_length=40, pattern='^[a-z0-9-]+$')]
    text: Annotated[str, Field(max_length=1000)]


class Notes:
    """An in-memory store of notes."""

    def __init__(self) -> None:
        self._notes: dict[str, Note] = {}

    def find(self, name: str) -> Result[Note, NoteNotFound]:
        """Return the note of this name."""
        note = self._notes.get(name)
        return Success(note) if note else Failure(NoteNotFound(name))

    def add(self, note: Note) -> Result[Note, NoteExists | TooManyNotes]:
        """Store a new note."""
        if note.name in self._notes:
            return Failure(NoteExists(note.name))
        if len(self._notes) >= MAX_NOTES:
            return Failure(TooManyNotes(MAX_NOTES, retry_after=1.5))
        self._notes[note.name] = note
        return Success(note)

    def delete(self, name: str) -> Result[Note, NoteNotFound]:
        """Delete the note of this name, and return it."""
        note = self._notes.pop(name, None)
        return Success(note) if note else Failure(NoteNotFound(name))


def authenticated(
    authorization: Annotated[str | None, Header()] = None,
) -> Result[str, Unauthenticated]:
    """Accept every bearer token, and return it."""
    scheme, _, token = (authorization or '').partition(' ')
    if scheme != 'Bearer':
        return Failure(Unauthenticated('Bearer', 'no token was sent'))
    return Success(token)


# Application

NOTES: Adapter[NoteError, HttpError] = (
    on(NoteNotFound).responds(404, 'NOTE_NOT_FOUND')
    | on(NoteExists).responds(409, 'ALREADY_EXISTS')
    | on(TooManyNotes).responds(503, 'TOO_MANY_NOTES')
)
ANSWERS = NOTES | ACCESS

notes = Notes()
app = FastAPI(title='Notes', responses=openapi(ANSWERS), max_body_size=MAX_BODY)
install(app, ANSWERS)


@app.get('/notes/{name}')
async def show(name: str) -> Result[Note, NoteNotFound]:
    """Show a note."""
    return notes.find(name)


@app.post('/notes', dependencies=[Depends(authenticated)])
async def add(note: Note) -> Result[Created[Note], NoteExists | TooManyNotes]:
    """Store a new note; a token is required."""
    return notes.add(note).map(lambda note: Created(note, location=f'/notes/{note.name}'))


@app.delete('/notes/{name}', dependencies=[Depends(authenticated)])
def delete(name: str) -> Result[Note, NoteNotFound]:
    """Delete a note; a token is required. FastAPI runs a sync handler in a thread."""
    return notes.delete(name)


@app.get('/notes/{name}/words', responses={200: {'content': {'text/plain': {}}}})
async def words(name: str) -> Result[StreamingResponse, NoteNotFound]:
    """Stream the words of a note, one per line."""
    return notes.find(name).map(
        lambda note: StreamingResponse(_lines(note.text), media_type='text/plain')
    )


def _lines(text: str) -> Iterator[str]:
    return (f'{word}\n' for word in text.split())
