"""The two clients: Countersign blocks, AsyncCountersign is awaited."""

from __future__ import annotations

import random as random_module
import time
from types import TracebackType
from typing import Awaitable, Callable

import anyio
import httpx2

from ._async_methods import AsyncGroups
from ._methods import Groups
from ._options import MAX_RETRIES, TIMEOUT_SECONDS, auth_of, base_url_of
from ._transport import AsyncTransport, Settings, Transport


class Countersign(Groups):
    """The client of one account and environment, which its key says. Several threads can share it.

    ```python
    with Countersign() as countersign:
        for claim in countersign.claims.list(risk_status="failed"):
            print(claim.claim_id)
    ```
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        max_retries: int = MAX_RETRIES,
        http_client: httpx2.Client | None = None,
        random: Callable[[], float] = random_module.random,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """
        Args:
            api_key: COUNTERSIGN_API_KEY when absent.
            base_url: The public address of the service, such as `https://api.example.com`. COUNTERSIGN_BASE_URL when absent.
            timeout: Seconds for each attempt.
            max_retries: Attempts after the first. 0 tries once.
            http_client: For proxies and certificates of your own. The caller closes it.
            random: For tests: from 0 up to 1.
            sleep: For tests: waits between attempts.
        """
        settings = Settings(base_url_of(base_url), auth_of(api_key), timeout, max_retries, random)
        self._own_client = httpx2.Client() if http_client is None else None
        client = http_client or self._own_client
        assert client is not None
        super().__init__(Transport(settings, client, sleep))
        self._base_url = settings.base_url

    def close(self) -> None:
        """Closes its connections. It can't be used any more."""
        if self._own_client is not None:
            self._own_client.close()

    def __enter__(self) -> Countersign:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Countersign(base_url={self._base_url!r})"


class AsyncCountersign(AsyncGroups):
    """The client of one account and environment, for programs with asyncio or trio.

    ```python
    async with AsyncCountersign() as countersign:
        async for claim in countersign.claims.list(risk_status="failed"):
            print(claim.claim_id)
    ```
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        max_retries: int = MAX_RETRIES,
        http_client: httpx2.AsyncClient | None = None,
        random: Callable[[], float] = random_module.random,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """
        Args:
            api_key: COUNTERSIGN_API_KEY when absent.
            base_url: The public address of the service, such as `https://api.example.com`. COUNTERSIGN_BASE_URL when absent.
            timeout: Seconds for each attempt.
            max_retries: Attempts after the first. 0 tries once.
            http_client: For proxies and certificates of your own. The caller closes it.
            random: For tests: from 0 up to 1.
            sleep: For tests: waits between attempts.
        """
        settings = Settings(base_url_of(base_url), auth_of(api_key), timeout, max_retries, random)
        self._own_client = httpx2.AsyncClient() if http_client is None else None
        client = http_client or self._own_client
        assert client is not None
        super().__init__(AsyncTransport(settings, client, sleep))
        self._base_url = settings.base_url

    async def aclose(self) -> None:
        """Closes its connections. It can't be used any more."""
        if self._own_client is not None:
            await self._own_client.aclose()

    async def __aenter__(self) -> AsyncCountersign:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"AsyncCountersign(base_url={self._base_url!r})"
