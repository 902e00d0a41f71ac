"""The examples of the README run, with a token of this minute and its key, and fit the types."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

from conftest import KeyServer, response
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

import countersign_verifier
from countersign_verifier import canonicalize, verify_intent_token_offline

ROOT = Path(__file__).parents[1]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
DESCRIPTION, PAYLOAD = "Pay 12.00 EUR", {"currency": "EUR", "amount": "12.00"}


def base64url(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def hash_of(text: str) -> str:
    return base64url(hashlib.sha256(text.encode()).digest())


def make_key() -> tuple[ec.EllipticCurvePrivateKey, dict[str, Any]]:
    private = ec.generate_private_key(ec.SECP256R1())
    point = private.public_key().public_numbers()
    x, y = (base64url(coordinate.to_bytes(32, "big")) for coordinate in (point.x, point.y))
    return private, {"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": "k1", "env": "live", "family": "token"}


def make_token(private: ec.EllipticCurvePrivateKey, **claims: Any) -> str:
    now = int(time.time())
    payload = {
        "iss": "https://api.example.com",
        "sub": "acc_1",
        "aud": "https://shop.example.com",
        "jti": "jti_live_1",
        "iat": now,
        "exp": now + 300,
        "env": "live",
        "action_hash": hash_of(DESCRIPTION),
        "payload_hash": hash_of(canonicalize(PAYLOAD)),
        "agent_session_id": "s1",
        "device_id": "d1",
        "policy_version": 0,
        "status": {"status_list": {"idx": 0, "uri": "https://api.example.com/v1/intent/status-lists/live_0"}},
        **claims,
    }
    header = {"alg": "ES256", "typ": "intent+jwt", "kid": "k1"}
    signed = ".".join(base64url(json.dumps(part).encode()) for part in (header, payload))
    r, s = decode_dss_signature(private.sign(signed.encode(), ec.ECDSA(SHA256())))
    return f"{signed}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def test_the_first_example_verifies_a_token(server: KeyServer) -> None:
    private, key = make_key()
    server.answer = response(json.dumps({"keys": [key]}).encode())
    program = EXAMPLES[0].replace("https://api.example.com/.well-known/jwks.json", server.url)
    names: dict[str, Any] = {}
    exec(program, names)
    assert server.url in program
    assert names["is_allowed"](make_token(private)) is True
    assert names["is_allowed"](make_token(private, single_use=True)) is False
    assert names["is_allowed"](make_token(private, aud="https://bank.example.com")) is False
    assert names["is_allowed"](make_token(private, exp=int(time.time()))) is False
    assert names["is_allowed"]("x") is False


def test_the_second_example_compares_the_action() -> None:
    private, key = make_key()
    verdict = verify_intent_token_offline(make_token(private), keys={"keys": [key]})
    names: dict[str, Any] = {}
    exec(EXAMPLES[1], names)
    assert names["is_for"](verdict.claims, DESCRIPTION, PAYLOAD) is True
    assert names["is_for"](verdict.claims, DESCRIPTION, {**PAYLOAD, "amount": "1200.00"}) is False
    assert names["is_for"](verdict.claims, "Pay 1200.00 EUR", PAYLOAD) is False


def test_all_examples_fit_the_types(tmp_path: Path) -> None:
    for number, example in enumerate(EXAMPLES):
        (tmp_path / f"example_{number}.py").write_text(example, "utf-8")
    cache = os.environ.get("MYPY_CACHE_DIR", ".mypy_cache")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, str(tmp_path)]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("Success"), done.stdout + done.stderr


def test_the_version_is_that_of_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## (\S+)", changelog, re.MULTILINE)[0] == countersign_verifier.__version__
