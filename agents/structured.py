"""Replies in a form: the form described to a model, and its reply read back.

Forms are pydantic models. They are described in words within the prompt and validated here, whatever a
provider offers, so that every backbone is asked in the same way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agents.prompts import block

Form = TypeVar("Form", bound=BaseModel)

REQUEST = "Reply with one JSON object and nothing else."
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_MARKS = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_CUT_OFF = re.compile(r'\{\s*"')
_STARTS = 200  # [ours] brackets of one reply that are looked at
_LOOKED_THROUGH = 5_000_000  # [ours] characters in all that are searched for closing brackets
_DEPTH = 100  # [ours] objects inside each other: no form is deeper
_PROBLEMS = 5  # [ours] problems of one reply that are told
_SHOWN = 120  # [ours] characters of a wrong value that are told


class UnreadableReply(ValueError):
    """A reply that holds no object of the form; the message says what is wrong with it, for the model to read."""


@lru_cache(maxsize=256)
def describe(form: type[BaseModel]) -> str:
    """The fields of `form` in words, a line a field, nested ones indented. Descriptions come from `Field`."""
    schema = form.model_json_schema(by_alias=True)
    defs = schema.get("$defs", {})
    # a form that contains itself is a reference even at the top
    _, top, way = _type(schema, defs, ()) if "$ref" in schema else ("", schema, ())
    lines = ["A JSON object with these fields:", *_fields(top or {}, defs, "", way)]
    return "\n".join(lines)


def request_for(form: type[BaseModel]) -> str:
    """What is added to a prompt to ask for a reply in `form`."""
    return f"{block('reply_form', describe(form))}\n\n{REQUEST}"


def parse(text: str, form: type[Form]) -> Form:
    """The object of `form` in a reply: bare, in a fence, or with prose around it.

    Of several objects the last that fits is taken (models think first and answer then). Broken JSON
    is not repaired. Raises UnreadableReply.
    """
    problems: list[str] = []
    objects: list[dict[str, Any]] = []
    for candidate in _candidates(text):
        try:
            value = _loads(candidate)
        except (ValueError, RecursionError) as error:
            problems.append(_not_json(error))
            continue
        if isinstance(value, dict):
            objects.append(value)
        else:
            problems.append(f"the JSON is a {_kind(value)}, but one object is asked for")
    objects.sort(key=bool)  # an empty one only if nothing else fits
    for value in reversed(objects):
        try:
            return form.model_validate(value)
        except ValidationError as error:
            problems.insert(0, _misfit(error))
    raise UnreadableReply(problems[0] if problems else "it holds no JSON object")


def clean(text: str) -> str:
    """`text` that can be stored as UTF-8: halves of surrogate pairs are joined, or replaced if alone."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _clean_all(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean_all(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): _clean_all(item) for key, item in value.items()}
    return value


