"""A real server for each test, which keeps what arrived."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Iterator, Mapping

import pytest

API_KEY = "svc_test_S3cretS3cretS3cretS3cretS3cretS3"


@dataclass
class Arrived:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Answer:
    status: int = 200
    json: Any = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Server:
    url: str
    answer: Callable[[Arrived], Answer]
    """A test puts its own here."""
    arrived: list[Arrived] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            arrived = Arrived(self.command, self.path, {**self.headers}, self.read_body())
            made.arrived.append(arrived)
            answer = made.answer(arrived)
            body = answer.body if answer.body is not None else json.dumps(answer.json).encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            # A test may leave before the end.
            with suppress(ConnectionError):
                self.wfile.write(body)

        def read_body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = b""
            # A sender that breaks off leaves an empty line.
            while size := int(self.rfile.readline() or b"0", 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Server(f"http://127.0.0.1:{http.server_address[1]}", lambda _arrived: Answer(json={}))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    http.shutdown()
    thread.join()
    http.server_close()
