"""What really flows: which errors come into a function, what becomes of them there, and which come out."""

from msgspec import Struct

from seamwise.check.facts import (
    ClassFacts,
    DefaultedError,
    FunctionFacts,
    GuardedCall,
    GuardFacts,
    SeamFacts,
)
from seamwise.check.inference.classes import class_facts
from seamwise.check.inference.error_inference import ErrorInference
from seamwise.check.inference.functions import function_facts
from seamwise.check.inference.guards import guard_facts, guarded_calls
from seamwise.check.inference.seams import error_uses, seam_facts
from seamwise.check.inference.value_or_uses import defaulted_errors
from seamwise.check.typed_ast.program import Module


class InferredFacts(Struct, frozen=True):
    """What one file adds to the whole."""

    functions: tuple[FunctionFacts, ...]
    classes: tuple[ClassFacts, ...]
    seams: tuple[SeamFacts, ...]
    guards: tuple[GuardFacts, ...]
    guarded_calls: tuple[GuardedCall, ...]
    defaulted_errors: tuple[DefaultedError, ...]
    constructed_errors: frozenset[str]
    handled_errors: frozenset[str]


def inference_of(module: Module) -> ErrorInference:
    """Give the reader of a file: one for all who ask."""
    found = module.memo.get(ErrorInference)
    if not isinstance(found, ErrorInference):
        found = module.memo[ErrorInference] = ErrorInference(module)
    return found


def infer(module: Module) -> InferredFacts:
    """Read what flows through one file."""
    reader = inference_of(module)
    used = error_uses(reader)
    return InferredFacts(
        tuple(function_facts(function, reader) for function in module.functions()),
        tuple(class_facts(module)),
        tuple(seam_facts(reader)),
        tuple(guard_facts(reader)),
        tuple(guarded_calls(reader)),
        tuple(defaulted_errors(reader)),
        *used,
    )
