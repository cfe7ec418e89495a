"""All rules, by code."""

from types import MappingProxyType

from seamwise.check.rules import (
    escaping_scope,
    idle_arm,
    knows_seam,
    no_producer,
    open_channel,
    open_seam,
    printing_secret,
    raising,
    silent_default,
    swallowing,
    thrown_away,
    unheard_guard,
    unmade,
    unproven,
    vain_retry,
)

RULES = MappingProxyType({
    module.RULE.code: module.RULE
    for module in (
        thrown_away,
        raising,
        swallowing,
        unproven,
        unmade,
        open_channel,
        open_seam,
        idle_arm,
        knows_seam,
        escaping_scope,
        no_producer,
        printing_secret,
        vain_retry,
        unheard_guard,
        silent_default,
    )
})  # fmt: skip
