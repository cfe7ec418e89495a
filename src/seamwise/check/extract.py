"""From a file to its facts: everything that is said of it, and kept, is read here."""

from collections.abc import Iterator

from seamwise.check import inference as flows
from seamwise.check.facts import FileFacts, RuleHit
from seamwise.check.locations import place
from seamwise.check.mypy_sources import relative
from seamwise.check.rules.registry import RULES
from seamwise.check.suppressions import allowances
from seamwise.check.typed_ast.program import Module


def facts_of(module: Module) -> FileFacts:
    """Read one file; all rules are asked, so that the answers serve any settings."""
    found = flows.read(module)
    return FileFacts(
        module=module.name,
        path=relative(str(module.path)),
        told=tuple(
            sorted(set(_told(module)), key=lambda one: (one.place.line, one.place.column, one.code))
        ),
        allowances=tuple(allowances(module.lines)),
        functions=found.functions,
        classes=found.classes,
        seams=found.seams,
        guards=found.guards,
        guarded=found.guarded,
        defaulted=found.defaulted,
        makes=found.makes,
        decides=found.decides,
    )


def _told(module: Module) -> Iterator[RuleHit]:
    for rule in RULES.values():
        for spot in rule.check_module(module):
            yield RuleHit(rule.code, place(spot.node, module), spot.message, spot.help, spot.edits)
