"""A small API for notes: services that return Results, one table, and FastAPI.

    pip install 'seamwise[http]' fastapi uvicorn
    uvicorn examples.api.app:app

The services know no HTTP, the handlers no status: what an error is to a client stands in `NOTES` and `ACCESS` alone.
"""

from collections.abc import Iterator
from typing import Annotated, TypeAlias

from fastapi import FastAPI, Header
from pydantic import BaseModel, Field
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.responses import StreamingResponse

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.catalog.access import Unauthenticated
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import HttpError, SafeErrors, endpoint, on, openapi
from seamwise.seams.http.tables import ACCESS

ROOM = 100
LARGEST_BODY = 64 * 1024


# Errors and services


class NoteNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no note {name!r}.'):
    """Nobody has written this note, or it was deleted. The caller checks the name."""

    name: str


class NoteExists(
    TaggedError, category=Category.CONFLICT, message='There is a note {name!r} already.'
):
    """The name is taken. The caller picks another one, or deletes that note first."""

    name: str


class NoRoom(
    TaggedError, category=Category.CAPACITY, message='There is no room for more than {room} notes.'
):
    """All places are taken; `retry_after` is in seconds. The caller deletes a note, or waits until somebody does."""

    room: int
    retry_after: float | None = None


NoteError: TypeAlias = NoteNotFound | NoteExists | NoRoom


class Note(BaseModel):
    """What is kept under a name."""

    name: Annotated[str, Field(min_length=1, max_length=40, pattern='^[a-z0-9-]+$')]
    text: Annotated[str, Field(max_length=1000)]


class Notes:
    """The notes of a program, in memory."""

    def __init__(self) -> None:
        self._kept: dict[str, Note] = {}

    def find(self, name: str) -> Result[Note, NoteNotFound]:
        """Give the note of this name."""
        note = self._kept.get(name)
        return Success(note) if note else Failure(NoteNotFound(name))

    def add(self, note: Note) -> Result[Note, NoteExists | NoRoom]:
        """Keep a new note."""
        if note.name in self._kept:
            return Failure(NoteExists(note.name))
        if len(self._kept) >= ROOM:
            return Failure(NoRoom(ROOM, retry_after=1.5))
        self._kept[note.name] = note
        return Success(note)

    def delete(self, name: str) -> Result[Note, NoteNotFound]:
        """Drop the note of this name, and give it."""
        note = self._kept.pop(name, None)
        return Success(note) if note else Failure(NoteNotFound(name))


def check(authorization: str | None) -> Result[None, Unauthenticated]:
    """Let everybody in who has a token."""
    known = authorization is not None and authorization.startswith('Bearer ')
    return Success(None) if known else Failure(Unauthenticated('Bearer', 'no token was sent'))


# The seam

NOTES: Adapter[NoteError, HttpError] = (
    on(NoteNotFound).responds(404, 'NOTE_NOT_FOUND')
    | on(NoteExists).responds(409, 'ALREADY_EXISTS')
    | on(NoRoom).responds(503, 'NO_ROOM')
)
ANSWERS = NOTES | ACCESS

notes = Notes()
app = FastAPI(title='Notes', responses=openapi(ANSWERS))
app.add_middleware(RequestBodyLimitMiddleware, max_body_size=LARGEST_BODY)
app.add_middleware(SafeErrors)


@app.get('/notes/{name}')
@endpoint(ANSWERS)
async def show(name: str) -> Result[Note, NoteNotFound]:
    """Show a note."""
    return notes.find(name)


@app.post('/notes')
@endpoint(ANSWERS)
async def add(
    note: Note, authorization: Annotated[str | None, Header()] = None
) -> Result[Note, Unauthenticated | NoteExists | NoRoom]:
    """Keep a new note; this needs a token."""
    return check(authorization).bind(lambda _: notes.add(note))


@app.delete('/notes/{name}')
@endpoint(ANSWERS)
def delete(
    name: str, authorization: Annotated[str | None, Header()] = None
) -> Result[Note, Unauthenticated | NoteNotFound]:
    """Delete a note; this needs a token. The framework runs it in a thread."""
    return check(authorization).bind(lambda _: notes.delete(name))


@app.get('/notes/{name}/words', responses={200: {'content': {'text/plain': {}}}})
@endpoint(ANSWERS)
async def words(name: str) -> Result[StreamingResponse, NoteNotFound]:
    """Stream the words of a note, one a line."""
    return notes.find(name).map(
        lambda note: StreamingResponse(_lines(note.text), media_type='text/plain')
    )


def _lines(text: str) -> Iterator[str]:
    return (f'{word}\n' for word in text.split())
