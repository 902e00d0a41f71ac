"""Answers: nothing that the service says is lost or refused, but for a member that is missing."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from conftest import Answer, Server
from pydantic import ValidationError
from samples import all_models, sample_of

from countersign import AnswerModel, Countersign, UnexpectedResponse, models, response_of

MODELS = all_models()


def dumped(answer: AnswerModel) -> Any:
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_model_gives_back_what_it_was_read_from(model: type[AnswerModel]) -> None:
    random = Random(model.__name__)
    for _ in range(10):
        sample = sample_of(model, random)
        assert dumped(model.model_validate(sample)) == sample


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_member_that_is_missing_is_refused(model: type[AnswerModel]) -> None:
    sample = sample_of(model, Random(model.__name__))
    for name, field in model.model_fields.items():
        if field.is_required():
            with pytest.raises(ValidationError):
                model.model_validate({key: value for key, value in sample.items() if key != (field.alias or name)})


def test_values_that_a_later_service_adds_pass() -> None:
    sample = {**sample_of(models.Case, Random(1)), "status": "a_later_status", "priority": "a_later_priority"}
    case = models.Case.model_validate(sample)
    assert (case.status, case.priority) == ("a_later_status", "a_later_priority")


def test_an_event_of_a_later_type_keeps_its_data() -> None:
    page = {"object": "list", "has_more": False, "next_cursor": None}
    events = models.EventList.model_validate({**page, "data": [{"type": "later.happened", "data": {"n": 1}}]})
    (event,) = events.data
    assert isinstance(event, models.UnknownEvent)
    assert (event.type, dumped(event)["data"]) == ("later.happened", {"n": 1})
    # One whose type is known must have its members.
    with pytest.raises(ValidationError):
        models.EventList.model_validate({**page, "data": [{"type": "ping", "data": {}}]})


def test_an_answer_that_lacks_a_member_is_unexpected_and_shown_as_it_came(server: Server) -> None:
    server.answer = lambda _: Answer(json={"case_id": "case_1", "odd": [1]}, headers={"Request-Id": "req_7"})
    with Countersign(base_url=server.url) as client, pytest.raises(UnexpectedResponse) as caught:
        client.cases.retrieve("case_1")
    assert caught.value.raw == {"case_id": "case_1", "odd": [1]}
    assert (caught.value.status, caught.value.code) == (200, "unexpected_response")
    assert caught.value.request_id == "req_7"
    assert "Field required" in caught.value.detail
    assert caught.value.__context__ is None


def test_an_answer_has_its_headers_and_equals_one_with_others(server: Server) -> None:
    sample = sample_of(models.Case, Random(2))
    replies = iter(("req_1", "req_2"))
    server.answer = lambda _: Answer(json=sample, headers={"Request-Id": next(replies), "ETag": '"3"'})
    with Countersign(base_url=server.url) as client:
        first, second = client.cases.retrieve("case_1"), client.cases.retrieve("case_1")
    assert [response_of(one).request_id for one in (first, second)] == ["req_1", "req_2"]
    assert response_of(first).headers["etag"] == '"3"'
    assert first == second
