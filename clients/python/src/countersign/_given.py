"""Arguments that were not given, where None is a value of its own."""

from __future__ import annotations

from typing import Any, Mapping

from typing_extensions import TypeAlias, final


@final
class NotGiven:
    """The type of NOT_GIVEN."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven()
"""Leaves an argument out. None is sent as null, which clears a value."""

Json: TypeAlias = "dict[str, Any]"


def given(arguments: Mapping[str, Any], *nullable: str) -> Json:
    """The arguments to send: all but NOT_GIVEN, and None only for those whose null means something."""
    return {
        name: value
        for name, value in arguments.items()
        if not isinstance(value, NotGiven) and (value is not None or name in nullable)
    }
