"""HTTP server for a tool processor: an application of Starlette, and the uvicorn that runs it."""

from seamwise.toolhost.server.app import create_app as create_app
