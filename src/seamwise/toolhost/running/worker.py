"""Process of one call of an isolated tool.

Its supervisor starts this script. Its argument is the maximum memory in bytes, its input a request,
and its descriptor 3 the pipe for the answer.
"""

import os
import resource
import sys
from collections.abc import Awaitable
from typing import Any, Final, Never, cast

from seamwise.redaction.call_values import masked_call
from seamwise.toolhost.containment.importable import import_object
from seamwise.toolhost.containment.supervisor import ANSWER
from seamwise.toolhost.function_tool import FunctionTool
from seamwise.toolhost.running.transfer import (
    OUT_OF_MEMORY,
    Request,
    decode_arguments,
    decode_request,
    encode_exception,
    encode_result,
)
from seamwise.toolhost.schema.results import ResultType
from seamwise.toolhost.schema.signatures import read_result

_PID: Final = os.getpid()


def run(request: Request) -> bytes:
    """Run a call, and return its encoded answer."""
    try:
        function, result_type = _load(request)
        arguments = decode_arguments(request)
        masked_call(arguments)
        returned: object = function(**arguments)
        if isinstance(returned, Awaitable):
            import asyncio  # noqa: PLC0415 -- slow to import, and often not needed

            returned = asyncio.run(_wait_for(cast('Awaitable[object]', returned)))
        return encode_result(request.tool, result_type, returned)
    except MemoryError:
        return OUT_OF_MEMORY
    # seamwise: allow[SW103] the parent process raises it
    except BaseException as error:  # noqa: BLE001
        return encode_exception(error)


def _load(request: Request) -> tuple[Any, ResultType]:
    """Return the function of a call, and its declared result."""
    item: Any = import_object(request.function)
    inner = item
    # Another decorator can surround the tool.
    while inner is not None and not isinstance(inner, FunctionTool):
        inner = getattr(inner, '__wrapped__', None)
    if inner is None:
        # The tool was made of a function of another module.
        return item, read_result(item) or ResultType()
    return inner.function, inner.result_type


async def _wait_for(returned: Awaitable[object]) -> object:
    return await returned


def _main() -> Never:
    with open(0, 'rb') as source:
        request = decode_request(source.read())
    # The tool and its children get no descriptor of the call.
    null = os.open(os.devnull, os.O_RDONLY)
    if null != 0:
        os.dup2(null, 0)
        os.close(null)
    os.set_inheritable(ANSWER, False)  # noqa: FBT003 -- positional only
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == 'linux':
        memory = int(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    answer = run(request)
    if os.getpid() != _PID:
        # The tool forked, and its child returned too.
        os._exit(0)
    view = memoryview(answer)
    while view:
        view = view[os.write(ANSWER, view) :]
    # Threads and exit handlers of the tool must not delay the answer.
    os._exit(0)


if __name__ == '__main__':
    _main()
