"""Applications that the tests of servers start in processes of their own."""

from seamwise.seams.http import SafeErrors
from seamwise.seams.http.serving.wsgi import SafeWsgi
from tests.seams import test_http_flask, test_http_litestar

flask_app = SafeWsgi(test_http_flask.create_app())
litestar_app = SafeErrors(test_http_litestar.create_app())  # type: ignore[arg-type]  # its scope is a TypedDict
