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
from seamwise.check.inference.classes import classes
from seamwise.check.inference.error_inference import ErrorInference
from seamwise.check.inference.functions import facts
from seamwise.check.inference.guards import guarded, guards
from seamwise.check.inference.seams import seams, uses
from seamwise.check.inference.value_or_uses import defaulted
from seamwise.check.typed_ast.program import Module


class Flows(Struct, frozen=True):
    """What one file adds to the whole."""

    functions: tuple[FunctionFacts, ...]
    classes: tuple[ClassFacts, ...]
    seams: tuple[SeamFacts, ...]
    guards: tuple[GuardFacts, ...]
    guarded: tuple[GuardedCall, ...]
    defaulted: tuple[DefaultedError, ...]
    makes: frozenset[str]
    decides: frozenset[str]


def inference_of(module: Module) -> ErrorInference:
    """Give the reader of a file: one for all who ask."""
    found = module.kept.get(ErrorInference)
    if not isinstance(found, ErrorInference):
        found = module.kept[ErrorInference] = ErrorInference(module)
    return found


def read(module: Module) -> Flows:
    """Read what flows through one file."""
    reader = inference_of(module)
    used = uses(reader)
    return Flows(
        tuple(facts(function, reader) for function in module.functions()),
        tuple(classes(module)),
        tuple(seams(reader)),
        tuple(guards(reader)),
        tuple(guarded(reader)),
        tuple(defaulted(reader)),
        *used,
    )
