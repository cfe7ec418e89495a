from collections.abc import Awaitable, Callable
from typing import Any

import flask
import litestar
import uvicorn
from aiohttp import web
from django.urls import path  # type: ignore[import-untyped]
from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.routing import Route

from seamwise import Category, Result, Success, TaggedError
from seamwise.seams.http import endpoint, on


class Missing(TaggedError, category=Category.NOT_FOUND, message='missing'):
    pass


Answer = Result[dict[str, int], Missing]
TABLE = on(Missing).responds(404, 'MISSING')
app = flask.Flask(__name__)
blueprint = flask.Blueprint('b', __name__)
table = web.RouteTableDef()
api = FastAPI()
unknown_api = FastAPI()
router = APIRouter()
web_app = web.Application()


def convert(handler: Callable[..., Answer]) -> Callable[..., str]:
    return lambda *arguments: str(handler(*arguments))


# case: Flask
@app.get('/flask')
def flask_order() -> Answer:  # finds: SW126
    return Success({'number': 1})


# case: Flask, a blueprint of another application
@blueprint.get('/blueprint')
def blueprint_order() -> Answer:
    return Success({'number': 1})


# case: Flask, a decorator that converts
@app.get('/converted')
@convert
def converted_order() -> Answer:
    return Success({'number': 1})


# case: Litestar
@litestar.get('/litestar', sync_to_thread=False)
def litestar_order() -> Answer:  # finds: SW126
    return Success({'number': 1})


# case: Litestar with an encoder
@litestar.post('/encoded', sync_to_thread=False, type_encoders={Success: str})
def encoded_order() -> Answer:
    return Success({'number': 1})


# case: aiohttp
@table.get('/aiohttp')
async def aiohttp_order(request: web.Request) -> Answer:  # finds: SW126
    return Success({'number': len(request.path)})


# case: aiohttp, with a function
async def added_order(request: web.Request) -> Answer:
    return Success({'number': len(request.path)})


web_app.add_routes([web.post('/added', added_order)])  # finds: SW126


# case: FastAPI that this file runs
@api.get('/fastapi')
async def fastapi_order() -> Answer:  # finds: SW126
    return Success({'number': 1})


# case: FastAPI that another file may install
@unknown_api.get('/fastapi')
async def installed_order() -> Answer:
    return Success({'number': 1})


# case: a router
@router.get('/router')
async def routed_order() -> Answer:
    return Success({'number': 1})


# case: FastAPI with endpoint
@api.get('/endpoint')
@endpoint(TABLE)
async def answered_order() -> Answer:
    return Success({'number': 1})


# case: Starlette
async def starlette_order(request: Request) -> Answer:
    return Success({'number': len(request.url.path)})


@endpoint(TABLE)
async def starlette_answered(request: Request) -> Answer:
    return Success({'number': len(request.url.path)})


routes = [
    Route('/starlette', starlette_order),  # finds: SW126
    Route('/answered', endpoint=starlette_answered),
]


# case: Django
def django_order(request: object) -> Answer:
    return Success({'number': len(str(request))})


def django_plain(request: object) -> str:
    return str(request)


async def django_async(request: object) -> Answer:
    return Success({'number': len(str(request))})


urlpatterns = [
    path('order', django_order),  # finds: SW126
    path('async', view=django_async),  # finds: SW126
    path('plain', django_plain),
]


# case: a handler that returns something else, and calls that add nothing
Handler = Callable[[web.Request], Awaitable[Any]]


@app.post('/plain')
def plain_order() -> str:
    return 'plain'


@app.errorhandler(404)
def not_found(error: Exception) -> Answer:
    return Success({'number': len(str(error))})


uvicorn.run(api)
