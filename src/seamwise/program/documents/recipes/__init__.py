"""How to get each error of the catalogue: by calls that really fail, or by its constructor where nothing makes it yet."""

from collections.abc import Mapping
from types import MappingProxyType

from seamwise.errors import TaggedError
from seamwise.program.documents.recipes.calls import CALLS
from seamwise.program.documents.recipes.recipe import Calls
from seamwise.program.documents.recipes.values import VALUES

RECIPES: Mapping[type[TaggedError], Calls | TaggedError] = MappingProxyType({**CALLS, **{type(one): one for one in VALUES}})
"""One a class."""
