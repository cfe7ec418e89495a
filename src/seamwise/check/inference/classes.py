"""The error classes of a file, as their class statements say."""

import ast
from collections.abc import Iterator

from mypy.nodes import RefExpr, TypeInfo

from seamwise.categories import Category
from seamwise.check.facts import ClassFacts
from seamwise.check.inference.error_inference import full_name
from seamwise.check.typed_ast.channels import is_error
from seamwise.check.typed_ast.program import FUNCTIONS, Module


def class_facts(module: Module) -> Iterator[ClassFacts]:
    """Give the classes of tagged errors that a file defines."""
    for node in module.nodes_of_type(ast.ClassDef):
        if any(_is_error(base, module) for base in node.bases):
            keywords = {one.arg: one.value for one in node.keywords}
            category = _category(keywords.get('category'))
            tag = keywords.get('tag')
            written = (
                tag.value
                if isinstance(tag, ast.Constant) and isinstance(tag.value, str)
                else node.name
            )
            retryable = _retryable(node, keywords.get('retryable'), category)
            named = category.name if category is not None else None
            yield ClassFacts(
                full_name(node, module), module.location_of(node), written, named, retryable
            )


def _is_error(base: ast.expr, module: Module) -> bool:
    found = module.mypy_node(base)
    return isinstance(found, RefExpr) and isinstance(found.node, TypeInfo) and is_error(found.node)


def _category(node: ast.expr | None) -> Category | None:
    match node:
        case ast.Attribute(_, name) if name in Category.__members__:
            return Category[name]
        case ast.Constant(str(value)) if value in set(Category):
            return Category(value)
        case _:
            return None


def _retryable(
    node: ast.ClassDef, keyword: ast.expr | None, category: Category | None
) -> bool | None:
    if any(
        isinstance(one, FUNCTIONS) and one.name in {'retryable', 'category'} for one in node.body
    ):
        return None
    if keyword is None:
        return category.retryable if category is not None else None
    return (
        keyword.value
        if isinstance(keyword, ast.Constant) and isinstance(keyword.value, bool)
        else None
    )
