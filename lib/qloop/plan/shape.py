"""Whether a document has the shape that the schema asks for; every place where it has not.

jsonschema finds the places, the messages are qloop's own. One thing is stricter here than in the
standard: 1.0 is no integer. Source: JSON Schema 2020-12.
"""

import difflib
import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator, TypeChecker, ValidationError, validators

from qloop.plan.faults import Fault, render_path, show
from qloop.plan.model import Json
from qloop.plan.names import is_encodable
from qloop.plan.schema import NULL, plan_schema

_KINDS = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}


def find_shape_faults(document: Json) -> list[Fault]:
    """Every fault of form in a document without nulls."""
    return [_fault(error) for error in _VALIDATOR.iter_errors(document)]


def _fault(error: ValidationError) -> Fault:
    value = None if error.validator == "required" else error.instance
    return Fault(render_path(error.absolute_path), error.message, value)


def _required(_: Any, names: list[str], value: Any, __: Json) -> Iterator[ValidationError]:
    if isinstance(value, dict):
        for name in names:
            if name not in value:
                yield ValidationError("is missing", path=[name])


def _type(
    validator: Any, wanted: str | list[str], value: Any, _: Json
) -> Iterator[ValidationError]:
    kinds = [wanted] if isinstance(wanted, str) else wanted
    if not any(validator.is_type(value, kind) for kind in kinds):
        yield _wrong_kind(kinds, value)


def _enum(_: Any, allowed: list[Any], value: Any, __: Json) -> Iterator[ValidationError]:
    if not isinstance(value, str) or value in allowed:
        return  # What is no string has been named by its type.
    words = [word for word in allowed if word is not None]
    message = f"must be one of {', '.join(words)}, not {show(value)}"
    near = difflib.get_close_matches(value.lower(), words, n=1)
    yield ValidationError(message + (f" (did you mean {near[0]!r}?)" if near else ""))


def _pattern(_: Any, pattern: str, value: Any, __: Json) -> Iterator[ValidationError]:
    # A full match, since `$` in Python lets a final line end through. Ids alone have a pattern.
    if isinstance(value, str) and not re.fullmatch(pattern, value):
        yield ValidationError(
            f"unsafe id {show(value)}: up to 64 letters, digits, '-' and '_', "
            "the first a letter or digit"
        )


def _minimum(validator: Any, least: float, value: Any, _: Json) -> Iterator[ValidationError]:
    # Not `<`: what is no number at all compares false with everything.
    if validator.is_type(value, "number") and not value >= least:
        yield ValidationError(f"must be at least {least}, not {show(value)}")


def _known_keys(_: Any, __: Any, value: Any, schema: Json) -> Iterator[ValidationError]:
    """Unknown keys are welcome, but must be text that can be written."""
    if isinstance(value, dict) and "properties" in schema:
        for key in value:
            if not is_encodable(key):
                yield ValidationError("key holds half of a surrogate pair", path=[key])


def _any_of(validator: Any, branches: list[Json], value: Any, _: Json) -> Iterator[ValidationError]:
    """What the branch that fits best complains about; null is never meant."""
    meant = [branch for branch in branches if branch != NULL]
    tried = [list(validator.descend(value, branch)) for branch in meant]
    if not all(tried):
        return
    fitting = [errors for errors in tried if len(meant) == 1 or not _is_of_other_kind(errors)]
    if fitting:
        yield from fitting[0]
    else:
        yield _wrong_kind([branch["type"] for branch in meant], value)


def _is_of_other_kind(errors: list[ValidationError]) -> bool:
    """Whether a branch complains about the kind of the value itself, not of a part of it."""
    return any(error.validator == "type" and not error.path for error in errors)


def _wrong_kind(kinds: list[str], value: Any) -> ValidationError:
    told = [kind for kind in kinds if kind != "null" and (kind, "number") != ("integer", kinds[-1])]
    names = [_KINDS[kind] for kind in told]
    return ValidationError(f"must be {' or '.join(names)}, not {show(value)}")


def _is_integer(_: TypeChecker, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_VALIDATOR = validators.extend(  # type: ignore[no-untyped-call]  # its stub has no types
    Draft202012Validator,
    validators={
        "additionalProperties": _known_keys,
        "anyOf": _any_of,
        "enum": _enum,
        "minimum": _minimum,
        "pattern": _pattern,
        "required": _required,
        "type": _type,
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)(plan_schema())
