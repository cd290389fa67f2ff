"""Options of a configuration, held against the types of what takes them before anything is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from envs.base import SetupError


def checked(kind: Any, values: Mapping[str, Any], group: str) -> Any:
    """The dataclass `kind` with a group's values.

    Raises SetupError for an unknown option, and as `check_value`.
    """
    known = {field.name for field in fields(kind)}
    unknown = sorted(set(values) - known - {"name"})
    if unknown:
        raise SetupError(f"{group} has no option {unknown[0]!r}. It has: {', '.join(sorted(known))}.")
    hints = get_type_hints(kind, include_extras=True)
    chosen = {key: value for key, value in values.items() if key in known}
    for key, value in chosen.items():
        check_value(hints[key], value, f"{group}.{key}")
    return kind(**chosen)


def check_parameters(target: str, values: Mapping[str, Any], group: str) -> None:
    """Hold plain values (numbers, texts, flags) against a constructor's types. Raises SetupError as `check_value`."""
    from hydra.utils import get_class

    try:
        hints = get_type_hints(vars(get_class(target))["__init__"], include_extras=True)
    except Exception:  # what cannot be inspected is not judged: making the object says more
        return
    for key, value in values.items():
        if key in hints and _plain(hints[key]):
            check_value(hints[key], value, f"{group}.{key}")


def check_value(hint: Any, value: Any, name: str) -> None:
    """Raises SetupError if `value` is not of the type `hint` or out of its range (pydantic's PositiveInt ...)."""
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(hint).validate_python(value, strict=True)
    except ValidationError as error:
        wanted = error.errors()[0]["msg"]
        raise SetupError(
            f"{name}={value!r} cannot be used: {wanted[:1].lower()}{wanted[1:]}. Give another {name}=..."
        ) from None


def _plain(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin is Annotated:
        return _plain(get_args(hint)[0])
    if origin in (Union, UnionType):
        return all(map(_plain, get_args(hint)))
    return hint in (int, float, bool, str, NoneType) or origin is Literal
