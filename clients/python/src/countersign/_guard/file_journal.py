"""A journal in a file: one line of JSON for each note, on the disk before `append` returns.

Two processes can't use one file. A process takes the file over with a line `opened`, and reads what stands before it. Each append
of another process then finds a file that grew without it, or was replaced, and fails before its action starts. So what the new
process reads as never started can't start any more. Where the processes of the machine can be asked (Linux), the file of a process
that is alive is refused instead.
"""

from __future__ import annotations

import json
import os
import threading
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from .journal import JournalEntry, JournalError, is_entry

# Larger files are rewritten with the notes of open actions alone.
_MAX_BYTES = 4 * 1024 * 1024
_OWNER_ONLY = 0o600
_BINARY = getattr(os, "O_BINARY", 0)


@dataclass
class _Opened:
    descriptor: int
    inode: int
    end: int
    """Bytes that this process knows."""
    max_bytes: int
    pid: int


class FileJournal:
    """The journal in the file of a path. Threads can share it; `close()` lets another process open the file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # The program may enter another folder before the file is opened.
        self._path = os.path.abspath(path)
        self._by = str(uuid.uuid4())
        self._entries: dict[str, list[JournalEntry]] = {}
        self._file: _Opened | None = None
        # A note that was written in part, or that may not be on the disk.
        self._is_torn = False
        self._is_taken = False
        self._copies = 0
        self._lock = threading.Lock()

    def append(self, entry: JournalEntry, /) -> None:
        with self._turn():
            self._write(entry)
            self._keep(entry)

    def read(self) -> list[JournalEntry]:
        with self._turn():
            self._file = self._file or self._open()
            return [entry for entries in self._entries.values() for entry in entries]

    def close(self) -> None:
        with self._turn():
            if self._file is not None:
                self._write({"holding": "released", "by": self._by})
                os.close(self._file.descriptor)
                self._file = None
                self._entries.clear()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock:
            if self._is_taken:
                raise self._taken_over()
            if self._file is not None and self._file.pid != os.getpid():
                raise JournalError(f"{self._path} belongs to the process before the fork: open another file after it")
            try:
                yield
            except OSError as error:
                raise JournalError(f"{self._path} could not be written or read: {error.strerror}") from error

    def _open(self) -> _Opened:
        self._entries.clear()
        self._refuse_holder()
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _BINARY, _OWNER_ONLY)
        try:
            # A last line without an end becomes unreadable, also where its end alone is missing.
            _write_all(descriptor, b"~\n" + _line_of(self._opening()))
        finally:
            os.close(descriptor)
        lines = _parse_lines(self._path, _read(self._path))
        own = [index for index, line in enumerate(lines) if line.get("holding") and line.get("by") == self._by]
        if not own:
            raise self._taken_over()
        for line in lines[: own[-1]]:
            if is_entry(line):
                self._keep(line)
        return self._rewrite()

    def _rewrite(self) -> _Opened:
        """Replaces the file by one with the notes of open actions."""
        self._copies += 1
        copy = f"{self._path}.{self._by}.{self._copies}"
        entries = [entry for entries in self._entries.values() for entry in entries]
        content = b"".join(_line_of(line) for line in [self._opening(), *entries])
        try:
            _write_durably(copy, content)
            # Windows renames no file that is open.
            if self._file is not None:
                os.close(self._file.descriptor)
                self._file = None
            os.replace(copy, self._path)
        except OSError:
            with suppress(OSError):
                os.unlink(copy)
            raise
        _sync_folder(self._path)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | _BINARY)
        self._is_torn = False
        max_bytes = max(_MAX_BYTES, 2 * len(content))
        return _Opened(descriptor, os.fstat(descriptor).st_ino, len(content), max_bytes, os.getpid())

    def _opening(self) -> dict[str, Any]:
        pid = os.getpid()
        return {"holding": "opened", "by": self._by, "pid": pid, "process": _process_of(pid)}

    def _write(self, line: Mapping[str, Any]) -> None:
        file = self._file = self._file or self._open()
        if self._is_torn or file.end > file.max_bytes:
            self._check_owner(file, b'"holding":"opened"' not in _read(self._path)[file.end :])
            file = self._file = self._rewrite()
        content = _line_of(line)
        self._is_torn = True
        _write_all(file.descriptor, content)
        os.fsync(file.descriptor)
        size = os.fstat(file.descriptor).st_size
        self._check_owner(file, size == file.end + len(content))
        file.end = size
        self._is_torn = False

    def _check_owner(self, file: _Opened, is_alone: bool) -> None:
        """@raises JournalError: where another process has opened or replaced the file."""
        try:
            inode = os.stat(self._path).st_ino
        except FileNotFoundError:
            inode = None
        if not is_alone or inode != file.inode:
            self._is_taken = True
            raise self._taken_over()

    def _taken_over(self) -> JournalError:
        return JournalError(f"{self._path} was replaced, or another process has opened it")

    def _refuse_holder(self) -> None:
        """@raises JournalError: where the process that has opened the file is alive."""
        try:
            lines = _parse_lines(self._path, _read(self._path))
        except FileNotFoundError:
            return
        last: dict[str, Any] = next((line for line in reversed(lines) if "holding" in line), {})
        pid, process = last.get("pid"), last.get("process")
        if last.get("holding") != "opened" or last.get("by") == self._by or process is None:
            return
        if _process_of(pid) == process:
            raise JournalError(f"process {pid} uses {self._path}: give each process a file of its own")

    def _keep(self, entry: JournalEntry) -> None:
        if entry["step"] == "closed":
            self._entries.pop(entry["jti"], None)
        else:
            self._entries.setdefault(entry["jti"], []).append(entry)


def _line_of(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _parse_lines(path: str, content: bytes) -> list[dict[str, Any]]:
    """@raises JournalError: for a damaged line, which may have been a note that an action started."""
    # A last line without an end was not written to its end, so what it notes did not happen.
    lines = [_parse_line(line) for line in content.split(b"\n")[:-1]]
    for index, line in enumerate(lines):
        # The same, where a process has opened the file since, or could not for want of space.
        if line is None:
            after = next((later for later in lines[index:] if later is not None), None)
            if after is not None and "holding" not in after:
                raise JournalError(f"{path} is damaged: line {index + 1} is no note")
    return [line for line in lines if line is not None]


def _parse_line(line: bytes) -> dict[str, Any] | None:
    try:
        value: Any = json.loads(line)
    except ValueError:
        return None
    is_holding = isinstance(value, dict) and isinstance(value.get("holding"), str)
    return dict(value) if is_holding or is_entry(value) else None


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _write_durably(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, _OWNER_ONLY)
    try:
        _write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _process_of(pid: Any) -> str | None:
    """The boot and the time of its start; None where there is no such process, or the machine does not tell."""
    try:
        boot = _read("/proc/sys/kernel/random/boot_id").decode().strip()
        stat = _read(f"/proc/{pid}/stat").decode("utf-8", "replace")
    except OSError:
        return None
    # proc_pid_stat(5): the name, which may contain anything, is in parentheses; field 3 is the state and field 22 the start.
    fields = stat[stat.rindex(")") + 2 :].split(" ")
    return None if fields[0] in ("Z", "X") else f"{boot}/{fields[19]}"


def _sync_folder(path: str) -> None:
    """Otherwise a crash of the machine may undo the rename. Windows opens no folders."""
    with suppress(OSError):
        descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_shared: dict[str, FileJournal] = {}
_shared_lock = threading.Lock()


def shared_file_journal(path: str | os.PathLike[str]) -> FileJournal:
    """The same journal for each caller in this process, and another one after a fork."""
    key = f"{os.getpid()} {os.path.abspath(path)}"
    with _shared_lock:
        return _shared.setdefault(key, FileJournal(path))
