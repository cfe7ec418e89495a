"""Guards from a TOML file, from a parsed document and from environment variables."""

from seamwise.policies.config.environment import (
    overrides_from_environment as overrides_from_environment,
)
from seamwise.policies.config.guards import guards_from_mapping as guards_from_mapping
from seamwise.policies.config.guards import guards_from_toml as guards_from_toml
