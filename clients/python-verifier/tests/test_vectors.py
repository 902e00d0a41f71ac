"""The vectors that every library runs. Each file says in `about` what its input and answer mean."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from conftest import KeyServer, response

from countersign_verifier import (
    JsonError,
    KeySource,
    canonicalize,
    canonicalize_json,
    verify_intent_token_offline,
)
from countersign_verifier._verify.key_set_http import fetch_key_set

FOLDER = Path(os.environ.get("COUNTERSIGN_VECTORS", Path(__file__).parents[3] / "vectors"))


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)


def code_of(write: Callable[[], str]) -> str:
    """The code of the refusal, or the text."""
    try:
        return write()
    except JsonError as error:
        return error.code


def answer_token(given: dict[str, Any], _expected: dict[str, Any]) -> Any:
    options = {name: given[name] for name in ("audience", "issuer", "clock_tolerance_seconds") if name in given}
    verdict = verify_intent_token_offline(
        given["token"], keys=given["jwks"], environment=given["environment"], now=at(given["now"]), **options
    )
    if verdict.valid:
        assert verdict.claims is not None
        assert verdict.claims["env"] == given["environment"]
    return {
        "valid": verdict.valid,
        "reason": verdict.reason,
        "problem": verdict.problem,
        "not_checked": verdict.not_checked,
        "requires_online": verdict.requires_online,
    }


def answer_accepted(given: dict[str, Any], _expected: dict[str, Any]) -> Any:
    canonical = canonicalize_json(given["json"])
    assert canonicalize_json(canonical.encode()) == canonical
    return {"canonical": canonical}


def answer_refused(given: dict[str, Any], expected: dict[str, Any]) -> Any:
    source = bytes.fromhex(given["hex"]) if "hex" in given else given["json"]
    # This library says less of the place.
    return {**expected, "code": code_of(lambda: canonicalize_json(source))}


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
# Python has no absence of a value and no holes, its dict is the object, and its integers are of any size.
VALUES: dict[str, Any] = {
    "not_a_number": float("nan"),
    "infinity": float("inf"),
    "minus_infinity_in_a_list": [float("-inf")],
    "integer_2_to_53": 2**53,
    "integer_minus_2_to_60": -(2**60),
    "lone_high_surrogate": "a\ud800",
    "lone_low_surrogate_as_a_name": {"\udc00": 1},
    "function": lambda: 1,
    "date": at(0),
    "bytes": b"\0",
    "cycle": CYCLE,
}


def answer_value(given: dict[str, Any], expected: dict[str, Any]) -> Any:
    name = given["value"]
    if name not in VALUES:
        pytest.skip(f"Python has no {name}")
    return {"code": code_of(lambda: canonicalize(VALUES[name]))}


def answer_key_source(given: dict[str, Any], _expected: dict[str, Any]) -> Any:
    time, fetches = 1_000.0, 0
    served: dict[str, Any] = {}

    def fetch(_url: str) -> Any:
        nonlocal fetches
        fetches += 1
        server.answer = response(served["body"].encode() + b" " * served.get("repeat_space", 0), f"{served['status']} X")
        if served["status"] == 0:
            raise OSError("no answer")
        return fetch_key_set(server.url, 20)

    def find(kid: str) -> str:
        try:
            key = source.find(kid)
        except Exception:
            return "unavailable"
        return "unknown" if key is None else "found" if key["kid"] == kid else "other"

    server = KeyServer()
    source = KeySource("", stale_seconds=given["stale_seconds"], fetch=fetch, clock=lambda: time, timeout_seconds=20)
    steps: list[Any] = []
    for step in given["steps"]:
        time = 1_000.0 + step["at_seconds"]
        served = step["served"]
        with ThreadPoolExecutor(len(step["find"])) as threads:
            steps.append({"found": list(threads.map(find, step["find"])), "fetches": fetches})
    server.close()
    return {"steps": steps}


ANSWERS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Any]] = {
    "tokens/offline": answer_token,
    "tokens/key-source": answer_key_source,
    "canonical/accepted": answer_accepted,
    "canonical/refused": answer_refused,
    "canonical/values": answer_value,
}


def all_cases() -> Iterator[Any]:
    for name, answer in ANSWERS.items():
        file = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
        for case in file["cases"]:
            yield pytest.param(answer, case["input"], case["expect"], id=case["id"])


@pytest.mark.parametrize(("answer", "given", "expected"), list(all_cases()))
def test_vector(
    answer: Callable[[dict[str, Any], dict[str, Any]], Any], given: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert answer(given, expected) == expected
