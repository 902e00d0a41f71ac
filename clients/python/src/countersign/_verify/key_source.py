"""The service's key set, fetched when it is needed and kept. A new key is published a day before it signs, so that a kept set has
every key that tokens use, except after an emergency: then a token names an unknown key, and the set is fetched again.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Callable

from .key_set_http import fetch_key_set
from .tokens import PublicKey

FRESH_SECONDS = 300
# Strangers invent key ids: an unknown one fetches the set at most this often.
REFETCH_SECONDS = 30
TIMEOUT_SECONDS = 5


class KeySource:
    """For the argument `keys`: `verify_intent_token_offline(token, keys=source.find)`. Several threads can share it."""

    def __init__(
        self,
        url: str,
        *,
        stale_seconds: float = 0,
        timeout_seconds: float = TIMEOUT_SECONDS,
        fetch: Callable[[str], Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            url: `{base_url}/.well-known/jwks.json`.
            stale_seconds: For how long keys are used when no newer set can be fetched; 86,400 is a day.
            timeout_seconds: For a fetch, from the name of the host to the last byte.
            fetch: In place of an HTTP request: gets the parsed key set, or raises.
            clock: For tests, in seconds.
        """
        self._url = url
        self._stale_seconds = stale_seconds
        self._timeout_seconds = timeout_seconds
        self._fetch = fetch or (lambda address: fetch_key_set(address, timeout_seconds))
        self._clock = clock
        self._lock = threading.Lock()
        self._loading: Future[None] | None = None
        self._keys: list[PublicKey] = []
        self._kept_at = float("-inf")
        self._tried_at = float("-inf")

    def find(self, kid: str) -> PublicKey | None:
        """The key of this id. Raises when the set can't be fetched and none is kept."""
        kept_at = self._kept_at
        if self._clock() - kept_at >= FRESH_SECONDS:
            try:
                self._refresh(kept_at)
            except Exception:
                if self._clock() - self._kept_at >= FRESH_SECONDS + self._stale_seconds:
                    raise
        kept_at = self._kept_at
        found = self._known(kid)
        if found is not None or self._clock() - self._tried_at < REFETCH_SECONDS:
            return found
        try:
            self._refresh(kept_at)
        except Exception:
            return None
        return self._known(kid)

    def _known(self, kid: str) -> PublicKey | None:
        return next((key for key in self._keys if key.get("kid") == kid), None)

    def _refresh(self, kept_at: float) -> None:
        """Threads that come meanwhile wait for the same answer, and for no longer than the time-out."""
        with self._lock:
            if self._kept_at != kept_at:
                return
            loading = self._loading
            if loading is None:
                loading = self._loading = Future()
                self._tried_at = self._clock()
                # In a thread of its own, because nothing else bounds the look-up of a name.
                threading.Thread(target=self._load, args=[loading], name="countersign-keys", daemon=True).start()
        try:
            loading.result(self._timeout_seconds)
        except FutureTimeoutError:
            raise TimeoutError("the key set took too long") from None

    def _load(self, loading: Future[None]) -> None:
        try:
            answer = self._fetch(self._url)
            keys = answer.get("keys") if isinstance(answer, dict) else None
            if not isinstance(keys, list):
                raise ValueError("the answer is no key set")
        except BaseException as error:
            with self._lock:
                self._loading = None
            loading.set_exception(error)
            return
        with self._lock:
            self._keys = [key for key in keys if isinstance(key, dict)]
            self._kept_at = self._clock()
            self._loading = None
        loading.set_result(None)
