"""The key is in nothing that a program prints, logs or sends to a tracker of errors."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
import traceback
from typing import Any, Callable

import pytest
from conftest import API_KEY, Answer, Server

from countersign import AsyncCountersign, Countersign, CountersignError

UNREACHABLE = "http://127.0.0.1:9"


def printed(error: BaseException) -> str:
    """As trackers do it: with the local variables of every frame, and of every error behind it."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(shown.format()) + repr(error) + str(error) + repr(vars(error)) + repr(error.args)


def fail(client: Countersign) -> CountersignError:
    with pytest.raises(CountersignError) as caught:
        client.cases.retrieve("case_1")
    return caught.value


def fail_later(url: str) -> CountersignError:
    async def run() -> CountersignError:
        async with AsyncCountersign(api_key=API_KEY, base_url=url, max_retries=0) as client:
            assert API_KEY not in repr(client)
            with pytest.raises(CountersignError) as caught:
                await client.cases.retrieve("case_1")
            return caught.value

    return asyncio.run(run())


ANSWERS: dict[str, Callable[[], Answer] | None] = {
    "refused": lambda: Answer(401, json={"code": "invalid_api_key"}),
    "failing": lambda: Answer(500, body=b"<html>"),
    "no JSON": lambda: Answer(body=b"<html>"),
    "lacking a member": lambda: Answer(json={"case_id": 7}),
    "unreachable": None,
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_errors_do_not_show_the_key(server: Server, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answer = ANSWERS[kind]
    if answer is not None:
        server.answer = lambda _: answer()
    url = server.url if answer is not None else UNREACHABLE
    with Countersign(api_key=API_KEY, base_url=url, max_retries=0) as client:
        errors = [fail(client), fail_later(url)]
        for shown in (client, client.cases, vars(client), vars(client.cases), client.cases._transport.settings):
            assert API_KEY not in repr(shown)
        for copying in (pickle.dumps, copy.deepcopy):
            for holder in (client, client.cases._transport.settings.auth):
                with pytest.raises(TypeError):
                    copying(holder)
    for error in errors:
        assert API_KEY not in printed(error)
        # The error of the HTTP library has the request, which has the key.
        assert error.__context__ is None
    assert caplog.text != ""
    assert API_KEY not in caplog.text + "".join(map(repr, caplog.records))


@pytest.mark.parametrize("key", ["svc_test_S3cret\n", "svc_test_S3crét", "svc test S3cret"])
def test_a_key_that_is_none_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ValueError) as caught:
        Countersign(api_key=key, base_url=UNREACHABLE)
    assert "S3cr" not in str(caught.value)


def test_errors_survive_a_copy_between_processes(server: Server) -> None:
    problem: dict[str, Any] = {"code": "not_found", "detail": "There is none.", "request_id": "req_1"}
    server.answer = lambda _: Answer(404, json=problem)
    with Countersign(base_url=server.url) as client:
        error = pickle.loads(pickle.dumps(fail(client)))
    assert (type(error).__name__, error.status, error.request_id) == ("NotFoundError", 404, "req_1")
    assert str(error) == "404 not_found: There is none."
