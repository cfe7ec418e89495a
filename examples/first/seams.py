"""The tables of the shop: one for each audience of its errors."""

from first.shop import CardDeclined, UserNotFound
from seamwise.seams import cli, http, session

AS_TEXT = (
    cli.on(UserNotFound).exits(66, hint='register first.')  # exit code
    | cli.on(CardDeclined).exits(1)
)
AS_HTTP = (
    http.on(UserNotFound).responds(404, 'USER_NOT_FOUND')  # status and code
    | http.on(CardDeclined).responds(409, 'CARD_DECLINED')
)
AS_EVENT = (
    session.on(UserNotFound).publishes('error.permanent', 'ERR_USER_001')  # event and code
    | session.on(CardDeclined).publishes('error.permanent', 'ERR_CARD_001')
)
