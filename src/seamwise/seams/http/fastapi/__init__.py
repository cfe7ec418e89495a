"""FastAPI and Starlette: endpoints, routes and dependencies with Results, and `install`."""
