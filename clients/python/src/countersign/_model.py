"""What the models of answers have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

from pydantic import BaseModel, ConfigDict, PrivateAttr


@dataclass(frozen=True)
class Response:
    """Status and headers of an answer. Answers with the same members are equal, whatever came with them."""

    status: int = field(default=0, compare=False)
    headers: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Names are found in any case."""

    @property
    def request_id(self) -> str | None:
        """What the operator of the service needs to find the request."""
        return self.headers.get("request-id")


class AnswerModel(BaseModel):
    """An answer of the service, or a part of one.

    Members that this version of the library does not know are kept, and are attributes too.
    """

    # A few hundred models are declared, and a program uses some: each is built when it is first used.
    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=(), defer_build=True)

    _response: Response = PrivateAttr(default_factory=Response)


def response_of(answer: AnswerModel) -> Response:
    """Status and headers of the answer that a method returned."""
    return answer._response


def attach_response(answer: Any, response: Response) -> None:
    if isinstance(answer, AnswerModel):
        answer._response = response


def tag_of(member: str, *known: str) -> Callable[[Any], str]:
    """Tells the options of a union apart by one member. A later service may add options, whose tag is empty."""

    def find(value: Any) -> str:
        tag = value.get(member) if isinstance(value, Mapping) else getattr(value, member, None)
        return tag if isinstance(tag, str) and tag in known else ""

    return find
