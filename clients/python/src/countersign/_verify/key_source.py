"""The service's key set, fetched when it is needed and kept. A new key is published a day before it signs, so that a kept set has
every key that tokens use, except after an emergency: then a token names an unknown key, and the set is fetched again.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable

import httpx2

from .tokens import PublicKey

FRESH_SECONDS = 300
# Strangers invent key ids: an unknown one fetches the set at most this often.
REFETCH_SECONDS = 30
MAX_BYTES = 1024 * 1024
TIMEOUT_SECONDS = 5


class KeySource:
    """For the argument `keys`: `verify_intent_token_offline(token, keys=source.find)`. Several threads can share it."""

    def __init__(
        self,
        url: str,
        *,
        stale_seconds: float = 0,
        fetch: Callable[[str], Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            url: `{base_url}/.well-known/jwks.json`.
            stale_seconds: For how long keys are used when no newer set can be fetched; 86,400 is a day.
            fetch: In place of an HTTP request: gets the parsed key set, or raises.
            clock: For tests, in seconds.
        """
        self._url = url
        self._stale_seconds = stale_seconds
        self._fetch = fetch or _fetch
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: list[PublicKey] | None = None
        self._kept_at = float("-inf")
        self._tried_at = float("-inf")

    def find(self, kid: str) -> PublicKey | None:
        """The key of this id. Raises when the set can't be fetched and none is kept."""
        # Threads that come meanwhile wait for the same answer.
        with self._lock:
            if self._age() >= FRESH_SECONDS:
                try:
                    self._refresh()
                except Exception:
                    if self._age() >= FRESH_SECONDS + self._stale_seconds:
                        raise
            found = self._known(kid)
            if found is not None or self._clock() - self._tried_at < REFETCH_SECONDS:
                return found
            try:
                self._refresh()
            except Exception:
                return None
            return self._known(kid)

    def _age(self) -> float:
        return self._clock() - self._kept_at

    def _known(self, kid: str) -> PublicKey | None:
        return next((key for key in self._keys or () if key.get("kid") == kid), None)

    def _refresh(self) -> None:
        self._tried_at = self._clock()
        answer = self._fetch(self._url)
        keys = answer.get("keys") if isinstance(answer, dict) else None
        if not isinstance(keys, list):
            raise ValueError("the answer is no key set")
        self._keys = [key for key in keys if isinstance(key, dict)]
        self._kept_at = self._clock()


def _fetch(url: str) -> Any:
    with httpx2.stream("GET", url, headers={"Accept": "application/json"}, timeout=TIMEOUT_SECONDS) as response:
        response.raise_for_status()
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if len(content) > MAX_BYTES:
                raise ValueError("the key set is too long")
    return httpx2.Response(200, content=bytes(content)).json()
