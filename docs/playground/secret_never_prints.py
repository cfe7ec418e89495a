# A secret in a field is masked wherever the error goes: in its text, in a log, at every
# seam. `reveal()` is the only way to read it.
from seamwise import Category, Failure, Result, Secret, TaggedError
from seamwise.seams import cli, http


class TokenExpired(
    TaggedError, category=Category.AUTHENTICATION, message='The token {token} of {url} expired.'
):
    url: str
    token: Secret[str]


def call(url: str, token: Secret[str]) -> Result[str, TokenExpired]:
    return Failure(TokenExpired(url, token))


AS_TEXT = cli.on(TokenExpired).exits(77, hint='sign in again.')
AS_HTTP = http.on(TokenExpired).responds(401, 'TOKEN_EXPIRED')

token = Secret('hunter2')
print(token, f'{token!r}')
print(call('https://api.example/v1', token))

call('https://api.example/v1', token)
