"""Key servers that are slow, wrong or hostile: an answer within the time limit, and a reason."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Answer, KeyServer, drips, hangs, response
from test_vectors import FOLDER, at

from countersign_verifier import KeySource, OfflineVerdict, verify_intent_token_offline

TIMEOUT_SECONDS = 0.3
# Far above the time-out, for machines with much else to do.
LIMIT_SECONDS = 20
GIVEN: dict[str, Any] = json.loads((FOLDER / "tokens/offline.json").read_text("utf-8"))["cases"][0]["input"]
KEY_SET = json.dumps(GIVEN["jwks"]).encode()


def verify(source: KeySource) -> OfflineVerdict:
    return verify_intent_token_offline(GIVEN["token"], keys=source.find, now=at(GIVEN["now"]))


def test_a_token_is_verified_with_keys_that_are_fetched(server: KeyServer) -> None:
    server.answer = response(KEY_SET)
    source = KeySource(server.url, timeout_seconds=60)
    assert verify(source).valid
    assert verify(source).valid
    assert [request.split(b"\r\n")[0] for request in server.requests] == [b"GET /.well-known/jwks.json HTTP/1.1"]


ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
HOSTILE: dict[str, Answer] = {
    "ends the connection": lambda connection, ended: None,
    "hangs before its answer": hangs(),
    "hangs in its headers": hangs(b"HTTP/1.1 200 OK\r\nX: "),
    "hangs in its body": hangs(ENDLESS + b'{"keys":['),
    "drips headers": drips(b"HTTP/1.1 200 OK\r\nX: "),
    "drips a body": drips(ENDLESS + KEY_SET),
    "has 10 MB of keys": response(b'{"keys":[' + b",".join([KEY_SET] * 6_000) + b"]}"),
    "has 10 MB of space": response(KEY_SET + b" " * 10_000_000),
    "ends early": lambda connection, ended: connection.sendall(ENDLESS + KEY_SET),
    "answers 500": response(KEY_SET, "500 Internal Server Error"),
    "answers 204": response(b"", "204 No Content"),
    "answers another protocol": lambda connection, ended: connection.sendall(b"220 mail.example.com ESMTP\r\n"),
    "is nested a million times": response(b"[" * 1_000_000),
    "has no text": response(b"\xff\xfe\x00"),
    "has no keys": response(b"[]"),
    "has a number of 5,000 digits": response(b'{"keys":[' + b"1" * 5_000 + b"]}"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_key_server_costs_no_more_than_the_time_limit(server: KeyServer, name: str) -> None:
    server.answer = HOSTILE[name]
    began = time.monotonic()
    verdict = verify(KeySource(server.url, timeout_seconds=TIMEOUT_SECONDS))
    assert time.monotonic() - began < LIMIT_SECONDS
    assert (verdict.valid, verdict.reason, verdict.problem) == (False, "keys_unavailable", "keys_unavailable")
    assert verdict.cause is not None


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
def test_a_redirect_is_not_followed(server: KeyServer, status: str) -> None:
    server.answer = response(KEY_SET, status, f"Location: {server.url}\r\n")
    assert verify(KeySource(server.url, timeout_seconds=60)).reason == "keys_unavailable"
    assert len(server.requests) == 1


@pytest.mark.parametrize("keys", [None, 7, "x", [], {}, True], ids=repr)
def test_keys_that_are_none_are_unknown(server: KeyServer, keys: Any) -> None:
    server.answer = response(json.dumps({"keys": [keys]}).encode())
    assert verify(KeySource(server.url, timeout_seconds=60)).problem == "unknown_key"


@pytest.mark.parametrize("x", [None, 7, "", "A" * 43, "A" * 1000, "é", ["A"]], ids=repr)
def test_a_key_that_is_no_point_of_the_curve_is_unknown(x: Any) -> None:
    keys = {"keys": [{**key, "x": x} for key in GIVEN["jwks"]["keys"]]}
    verdict = verify_intent_token_offline(GIVEN["token"], keys=keys, now=at(GIVEN["now"]))
    assert (verdict.reason, verdict.problem) == ("invalid_token", "unknown_key")


@pytest.mark.parametrize("keys", [{}, {"keys": None}, {"keys": {}}, {"keys": "x"}], ids=repr)
def test_what_is_no_key_set_is_unavailable(keys: Any) -> None:
    assert verify_intent_token_offline(GIVEN["token"], keys=keys).reason == "keys_unavailable"


@pytest.mark.parametrize("url", ["", "x", "file:///etc/hosts", "ftp://127.0.0.1/x", "http://", "http://[", "data:,{}"])
def test_an_address_that_is_none_of_a_key_set_is_unavailable(url: str) -> None:
    assert verify(KeySource(url)).reason == "keys_unavailable"


def test_threads_share_a_fetch_that_hangs(server: KeyServer) -> None:
    server.answer = hangs()
    source = KeySource(server.url, timeout_seconds=TIMEOUT_SECONDS)
    reasons: list[Any] = []
    threads = [threading.Thread(target=lambda: reasons.append(verify(source).reason)) for _ in range(20)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - began < LIMIT_SECONDS
    assert reasons == ["keys_unavailable"] * 20
    assert len(server.requests) < 20


def test_the_thread_of_a_fetch_that_hangs_ends(server: KeyServer) -> None:
    server.answer = drips(b"HTTP/1.1 200 OK\r\nX: ")
    verify(KeySource(server.url, timeout_seconds=TIMEOUT_SECONDS))
    for thread in threading.enumerate():
        if thread.name == "countersign-keys":
            thread.join(LIMIT_SECONDS)
            assert not thread.is_alive()


def test_nothing_that_is_installed_is_imported_but_cryptography() -> None:
    files = (Path(__file__).parents[1] / "src").rglob("*.py")
    text = "\n".join(path.read_text("utf-8") for path in files)
    modules = set(re.findall(r"^ *(?:from|import) ([a-z_]\w*)", text, re.MULTILINE))
    assert modules - set(sys.stdlib_module_names) == {"cryptography"}
