"""Fetches a key set over HTTP, and ends whatever the server does: it may hang, drip bytes, redirect, or never stop sending.

The standard library alone: a program that only verifies installs no HTTP client.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

MAX_BYTES = 1024 * 1024
CHUNK_BYTES = 64 * 1024


def fetch_key_set(url: str, timeout_seconds: float) -> Any:
    """The parsed JSON. Raises for every other answer, and redirects are others: they could lead to keys of anyone."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError("the address of a key set begins with https:// or http://")
    deadline = time.monotonic() + timeout_seconds
    opened: list[HTTPConnection] = []
    # Time-outs of sockets are for each read: a server that sends a byte now and then meets them all.
    watchdog = threading.Timer(timeout_seconds, _interrupt, [opened])
    watchdog.daemon = True
    watchdog.start()
    try:
        request = Request(url, headers={"Accept": "application/json", "Accept-Encoding": "identity"})
        response = _opener(opened).open(request, timeout=timeout_seconds)
        if response is None:
            raise ValueError("nothing opens the address of the key set")
        with response:
            if response.status != 200:
                raise HTTPError(url, response.status, f"the key set answered {response.status}", response.headers, None)
            return json.loads(_read(response, deadline))
    finally:
        watchdog.cancel()


def _read(response: HTTPResponse, deadline: float) -> bytes:
    content = bytearray()
    while chunk := response.read1(CHUNK_BYTES):
        content += chunk
        if len(content) > MAX_BYTES:
            raise ValueError("the key set is too long")
        if time.monotonic() >= deadline:
            raise TimeoutError("the key set took too long")
    if response.length:
        raise ValueError("the key set ended early")
    return bytes(content)


def _interrupt(opened: list[HTTPConnection]) -> None:
    for connection in opened:
        # A read that waits ends at once.
        with suppress(OSError, AttributeError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def _opener(opened: list[HTTPConnection]) -> OpenerDirector:
    """Follows no redirects and opens no files. Proxies are those of the environment."""

    def connect(*args: Any, **options: Any) -> HTTPConnection:
        connection = HTTPConnection(*args, **options)
        opened.append(connection)
        return connection

    def connect_tls(*args: Any, **options: Any) -> HTTPConnection:
        connection = HTTPSConnection(*args, **options)
        opened.append(connection)
        return connection

    class Http(HTTPHandler):
        def http_open(self, req: Request) -> HTTPResponse:
            return self.do_open(connect, req)

    class Https(HTTPSHandler):
        def https_open(self, req: Request) -> HTTPResponse:
            return self.do_open(connect_tls, req, context=ssl.create_default_context())

    opener = OpenerDirector()
    for handler in (ProxyHandler(), Http(), Https()):
        opener.add_handler(handler)
    return opener
