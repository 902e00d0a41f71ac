"""The canonical JSON of RFC 8785: one text for each value. Its SHA-256 is the `payload_hash` of a token."""

from __future__ import annotations

import json
import math
from typing import Any

from .strict_json import EXPONENT_FROM, MAX_SAFE_INTEGER, JsonError, has_lone_surrogate, parse_json

# Far above what the service accepts, and it ends a cycle before Python's limit of 1,000 calls: a level takes two.
MAX_DEPTH = 200


def canonicalize(value: Any) -> str:
    """The canonical text of dicts, lists, tuples, texts, numbers, booleans and None.

    Raises:
        JsonError: for what I-JSON can't express: NaN and infinities, integers that a double rounds, lone surrogates,
            names that are no texts, values of other types, cycles.
    """
    return _write(value, 0)


def canonicalize_json(source: str | bytes | bytearray, *, max_depth: int = 32) -> str:
    """The canonical form of a JSON text. Raises JsonError."""
    return canonicalize(parse_json(source, max_depth=max_depth))


def _write(value: Any, depth: int) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _write_text(value)
    if isinstance(value, (int, float)):
        return _write_number(value)
    if not isinstance(value, (dict, list, tuple)):
        raise JsonError("malformed")
    if depth >= MAX_DEPTH:
        raise JsonError("too_deep")
    if not isinstance(value, dict):
        return f"[{','.join(_write(element, depth + 1) for element in value)}]"
    if not all(isinstance(name, str) for name in value):
        raise JsonError("malformed")
    # RFC 8785 3.2.3: names in the order of their UTF-16 code units.
    names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return f"{{{','.join(f'{_write_text(name)}:{_write(value[name], depth + 1)}' for name in names)}}}"


def _write_text(text: str) -> str:
    if has_lone_surrogate(text):
        raise JsonError("lone_surrogate")
    # JSON of Python escapes what RFC 8785 3.2.2.2 escapes, in the same form, when it keeps what is not ASCII.
    return json.dumps(str(text), ensure_ascii=False)


def _write_number(number: int | float) -> str:
    if isinstance(number, int):
        if abs(number) > MAX_SAFE_INTEGER:
            raise JsonError("number_out_of_range")
        return str(int(number))
    if not math.isfinite(number):
        raise JsonError("number_out_of_range")
    if number.is_integer() and MAX_SAFE_INTEGER < abs(number) < EXPONENT_FROM:
        raise JsonError("number_out_of_range")
    return _shortest(number)


def _shortest(number: float) -> str:
    """As ECMAScript writes a number (RFC 8785 3.2.2.3). `repr` finds the same digits and sets the point elsewhere."""
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The number is 0.DIGITS times ten to the power of `point`.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        if len(digits) <= point:
            return sign + digits + "0" * (point - len(digits))
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if power > 0 else '-'}{abs(power)}"
