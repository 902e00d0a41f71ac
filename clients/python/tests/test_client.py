"""What a program sees of the two clients besides the scenarios that all languages share."""

from __future__ import annotations

import asyncio
import json
from random import Random
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel
from conftest import API_KEY, Answer, Arrived, Server
from samples import sample_of

import countersign
from countersign import NOT_GIVEN, AsyncCountersign, Countersign, models


def page_of(*items: Any, cursor: str | None = None) -> Answer:
    return Answer(json={"object": "list", "data": list(items), "has_more": cursor is not None, "next_cursor": cursor})


def test_pages_are_loaded_as_a_loop_needs_them(server: Server) -> None:
    claim = sample_of(models.Claim, Random(1))
    answers = iter((page_of(claim, claim, cursor="c2"), page_of(claim)))
    server.answer = lambda _: next(answers)
    with Countersign(base_url=server.url) as client:
        claims = iter(client.claims.list(risk_status=["failed", "review"], limit=2))
        assert server.arrived == []
        assert next(claims).claim_id == claim["claim_id"]
        assert len(server.arrived) == 1
        assert len(list(claims)) == 2
    assert [arrived.path for arrived in server.arrived] == [
        "/v1/claims?limit=2&risk_status=failed&risk_status=review",
        "/v1/claims?limit=2&risk_status=failed&risk_status=review&cursor=c2",
    ]


def test_one_page_has_the_cursor_of_the_next(server: Server) -> None:
    server.answer = lambda _: page_of(cursor="c2")

    async def both() -> tuple[models.ClaimList, models.ClaimList]:
        with Countersign(base_url=server.url) as client:
            first = client.claims.list().page()
        async with AsyncCountersign(base_url=server.url) as later:
            return first, await later.claims.list(cursor="c1").page()

    assert [page.next_cursor for page in asyncio.run(both())] == ["c2", "c2"]
    assert [arrived.path for arrived in server.arrived] == ["/v1/claims", "/v1/claims?cursor=c1"]


def test_a_list_ends_where_the_service_says_so(server: Server) -> None:
    claim = sample_of(models.Claim, Random(1))
    # Neither a cursor without a further page nor the same one again is followed.
    last = {"object": "list", "data": [claim], "has_more": False, "next_cursor": "c2"}
    same = {**last, "has_more": True}
    with Countersign(base_url=server.url) as client:
        server.answer = lambda _: Answer(json=last)
        assert len(list(client.claims.list())) == 1
        server.answer = lambda _: Answer(json=same)
        assert len(list(client.claims.list())) == 2
    assert len(server.arrived) == 3


def test_null_is_sent_where_it_means_something(server: Server) -> None:
    server.answer = lambda _: Answer(json=sample_of(models.Case, Random(1)))
    with Countersign(base_url=server.url) as client:
        client.cases.update("case_1", assignee=None, priority=None)
        client.cases.update("case_1", assignee=NOT_GIVEN, priority="high")
    assert [json.loads(arrived.body) for arrived in server.arrived] == [{"assignee": None}, {"priority": "high"}]


def test_an_answer_can_be_an_argument(server: Server) -> None:
    class Order(BaseModel):
        amount: str
        currency: str = "EUR"

    document = models.PolicyDocument.model_validate({"rules": [], "later": {"x": 1}})
    server.answer = lambda _: Answer(json=sample_of(models.Policy, Random(1)))
    with Countersign(base_url=server.url) as client:
        client.policy.update(if_match="*", document=document)
        # Models of the caller are sent whole.
        server.answer = lambda _: Answer(json=sample_of(models.PolicyValidation, Random(1)))
        client.policy.validate(document={"order": Order(amount="1.00")})
    sent = [json.loads(arrived.body)["document"] for arrived in server.arrived]
    assert sent == [{"rules": [], "later": {"x": 1}}, {"order": {"amount": "1.00", "currency": "EUR"}}]


@pytest.mark.parametrize(("timeout", "wait", "sent"), [(30.0, None, None), (30.0, 25, 25), (8.0, 20, 7), (8.0, None, 7)])
def test_the_service_answers_before_the_attempt_is_over(
    server: Server, timeout: float, wait: int | None, sent: int | None
) -> None:
    server.answer = lambda _: Answer(json=sample_of(models.Screening, Random(1)))
    with Countersign(base_url=server.url, timeout=timeout) as client:
        client.screenings.create(media={"media_id": "med_test_1"}, wait=wait)
        client.screenings.retrieve("scr_test_1", wait=wait)
    created, retrieved = server.arrived
    assert created.headers.get("Prefer") == (None if sent is None else f"wait={sent}")
    assert retrieved.path == "/v1/media/screenings/scr_test_1" + (f"?wait={min(wait, int(timeout) - 1)}" if wait else "")


