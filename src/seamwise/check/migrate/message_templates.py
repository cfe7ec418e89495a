"""Templates of tagged errors from the messages of exceptions."""

import ast


def init_template(init: ast.FunctionDef, names: set[str]) -> str | None:
    """Return the template of the message; None if it is computed, or fields are."""
    template: str | None = None
    for statement in init.body:
        match statement:
            case ast.Expr(ast.Constant()):
                pass
            case ast.Expr(
                ast.Call(ast.Attribute(ast.Call(ast.Name('super'), []), '__init__'), [message], [])
            ) if template is None:
                template = _template(message, names)
                if template is None:
                    return None
            case ast.Assign([ast.Attribute(ast.Name('self'), target)], ast.Name(source)) | (
                ast.AnnAssign(ast.Attribute(ast.Name('self'), target), _, ast.Name(source))
            ) if target == source and source in names:
                pass
            case _:
                return None
    return template


def _template(message: ast.expr, names: set[str]) -> str | None:
    """Return the template of a message that only prints parameters; None for any other."""
    match message:
        case ast.Constant(str() as text):
            return _escaped(text)
        case ast.Name(name) if name in names:
            return f'{{{name}}}'
        case ast.JoinedStr(parts):
            return (
                None
                if (texts := [_part(part, names) for part in parts]) and None in texts
                else (''.join(text for text in texts if text is not None))
            )
        case _:
            return None


def _part(part: ast.expr, names: set[str]) -> str | None:
    match part:
        case ast.Constant(str() as text):
            return _escaped(text)
        case ast.FormattedValue(ast.Name(name), conversion, spec) if name in names:
            shown = f'!{chr(conversion)}' if conversion != -1 else ''
            match spec:
                case None:
                    return f'{{{name}{shown}}}'
                case ast.JoinedStr([ast.Constant(str() as text)]):
                    return f'{{{name}{shown}:{text}}}'
                case _:
                    return None
        case _:
            return None


def _escaped(text: str) -> str:
    return text.replace('{', '{{').replace('}', '}}')
