"""Parses I-JSON (RFC 7493): what two parsers could read differently is refused. `json.loads` keeps the last of two equal names
and knows integers of any size, so that a signature over the text would cover another value than the one that is read.
"""

from __future__ import annotations

import json
import re
from typing import Any, Mapping, TypeAlias, Union

Json: TypeAlias = Union[None, bool, int, float, str, "list[Json]", "dict[str, Json]"]

MAX_SAFE_INTEGER = 2**53 - 1
# From here on RFC 8785 writes an exponent.
EXPONENT_FROM = 1e21


class JsonError(ValueError):
    """A text or value that I-JSON can't express."""

    code: str
    """malformed, invalid_utf8, duplicate_key, lone_surrogate, number_out_of_range or too_deep."""
    offset: int | None
    """In characters of the text."""

    def __init__(self, code: str, offset: int | None = None) -> None:
        super().__init__(code if offset is None else f"{code} at offset {offset}")
        self.code = code
        self.offset = offset


def parse_json(source: str | bytes | bytearray, *, max_depth: int = 32) -> Json:
    """@param max_depth: of nested objects and arrays: 1 allows `[]`. @raises JsonError"""
    text = source if isinstance(source, str) else _decode(bytes(source))
    scan = _Scan(text, max_depth)
    scan.skip_space()
    value = scan.read_value(0)
    scan.skip_space()
    if scan.at < len(text):
        raise JsonError("malformed", scan.at)
    return value


def _decode(source: bytes) -> str:
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError:
        pass
    raise JsonError("invalid_utf8")


def has_lone_surrogate(text: str) -> bool:
    """Half of a character beyond U+FFFF, which UTF-8 can't express."""
    return any("\ud800" <= character <= "\udfff" for character in text)


_WORDS: Mapping[str, Any] = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_SPACE = re.compile(r"[ \n\r\t]*")


class _Scan:
    def __init__(self, text: str, max_depth: int) -> None:
        self.text = text
        self.max_depth = max_depth
        self.at = 0

    def skip_space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def read_value(self, depth: int) -> Json:
        first = self.text[self.at : self.at + 1]
        if first in ("{", "["):
            if depth >= self.max_depth:
                raise JsonError("too_deep", self.at)
            return self._read_object(depth + 1) if first == "{" else self._read_array(depth + 1)
        if first == '"':
            return self._read_string()
        for word, value in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                parsed: Json = value
                return parsed
        return self._read_number()

    def _read_object(self, depth: int) -> Json:
        members: dict[str, Json] = {}
        self.at += 1
        if self._is_next("}"):
            return members
        while True:
            self.skip_space()
            name_at = self.at
            if self.text[name_at : name_at + 1] != '"':
                raise JsonError("malformed", name_at)
            name = self._read_string()
            if name in members:
                raise JsonError("duplicate_key", name_at)
            if not self._is_next(":"):
                raise JsonError("malformed", self.at)
            self.skip_space()
            members[name] = self.read_value(depth)
            if not self._is_next(","):
                break
        if not self._is_next("}"):
            raise JsonError("malformed", self.at)
        return members

    def _read_array(self, depth: int) -> Json:
        elements: list[Json] = []
        self.at += 1
        if self._is_next("]"):
            return elements
        while True:
            self.skip_space()
            elements.append(self.read_value(depth))
            if not self._is_next(","):
                break
        if not self._is_next("]"):
            raise JsonError("malformed", self.at)
        return elements

    def _is_next(self, character: str) -> bool:
        """Skips white space, and the character if it comes next."""
        self.skip_space()
        if self.text[self.at : self.at + 1] != character:
            return False
        self.at += 1
        return True

    def _read_string(self) -> str:
        start = self.at
        at = start + 1
        while True:
            plain = _PLAIN.match(self.text, at)
            at = plain.end() if plain else at
            character = self.text[at : at + 1]
            if character == '"':
                break
            escape = _ESCAPE.match(self.text, at) if character == "\\" else None
            if escape is None:
                raise JsonError("malformed", at)
            at = escape.end()
        self.at = at + 1
        value: str = json.loads(self.text[start : self.at])
        if has_lone_surrogate(value):
            raise JsonError("lone_surrogate", start)
        return value

    def _read_number(self) -> int | float:
        found = _NUMBER.match(self.text, self.at)
        if found is None:
            raise JsonError("malformed", self.at)
        literal = found.group()
        is_float = found.group(1) is not None or found.group(2) is not None
        value = float(literal)
        if not _is_portable(value, literal, is_float):
            raise JsonError("number_out_of_range", self.at)
        self.at = found.end()
        return value if is_float else int(literal)


def _is_portable(value: float, literal: str, is_float: bool) -> bool:
    """RFC 7493 2.2: a double has no exact place for other integers."""
    # 1e-400 is not 0: an amount must not vanish.
    if value == 0:
        return _digits_of(literal) == ""
    if abs(value) <= MAX_SAFE_INTEGER:
        return True
    is_finite = abs(value) != float("inf")
    return is_float and is_finite and abs(value) >= EXPONENT_FROM and _digits_of(literal) == _digits_of(repr(value))


def _digits_of(literal: str) -> str:
    """Without sign, point, exponent and outer zeros."""
    return re.sub(r"[eE].*", "", literal).replace("-", "").replace(".", "").strip("0")
