"""From a file to its facts: everything that is said of it, and kept, is read here."""

from collections.abc import Iterator

from seamwise.check import inference as flows
from seamwise.check.facts import FileFacts, RuleHit
from seamwise.check.mypy_sources import relative_path
from seamwise.check.rules.registry import RULES
from seamwise.check.suppressions import parse_suppressions
from seamwise.check.typed_ast.program import Module


def facts_of(module: Module) -> FileFacts:
    """Read one file; all rules are asked, so that the answers serve any settings."""
    found = flows.infer(module)
    return FileFacts(
        module=module.name,
        path=relative_path(str(module.path)),
        rule_hits=tuple(
            sorted(
                set(_told(module)),
                key=lambda one: (one.location.line, one.location.column, one.code),
            )
        ),
        suppressions=tuple(parse_suppressions(module.lines)),
        functions=found.functions,
        classes=found.classes,
        seams=found.seams,
        guards=found.guards,
        guarded_calls=found.guarded_calls,
        defaulted_errors=found.defaulted_errors,
        constructed_errors=found.constructed_errors,
        handled_errors=found.handled_errors,
    )


def _told(module: Module) -> Iterator[RuleHit]:
    for rule in RULES.values():
        for spot in rule.check_module(module):
            yield RuleHit(
                rule.code, module.location_of(spot.node), spot.message, spot.help, spot.edits
            )
