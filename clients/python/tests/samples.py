"""Values that fit a model, made from its annotations."""

from __future__ import annotations

import types
from random import Random
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import Tag

from countersign import AnswerModel, models

MAX_DEPTH = 5
# A later service adds members.
LATER = {"later_member": {"own_name": [1, 2.5, None]}}


def all_models() -> list[type[AnswerModel]]:
    found = [value for value in vars(models).values() if isinstance(value, type) and issubclass(value, AnswerModel)]
    return [model for model in found if model is not AnswerModel]


def sample_of(model: type[AnswerModel], random: Random, depth: int = 0) -> dict[str, Any]:
    if not model.__pydantic_complete__:
        model.model_rebuild()
    sample: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if field.is_required() or (depth < 2 and random.random() < 0.5):
            # Metadata of an annotated union stands in the field.
            sample[field.alias or name] = _value_of(field.annotation, random, depth + 1)
    return {**sample, **LATER}


def _value_of(annotation: Any, random: Random, depth: int) -> Any:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        # The one that is told by no tag has a tag of its own.
        tags = [extra.tag for extra in arguments[1:] if isinstance(extra, Tag)]
        value = _value_of(arguments[0], random, depth)
        return {**value, "type": "later.type"} if tags == [""] else value
    if origin in (Union, types.UnionType):
        ends = [one for one in arguments if one is type(None)]
        return _value_of(random.choice(ends if depth > MAX_DEPTH and ends else arguments), random, depth)
    if origin is Literal:
        return random.choice(arguments)
    if origin is list:
        return [] if depth > MAX_DEPTH else [_value_of(arguments[0], random, depth + 1) for _ in range(random.randrange(3))]
    if origin is dict:
        return {f"key_{index}": _value_of(arguments[1], random, depth + 1) for index in range(random.randrange(3))}
    if isinstance(annotation, type) and issubclass(annotation, AnswerModel):
        return sample_of(annotation, random, depth)
    plain = {str: "text", int: 7, float: 2.5, bool: True, type(None): None, Any: {"any": ["thing", 1]}}
    return plain[annotation]
