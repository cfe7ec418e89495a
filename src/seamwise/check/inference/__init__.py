"""Inference of errors: their sources in each function, their disposition there, and its result."""

from msgspec import Struct

from seamwise.check.facts import (
    BlockExit,
    ClassFacts,
    DefaultedError,
    DependencyUse,
    ExceptionFlow,
    ExceptionHelper,
    FunctionFacts,
    GuardedCall,
    GuardFacts,
    InstalledAdapter,
    ProtocolFacts,
    Route,
    SeamFacts,
    UnsafeRequest,
)
from seamwise.check.inference.adapters.commands import commands, program_adapters
from seamwise.check.inference.adapters.dependencies import (
    dependency_uses,
    installed_adapters,
    routes,
)
from seamwise.check.inference.adapters.seams import error_uses, seam_facts
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.inference.data_flow.value_or_uses import defaulted_errors
from seamwise.check.inference.definitions.block_exits import block_exits
from seamwise.check.inference.definitions.classes import class_facts
from seamwise.check.inference.definitions.functions import function_facts
from seamwise.check.inference.definitions.overrides import protocol_facts
from seamwise.check.inference.definitions.pending_errors import OpenFindings
from seamwise.check.inference.exception_flow.escaping import exception_flows
from seamwise.check.inference.exception_flow.helpers import exception_helpers
from seamwise.check.inference.guarded_calls.guards import guard_facts, guarded_calls
from seamwise.check.inference.guarded_calls.requests import unsafe_requests
from seamwise.check.typed_ast.program import Module


class InferredFacts(Struct, frozen=True):
    """Facts of one module that error inference collects; see `FileFacts` for the fields."""

    functions: tuple[FunctionFacts, ...]
    protocols: tuple[ProtocolFacts, ...]
    classes: tuple[ClassFacts, ...]
    seams: tuple[SeamFacts, ...]
    guards: tuple[GuardFacts, ...]
    guarded_calls: tuple[GuardedCall, ...]
    unsafe_requests: tuple[UnsafeRequest, ...]
    defaulted_errors: tuple[DefaultedError, ...]
    dependency_uses: tuple[DependencyUse, ...]
    routes: tuple[Route, ...]
    installed_adapters: tuple[InstalledAdapter, ...]
    commands: tuple[str, ...]
    program_adapters: tuple[InstalledAdapter, ...]
    exception_flows: tuple[ExceptionFlow, ...]
    exception_helpers: tuple[ExceptionHelper, ...]
    block_exits: tuple[BlockExit, ...]
    constructed_errors: frozenset[str]
    handled_errors: frozenset[str]


def inference_of(module: Module) -> ErrorInference:
    """Return the error inference of a module, which all rules share."""
    inference = module.memo.get(ErrorInference)
    if not isinstance(inference, ErrorInference):
        inference = module.memo[ErrorInference] = ErrorInference(module)
    return inference


def infer(module: Module, findings: OpenFindings) -> InferredFacts:
    """Collect the facts of one module, with the findings of the rules in it."""
    inference = inference_of(module)
    uses = error_uses(inference)
    return InferredFacts(
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
