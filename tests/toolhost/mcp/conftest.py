"""Fixtures of the tests of MCP."""

import pytest
from sse_starlette.sse import AppStatus


@pytest.fixture(autouse=True)
def _no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget a signal to the server of another test: it ends all streams of sse-starlette."""
    monkeypatch.setattr(AppStatus, 'should_exit', False)
