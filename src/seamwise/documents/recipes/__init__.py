"""How to get each error of the catalogue: by calls that really fail, or by its constructor where nothing makes it yet."""

from collections.abc import Mapping
from types import MappingProxyType

from seamwise.documents.recipes.calls import CALLS
from seamwise.documents.recipes.recipe import Calls
from seamwise.documents.recipes.values import VALUES
from seamwise.errors import TaggedError

RECIPES: Mapping[type[TaggedError], Calls | TaggedError] = MappingProxyType(
    {**CALLS, **{type(one): one for one in VALUES}}
)
"""One a class."""
