"""Lists of many pages. A loop over one goes through all items; `page()` gets one page."""

from __future__ import annotations

from typing import Any, AsyncIterator, Awaitable, Callable, Generic, Iterator, TypeVar

Item = TypeVar("Item")
Page = TypeVar("Page")


def _next_cursor(page: Any, cursor: str | None) -> str | None:
    """None on the last page, and where the service gives the same cursor again."""
    following: str | None = page.next_cursor if page.has_more else None
    return following if following != cursor else None


class Pages(Generic[Item, Page]):
    """`for item in pages` goes through all items, page after page."""

    def __init__(self, load: Callable[[str | None], Page]) -> None:
        self._load = load

    def page(self) -> Page:
        """The page that the arguments name. Its `next_cursor` is the `cursor` of the next."""
        return self._load(None)

    def pages(self) -> Iterator[Page]:
        """Page by page."""
        cursor: str | None = None
        while True:
            page = self._load(cursor)
            yield page
            cursor = _next_cursor(page, cursor)
            if cursor is None:
                return

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            items: list[Item] = page.data  # type: ignore[attr-defined]
            yield from items


class AsyncPages(Generic[Item, Page]):
    """`async for item in pages` goes through all items, page after page."""

    def __init__(self, load: Callable[[str | None], Awaitable[Page]]) -> None:
        self._load = load

    async def page(self) -> Page:
        """The page that the arguments name. Its `next_cursor` is the `cursor` of the next."""
        return await self._load(None)

    async def pages(self) -> AsyncIterator[Page]:
        """Page by page."""
        cursor: str | None = None
        while True:
            page = await self._load(cursor)
            yield page
            cursor = _next_cursor(page, cursor)
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            items: list[Item] = page.data  # type: ignore[attr-defined]
            for item in items:
                yield item
