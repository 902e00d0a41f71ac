"""What a client is told: its key, the address of the service, and how patient it is."""

from __future__ import annotations

import os
import re
from typing import Generator
from urllib.parse import urlsplit

import httpx2

TIMEOUT_SECONDS = 30.0
MAX_RETRIES = 4


class KeyAuth(httpx2.Auth):
    """Adds the key to each request. Nothing else holds it, so that nothing else can print it."""

    __slots__ = ("__key",)

    def __init__(self, api_key: str) -> None:
        # An exception about an invalid header would print it.
        if re.fullmatch(r"[!-~]+", api_key) is None:
            raise ValueError("api_key has characters that no API key has")
        self.__key = api_key

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        request.headers["Authorization"] = f"Bearer {self.__key}"
        yield request

    def __repr__(self) -> str:
        return "KeyAuth(...)"

    def __reduce__(self) -> str:
        raise TypeError("a client can't be pickled: it holds the API key")


def auth_of(api_key: str | None) -> KeyAuth | None:
    key = api_key if api_key is not None else os.environ.get("COUNTERSIGN_API_KEY")
    return KeyAuth(key) if key else None


def base_url_of(base_url: str | None) -> str:
    """The address without a slash at its end."""
    given = base_url if base_url is not None else os.environ.get("COUNTERSIGN_BASE_URL")
    if not given:
        raise ValueError("base_url (or COUNTERSIGN_BASE_URL) is missing")
    parts = urlsplit(given)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise ValueError("base_url is no address of http or https")
    if parts.username is not None or parts.password is not None:
        raise ValueError("base_url must not hold a password")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
