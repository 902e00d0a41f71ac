"""A key server for each test, which answers as the test says: it may hang, drip or redirect."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Callable, Iterator

import pytest

Answer = Callable[[socket.socket, threading.Event], None]


class KeyServer:
    """A socket, because a well-behaved server can't send what a hostile one does."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.answer: Answer = lambda connection, ended: None
        self.ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/.well-known/jwks.json"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.ended.set()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            self.requests.append(connection.recv(65536))
            self.answer(connection, self.ended)


@pytest.fixture
def server() -> Iterator[KeyServer]:
    made = KeyServer()
    yield made
    made.close()


def response(body: bytes, status: str = "200 OK", headers: str = "") -> Answer:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode()
    return lambda connection, _ended: connection.sendall(head + body)


def hangs(first: bytes = b"") -> Answer:
    """Sends the first bytes, and nothing after them."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        connection.sendall(first)
        ended.wait()

    return answer


def drips(first: bytes) -> Answer:
    """A byte in time for each time-out of a read, without end."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        connection.sendall(first)
        while not ended.wait(0.05):
            connection.sendall(b" ")

    return answer
