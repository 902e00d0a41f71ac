"""The verifiers beyond the vectors: what is no text, keys that are fetched, and numbers that are written in many ways."""

from __future__ import annotations

import base64
import hmac
import json
import struct
import subprocess
import sys
from datetime import datetime, timezone
from random import Random
from typing import Any

import pytest
from conftest import Answer, Server
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from countersign import JsonError, KeySource, canonicalize, canonicalize_json, verify_intent_token_offline, verify_webhook_signature

KEY = {"kid": "k1", "kty": "EC"}


@pytest.mark.parametrize("token", [None, 7, {}, [], b"a.b.c", "A" * 1_000_000, "." * 1_000_000, "é.é.é"])
def test_what_is_no_token_is_refused_and_never_raises(token: Any) -> None:
    verdict = verify_intent_token_offline(token, keys={"keys": []})
    assert (verdict.valid, verdict.reason, verdict.claims) == (False, "invalid_token", None)


def test_headers_are_read_in_any_form_and_twice_is_refused() -> None:
    forms: list[Any] = [{"SERVICE-Signature": "x"}, [("service-signature", "x")], {"Service-Signature": ["x"]}]
    for headers in forms:
        verdict = verify_webhook_signature(b"{}", headers, "whsec_1")
        assert (bool(verdict), verdict.reason) == (False, "malformed_header")
    twice = [("Service-Signature", "t=1,v1=" + "0" * 64)] * 2
    assert verify_webhook_signature(b"{}", twice, "whsec_1").reason == "malformed_header"
    assert verify_webhook_signature(b"{}", {}, "whsec_1").reason == "missing_header"


def test_a_delivery_that_is_signed_and_no_json_is_refused() -> None:
    now = datetime.fromtimestamp(1_795_190_400, timezone.utc)
    for body, reason in ((b"[1]", None), (b"NaN", "invalid_json"), (b"\xff", "invalid_json"), (b"", "invalid_json")):
        signed = hmac.new(b"whsec_1", b"1795190400." + body, "sha256").hexdigest()
        headers = {"Service-Signature": f"t=1795190400,v1={signed}"}
        assert verify_webhook_signature(body, headers, "whsec_1", now=now).reason == reason


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def test_a_signature_has_64_bytes() -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    numbers = private.public_key().public_numbers()
    point = {"x": base64url(numbers.x.to_bytes(32, "big")), "y": base64url(numbers.y.to_bytes(32, "big"))}
    key = {**point, "kty": "EC", "crv": "P-256", "kid": "k1", "env": "live", "family": "token"}
    header = base64url(b'{"alg":"ES256","typ":"intent+jwt","kid":"k1"}')
    signed = f"{header}.{base64url(b'{}')}"
    r, s = decode_dss_signature(private.sign(signed.encode(), ec.ECDSA(SHA256())))
    parts = r.to_bytes(32, "big"), s.to_bytes(32, "big")
    # Signed, but without claims.
    good = f"{signed}.{base64url(b''.join(parts))}"
    assert verify_intent_token_offline(good, keys={"keys": [key]}).problem == "claims"
    # The same numbers in another form are another token.
    longer = f"{signed}.{base64url(parts[0] + bytes(1) + parts[1])}"
    assert verify_intent_token_offline(longer, keys={"keys": [key]}).problem == "signature"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740991.0, "9007199254740991"),
        (1e21, "1e+21"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (123456.789, "123456.789"),
        (333333333.33333329, "333333333.3333333"),
        (100.0, "100"),
        (True, "true"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(number: float, text: str) -> None:
    assert canonicalize(number) == text


def test_any_double_is_written_so_that_it_reads_as_itself() -> None:
    random = Random(8785)
    written = 0
    for _ in range(20_000):
        (number,) = struct.unpack("<d", random.randbytes(8))
        try:
            text = canonicalize(number)
        except JsonError as error:
            assert error.code == "number_out_of_range"
            continue
        written += 1
        assert float(text) == number
        assert "e0" not in text and not text.startswith(".") and "E" not in text
    assert written > 15_000


def test_names_stand_in_the_order_of_utf_16() -> None:
    # U+E000 is above the surrogates of U+10000, and below it in UTF-8.
    assert canonicalize({"\ue000": 1, "\U00010000": 2, "b": 3, "a": 4}) == '{"a":4,"b":3,"\U00010000":2,"\ue000":1}'


def test_canonical_text_is_its_own_canonical_form() -> None:
    for text in ('{"b":[1.0,{"z":null,"a":"\\u20ac\\n"}],"a":1e2}', '"\\ud83d\\ude00\\u2028"', "[]"):
        canonical = canonicalize_json(text)
        assert canonicalize_json(canonical) == canonical
        assert json.loads(canonical) == json.loads(text)


class Source:
    """A key source on a clock and a key set of the test's own."""

    def __init__(self, **options: Any) -> None:
        self.now = 1_000.0
        self.fetched = 0
        self.is_down = False
        self.keys: list[Any] = [KEY]
        self.source = KeySource("https://api.example.com/jwks", fetch=self.fetch, clock=lambda: self.now, **options)

    def fetch(self, _url: str) -> Any:
        self.fetched += 1
        if self.is_down:
            raise OSError("unreachable")
        return {"keys": self.keys}


def test_a_key_set_is_fetched_again_after_five_minutes() -> None:
    made = Source()
    for seconds, fetched in ((0, 1), (299, 1), (1, 2)):
        made.now += seconds
        assert made.source.find("k1") == KEY
        assert made.fetched == fetched


def test_an_unknown_key_fetches_it_again_at_most_every_30_seconds() -> None:
    made = Source()
    made.source.find("k1")
    made.now += 31
    made.keys = [KEY, {"kid": "new"}]
    assert made.source.find("new") == {"kid": "new"}
    assert [made.source.find(kid) for kid in "abc"] == [None, None, None]
    assert made.fetched == 2


def test_an_old_key_set_is_used_for_as_long_as_was_allowed() -> None:
    made = Source(stale_seconds=86_400)
    made.is_down = True
    with pytest.raises(OSError, match="unreachable"):
        made.source.find("k1")
    made.is_down = False
    made.source.find("k1")
    made.is_down = True
    made.now += 86_000
    assert made.source.find("k1") == KEY
    made.now += 1_000
    with pytest.raises(OSError, match="unreachable"):
        made.source.find("k1")


def test_a_key_set_is_fetched_over_http(server: Server) -> None:
    server.answer = lambda _: Answer(json={"keys": [KEY]})
    assert KeySource(f"{server.url}/.well-known/jwks.json").find("k1") == KEY
    assert server.arrived[0].path == "/.well-known/jwks.json"
    server.answer = lambda _: Answer(503, json={})
    with pytest.raises(Exception, match="503"):
        KeySource(f"{server.url}/.well-known/jwks.json").find("k1")


def test_keys_that_can_not_be_had_are_a_reason_and_raise_nothing() -> None:
    token = ".".join(base64url(part) for part in (b'{"alg":"ES256","typ":"intent+jwt","kid":"k1"}', b"{}", bytes(64)))
    made = Source()
    made.is_down = True
    verdict = verify_intent_token_offline(token, keys=made.source.find)
    assert (verdict.valid, verdict.reason, verdict.problem) == (False, "keys_unavailable", "keys_unavailable")
    assert str(verdict.cause) == "unreachable"


def test_only_tokens_need_cryptography() -> None:
    program = """
import sys
sys.modules["cryptography"] = None
import countersign
print(countersign.canonicalize({"a": 1}), countersign.verify_intent_token_offline("x", keys={"keys": []}).problem)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '{"a":1} segments'
