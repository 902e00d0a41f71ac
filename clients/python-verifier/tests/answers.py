"""Verifies the tokens of its standard input, a JSON object with jwks, now and cases, so that a test can compare the verdicts of
several languages. The argument is the package: the verifier, or the whole library.
"""

from __future__ import annotations

import importlib
import json
import sys
from datetime import datetime, timezone
from typing import Any


def main(package: Any) -> None:
    given = json.load(sys.stdin)
    now = datetime.fromtimestamp(given["now"], timezone.utc)
    answers: list[dict[str, Any]] = []
    for case in given["cases"]:
        token, environment, audience = case["token"], case["environment"], case.get("audience")
        verdict = package.verify_intent_token_offline(
            token, keys=given["jwks"], environment=environment, audience=audience, now=now
        )
        answers.append(
            {
                "reason": verdict.reason or "",
                "problem": verdict.problem or "",
                "not_checked": verdict.not_checked,
                "requires_online": verdict.requires_online,
            }
        )
    json.dump(answers, sys.stdout)


main(importlib.import_module(sys.argv[1]))
