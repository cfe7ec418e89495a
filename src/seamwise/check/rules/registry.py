"""All rules, by code."""

from types import MappingProxyType

from seamwise.check.rules import open_channel, open_seam, raising, swallowing, thrown_away, unproven

RULES = MappingProxyType(
    {module.RULE.code: module.RULE for module in (thrown_away, raising, swallowing, unproven, open_channel, open_seam)}
)
