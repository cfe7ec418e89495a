"""ASGI: the middleware for defects, the messages it sends, and limits of bodies."""