def test_ids_of_paths_are_escaped_and_never_change_the_path(server: Server) -> None:
    server.answer = lambda _: Answer(json=sample_of(models.Claim, Random(1)))
    with Countersign(base_url=f"{server.url}/api/") as client:
        client.claims.retrieve("a/b ?c#d%2e")
        for bad in ("", ".", ".."):
            with pytest.raises(ValueError):
                client.claims.retrieve(bad)
    assert [arrived.path for arrived in server.arrived] == ["/api/v1/claims/a%2Fb%20%3Fc%23d%252e"]


def test_the_key_and_the_address_come_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSIGN_API_KEY", API_KEY)
    monkeypatch.setenv("COUNTERSIGN_BASE_URL", server.url)
    server.answer = lambda _: page_of()
    with Countersign() as client:
        assert list(client.claims.list()) == []
    headers = server.arrived[0].headers
    assert headers["Authorization"] == f"Bearer {API_KEY}"
    assert headers["User-Agent"] == f"countersign-python/{countersign.__version__}"


@pytest.mark.parametrize("base_url", ["", "ftp://example.com", "https://user:pass@example.com", "example.com", "https://"])
def test_an_address_that_is_none_is_refused(base_url: str) -> None:
    with pytest.raises(ValueError):
        Countersign(base_url=base_url)


def test_a_client_of_the_caller_is_used_and_left_open(server: Server) -> None:
    server.answer = lambda _: page_of()
    with httpx2.Client(headers={"X-Gateway": "mine"}) as http_client:
        with Countersign(base_url=server.url, http_client=http_client) as client:
            list(client.claims.list())
        assert not http_client.is_closed
    assert server.arrived[0].headers["X-Gateway"] == "mine"


def test_a_download_is_read_saved_or_left_early(server: Server, tmp_path: Any) -> None:
    photo = bytes(range(256)) * 4_000
    server.answer = lambda _: Answer(body=photo, headers={"Content-Type": "image/jpeg"})

    async def read_async() -> bytes:
        async with AsyncCountersign(base_url=server.url) as later:
            download = await later.media.download("med_1")
            await download.save(tmp_path / "b.jpg")
            return await (await later.media.download("med_1")).read()

    with Countersign(base_url=server.url) as client:
        assert client.media.download("med_1").read() == photo
        client.media.download("med_1").save(tmp_path / "a.jpg")
        with client.media.download("med_1", range="bytes=0-9") as download:
            assert download.content_type == "image/jpeg"
            # A loop that ends early leaves the rest unread.
            assert photo.startswith(next(iter(download)))
    assert asyncio.run(read_async()) == photo
    assert (tmp_path / "a.jpg").read_bytes() == (tmp_path / "b.jpg").read_bytes() == photo
    assert server.arrived[2].headers["Range"] == "bytes=0-9"


def test_lines_are_read_with_what_this_version_does_not_know(server: Server) -> None:
    end = sample_of(models.BatchResultsEnd, Random(1))
    lines = [{**sample_of(models.BatchResult, Random(2)), "line": number} for number in (1, 2)]
    text = "\n".join(json.dumps(line) for line in [*lines, end])

    def answer(arrived: Arrived) -> Answer:
        return Answer(body=text.encode(), headers={"Content-Type": arrived.headers["Accept"]})

    server.answer = answer

    async def read_async() -> list[Any]:
        async with AsyncCountersign(base_url=server.url) as later:
            return [line async for line in later.claims.batches.results("bat_1")]

    with Countersign(base_url=server.url) as client:
        read = list(client.claims.batches.results("bat_1"))
        saved = client.claims.batches.results("bat_1").download().read()
    assert saved == text.encode()
    assert read == asyncio.run(read_async())
    assert [line.line for line in read if isinstance(line, models.BatchResult)] == [1, 2]
    assert isinstance(read[-1], models.BatchResultsEnd)
    assert {arrived.headers["Accept"] for arrived in server.arrived} == {"application/x-ndjson"}
