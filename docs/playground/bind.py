# Each step runs only if the one before it succeeded, and the errors add up: remove one from
# the signature of `pay` and see the red line. Below, a table for each audience of an error.
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams import cli, http, jsonrpc, model, planner, session


class UserNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no user {name!r}.'):
    name: str


class CardDeclined(TaggedError, category=Category.CONFLICT, message='Declined: {reason}.'):
    reason: str


def find_user(name: str) -> Result[str, UserNotFound]:
    return Success(name) if name in {'ada', 'bob'} else Failure(UserNotFound(name))


def charge(user: str) -> Result[int, CardDeclined]:
    return Success(42) if user == 'ada' else Failure(CardDeclined('no money'))


def pay(name: str) -> Result[int, UserNotFound | CardDeclined]:
    return find_user(name).bind(charge)


AS_TEXT = cli.on(UserNotFound).exits(66, hint='register first.') | cli.on(CardDeclined).exits(1)
AS_HTTP = (
    http.on(UserNotFound).responds(404, 'USER_NOT_FOUND')  # status and code
    | http.on(CardDeclined).responds(409, 'CARD_DECLINED')
)
AS_EVENT = (
    session.on(UserNotFound).publishes('error.correctable', 'ERR_USER_001')  # event and code
    | session.on(CardDeclined).publishes('error.permanent', 'ERR_CARD_001')
)
AS_GUIDANCE = (
    model.on(UserNotFound).guides('content_error', suggestion='Ask for another name.')  # type
    | model.on(CardDeclined).guides('execution_error', suggestion='Ask for another card.')
)
AS_INFO = (
    planner.on(UserNotFound).classifies('TOOL_ARGUMENT_ERROR')  # one of 19 codes
    | planner.on(CardDeclined).classifies('TOOL_EXECUTION_FAILED')
)
AS_TOOL_RESULT = (
    jsonrpc.on(UserNotFound).as_tool_result()  # of MCP, with `isError`
    | jsonrpc.on(CardDeclined).as_tool_result()
)

for name in ('ada', 'bob', 'eve'):
    print(name, pay(name))

pay('eve')
