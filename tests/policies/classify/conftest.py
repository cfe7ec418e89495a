"""Fixtures for the classifiers of model providers."""

from collections.abc import Iterator

import pytest

from tests.policies.classify.provider_server import ProviderServer, run_provider_server


@pytest.fixture(scope='module')
def server() -> Iterator[ProviderServer]:
    with run_provider_server() as provider:
        yield provider
