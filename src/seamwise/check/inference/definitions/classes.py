"""Facts of the error classes that a module defines."""

import ast
from collections.abc import Iterator

from seamwise._errors.categories import Category
from seamwise.check.facts import ClassFacts
from seamwise.check.inference.data_flow.error_inference import full_name
from seamwise.check.typed_ast.channels import is_error
from seamwise.check.typed_ast.program import FUNCTIONS, Module


def class_facts(module: Module) -> Iterator[ClassFacts]:
    """Yield the facts of each tagged error class."""
    for node in module.nodes_of_type(ast.ClassDef):
        if not any(_is_error_class(base, module) for base in node.bases):
            continue
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        category = _category(keywords.get('category'))
        match keywords.get('tag'):
            case ast.Constant(str(value)):
                tag = value
            case _:
                tag = node.name
        yield ClassFacts(
            name=full_name(node, module),
            location=module.location_of(node),
            tag=tag,
            category=category.name if category is not None else None,
            retryable=_retryable(node, keywords.get('retryable'), category),
        )


def _is_error_class(base: ast.expr, module: Module) -> bool:
    info = module.class_at(base)
    return info is not None and is_error(info)


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
    """Return whether errors of a class are retryable; None if a method decides, or if unknown."""
    if any(
        isinstance(statement, FUNCTIONS) and statement.name in {'retryable', 'category'}
        for statement in node.body
    ):
        return None
    match keyword:
        case None:
            return category.retryable if category is not None else None
        case ast.Constant(bool(value)):
            return value
        case _:
            return None
