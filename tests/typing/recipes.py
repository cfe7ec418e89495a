"""The recipes of the documents are a closed table: a missing one is a type error."""

from seamwise.catalog import access
from seamwise.documents.recipes import RECIPES, RecipeTable, by_calls, by_constructor
from seamwise.documents.unions import CatalogError
from seamwise.policies import DeadlineExceeded

unauthenticated = by_constructor(access.Unauthenticated('Bearer', 'the token has expired')).table
denied = by_calls(access.AccessDenied, ('{"tool": "delete"}',)).table

ACCESS: RecipeTable[access.AccessError] = unauthenticated | denied
MORE: RecipeTable[access.AccessError] = ACCESS | by_constructor(DeadlineExceeded('buy', timeout=5.0)).table
ALL: RecipeTable[CatalogError] = RECIPES
ONE: RecipeTable[access.AccessDenied] = RECIPES

HOLE: RecipeTable[access.AccessError] = denied  # want: error, no recipe for Unauthenticated
UNION: RecipeTable[CatalogError] = ACCESS  # want: error, thirteen unions have no recipes
RECIPES[int]  # want: error, no error of the catalogue
