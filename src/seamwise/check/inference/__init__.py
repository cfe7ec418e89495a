"""Inference of errors: their sources in each function, their disposition there, and its result."""

from seamwise.check._mypy.sources import relative_path
from seamwise.check.facts import FileFacts
from seamwise.check.inference.adapters.commands import commands, program_adapters
from seamwise.check.inference.adapters.dependencies import (
    dependency_uses,
    installed_adapters,
    routes,
)
from seamwise.check.inference.adapters.seams import error_uses, seam_facts
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.inference.data_flow.value_or_uses import defaulted_errors
from seamwise.check.inference.definitions.classes import class_facts
from seamwise.check.inference.definitions.functions import function_facts
from seamwise.check.inference.definitions.overrides import protocol_facts
from seamwise.check.inference.definitions.pending_errors import OpenFindings
from seamwise.check.inference.exception_flow.block_exits import block_exits
from seamwise.check.inference.exception_flow.escaping import exception_flows
from seamwise.check.inference.exception_flow.helpers import exception_helpers
from seamwise.check.inference.guarded_calls.guards import guard_facts, guarded_calls
from seamwise.check.inference.guarded_calls.requests import unsafe_requests
from seamwise.check.typed_ast.program import Module


def inference_of(module: Module) -> ErrorInference:
    """Return the error inference of a module, which all rules share."""
    inference = module.memo.get(ErrorInference)
    if not isinstance(inference, ErrorInference):
        inference = module.memo[ErrorInference] = ErrorInference(module)
    return inference


def infer(module: Module, findings: OpenFindings) -> FileFacts:
    """Collect the facts of one module, with the findings of the rules in it."""
    inference = inference_of(module)
    uses = error_uses(inference)
    return FileFacts(
        module=module.name,
        path=relative_path(str(module.path)),
        functions=tuple(
            function_facts(function, inference, findings) for function in module.functions()
        ),
        protocols=tuple(protocol_facts(module)),
        classes=tuple(class_facts(module)),
        seams=tuple(seam_facts(inference)),
        guards=tuple(guard_facts(inference)),
        guarded_calls=tuple(guarded_calls(inference)),
        unsafe_requests=tuple(unsafe_requests(inference)),
        defaulted_errors=tuple(defaulted_errors(inference)),
        dependency_uses=tuple(dependency_uses(inference)),
        routes=tuple(routes(inference)),
        installed_adapters=tuple(installed_adapters(inference)),
        commands=tuple(commands(inference)),
        program_adapters=tuple(program_adapters(inference)),
        exception_flows=tuple(exception_flows(inference)),
        exception_helpers=tuple(exception_helpers(inference)),
        block_exits=tuple(block_exits(inference)),
        constructed_errors=uses.constructed,
        handled_errors=uses.handled,
    )
