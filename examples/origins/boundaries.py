"""A provider of models: one domain error, and a function at each boundary of the program."""

from typing import assert_never

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from seamwise import Failure, Result, refine
from seamwise.catalog.models import ModelNotFound, ProviderNotReady
from seamwise.seams.cli import Rendered
from seamwise.seams.http import HttpError, Legacy, endpoint, install, named
from seamwise.seams.session import StoredError

MODELS = {'acme': ['large-3', 'small-1']}

# The bodies that older clients read: their names, and their keys with our fields.
OLDER_NOT_FOUND = Legacy(
    'ProviderModelNotFoundError',
    {'providerID': 'provider', 'modelID': 'model', 'suggestions': 'suggestions'},
    has_message=False,
)
OLDER_NOT_READY = Legacy('ProviderInitError', {'providerID': 'provider'}, has_message=False)


class NoSuchModelError(Exception):
    """The exception of a provider's package."""


def load(provider: str, model: str) -> str:
    """Load a model with the package of its provider, which raises."""
    if model not in MODELS[provider]:
        raise NoSuchModelError(model)
    return f'{provider}/{model}'


def get_model(provider: str, model: str) -> Result[str, ModelNotFound | ProviderNotReady]:
    def classify(cause: Exception) -> Failure[ModelNotFound] | None:
        if isinstance(cause, NoSuchModelError):
            return Failure(ModelNotFound(provider, model, tuple(MODELS[provider]), cause))
        return None  # It remains a defect.

    if provider not in MODELS:
        return Failure(ProviderNotReady(provider))
    return refine(lambda: load(provider, model), classify)


def to_cli(error: ModelNotFound | ProviderNotReady) -> Rendered:
    match error:
        case ModelNotFound():
            return Rendered.of(error, exit_code=66)
        case ProviderNotReady(provider=provider):
            return Rendered.of(error, exit_code=78, hint=f'check the configuration of {provider}.')
        case _:
            assert_never(error)


def to_http(error: ModelNotFound | ProviderNotReady) -> HttpError:
    match error:
        case ModelNotFound():
            return HttpError.of(error, 400, 'MODEL_NOT_FOUND', legacy=OLDER_NOT_FOUND)
        case ProviderNotReady():
            return HttpError.of(
                error,
                503,
                'PROVIDER_UNAVAILABLE',
                details=('provider',),
                legacy=OLDER_NOT_READY,
            )
        case _:
            assert_never(error)


def to_session(error: ModelNotFound | ProviderNotReady) -> StoredError:
    return StoredError.of(error)


@endpoint(to_http, body=named)
async def show(request: Request) -> Result[str, ModelNotFound | ProviderNotReady]:
    return get_model(request.path_params['provider'], request.path_params['model'])


app = Starlette(routes=[Route('/models/{provider}/{model}', show)])
install(app, to_http, body=named)