def _loads(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return _clean_all(json.loads(text, parse_constant=refuse))


def _candidates(text: str) -> Iterator[str]:
    """Pieces of `text` that may be the object: all of it, else the outermost spans of brackets."""
    whole = text.strip()
    fenced = _FENCE.fullmatch(whole)
    whole = fenced.group(1).strip() if fenced else whole
    if whole.startswith(("{", "[")) and _is_json(whole):
        yield whole
    else:
        yield from _spans(text)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _spans(text: str) -> Iterator[str]:
    """Outermost `{...}` (and lists that are JSON) of a text with prose.

    What lies inside a list, or inside a broken or cut-off object, is not offered: a part is not the reply.
    """
    position = looked = 0
    for _ in range(_STARTS):
        found = _OPENING.search(text, position)
        if not found or looked > _LOOKED_THROUGH:
            return
        start, end = found.start(), _closing(text, found.start())
        looked += (len(text) if end is None else end) - start
        position = start + 1
        if end is None:
            if _CUT_OFF.match(text, start):
                yield text[start:]
                return
        elif text[start] == "{" or _is_json(text[start:end]):
            yield text[start:end]
            position = end


def _closing(text: str, start: int) -> int | None:
    """Position after the bracket that closes the one at `start`; brackets in strings do not count."""
    opening = text[start]
    closing = "}" if opening == "{" else "]"
    depth, quoted = 0, False
    for match in _MARKS.finditer(text, start):
        mark = match.group()
        if mark == '"':
            quoted = not quoted
        elif not quoted and mark in (opening, closing):
            depth += 1 if mark == opening else -1
            if depth == 0:
                return match.end()
            if depth > _DEPTH:
                return None
    return None


def _not_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"it is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    return f"it is not valid JSON: {error}"


def _misfit(error: ValidationError) -> str:
    told = []
    for problem in error.errors(include_url=False)[:_PROBLEMS]:
        where = ".".join(str(part) for part in problem["loc"]) or "the object"
        shown = "" if problem["type"] == "missing" else f" (got {_short(problem['input'])})"
        told.append(f"{where}: {problem['msg']}{shown}")
    if error.error_count() > _PROBLEMS:
        told.append(f"and {error.error_count() - _PROBLEMS} more")
    return "; ".join(told)


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."


def _kind(value: Any) -> str:
    kinds = {list: "list", str: "string", bool: "boolean", type(None): "null"}
    return kinds.get(type(value), "number")


Schema = Mapping[str, Any]


def _fields(schema: Schema, defs: Schema, indent: str, path: tuple[str, ...]) -> Iterator[str]:
    """A line for each property of an object, then those of the objects inside it."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        kind, inner, inner_path = _type(field, defs, path)
        optional = "" if name in required else " (optional)"
        description = str(field.get("description", "")).strip()
        about = f" {' '.join(description.split())}" if description else ""
        about = f"{about}." if about and not about.endswith((".", "!", "?")) else about
        lines = list(_fields(inner, defs, indent + "  ", inner_path)) if inner else []
        heading = " Fields of each:" if "each an object" in kind else " Fields:"
        yield f"{indent}- {json.dumps(name)}{optional}: {kind}.{about}{heading if lines else ''}"
        yield from lines


def _type(field: Schema, defs: Schema, path: tuple[str, ...]) -> tuple[str, Schema | None, tuple[str, ...]]:
    """A type in words, the object whose fields are to be listed below it, and the models on the way there."""
    if "$ref" in field:
        name = str(field["$ref"]).rsplit("/", 1)[-1]
        if name in path:
            return "an object with the same fields as the one that holds it", None, path
        return _type(defs[name], defs, (*path, name))
    if len(field.get("allOf", ())) == 1:
        return _type(field["allOf"][0], defs, path)
    options = field.get("anyOf") or field.get("oneOf")
    if options:
        parts = [_type(option, defs, path) for option in options]
        inner, way = next(((fields, way) for _, fields, way in parts if fields), (None, path))
        return " or ".join(kind for kind, _, _ in parts), inner, way
    if "const" in field:
        return json.dumps(field["const"]), None, path
    if "enum" in field:
        return " or ".join(json.dumps(value) for value in field["enum"]), None, path
    kind = field.get("type")
    if kind == "array":
        return _array(field, defs, path)
    if kind == "object":
        values = field.get("additionalProperties")
        if "properties" in field:
            return "an object", field, path
        if isinstance(values, dict) and values:
            inside, inner, way = _type(values, defs, path)
            return f"an object from names to {inside}", inner, way
        return "an object", None, path
    words = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
    return words.get(str(kind), str(kind or "any value")) + _bounds(field), None, path


def _array(field: Schema, defs: Schema, path: tuple[str, ...]) -> tuple[str, Schema | None, tuple[str, ...]]:
    if "prefixItems" in field:
        return (
            f"a list of {', '.join(_type(item, defs, path)[0] for item in field['prefixItems'])}",
            None,
            path,
        )
    inside, inner, way = _type(field.get("items", {}), defs, path)
    least, most = field.get("minItems"), field.get("maxItems")
    if least is not None and least == most:
        size = f" of exactly {least}"
    else:
        limits = [f"at least {least}"] if least else []
        limits += [f"at most {most}"] if most is not None else []
        size = f" of {' and '.join(limits)}" if limits else ""
    return f"a list{size}, each {inside}", inner, way


def _bounds(field: Schema) -> str:
    """Limits of a text or number, in words."""
    words = {
        "minLength": "at least {} characters",
        "maxLength": "at most {} characters",
        "pattern": "matching the pattern {}",
        "format": "as a {}",
        "minimum": "at least {}",
        "exclusiveMinimum": "more than {}",
        "maximum": "at most {}",
        "exclusiveMaximum": "less than {}",
    }
    limits = [words[key].format(field[key]) for key in words if key in field]
    limits = ["not empty" if limit == "at least 1 characters" else limit for limit in limits]
    return f", {' and '.join(limits)}" if limits else ""
