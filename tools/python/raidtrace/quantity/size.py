# SPDX-License-Identifier: GPL-2.0-or-later
"""Sizes as people write them: "20480 MiB", "20G", "40 x RAM"; and as raidctl prints them."""

import re

_UNITS = {
    "": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
    "t": 1 << 40, "tib": 1 << 40, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
}  # fmt: skip
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)
_TIMES = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*x\s*RAM\s*", re.IGNORECASE)
MIB = 1 << 20


class SizeError(ValueError):
    """Text that is no size."""


def times_ram(text: str) -> float | None:
    """40 for "40 x RAM"; None for any other text."""
    match = _TIMES.fullmatch(text)
    return float(match[1]) if match else None


def parse(text: str, ram_bytes: int | None = None) -> int:
    """Bytes, more than 0. K, M, G, T and KiB ... are powers of 1024, kB, MB, GB and TB of 1000.

    ram_bytes: what RAM stands for; a multiple of it is rounded up to whole MiB.
    """
    times = times_ram(text)
    if times is not None:
        if ram_bytes is None:
            raise SizeError(f"{text!r}: a multiple of RAM means nothing here; name a size")
        size = -(-int(times * ram_bytes) // MIB) * MIB
    else:
        match = _SIZE.fullmatch(text)
        if not match or match[2].lower() not in _UNITS:
            raise SizeError(f"{text!r} is no size; write 20480 MiB, 20G, 20 GB or 40 x RAM")
        size = int(float(match[1]) * _UNITS[match[2].lower()])
    if size <= 0:
        raise SizeError(f"{text!r} is no size: it must be more than nothing")
    return size


def text(size: int) -> str:
    """The shortest exact text of a number of bytes: "20 GiB", "1536 KiB"."""
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % factor == 0 and size:
            return f"{size // factor} {unit}"
    return f"{size} bytes"


def short(octets: float) -> str:
    """As raidctl prints it (format_bytes() of base/units.c): whole numbers as they are, else three significant digits."""
    units = iter(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    unit = next(units)
    while octets >= 1023.5 and unit != "EiB":
        octets, unit = octets / 1024, next(units)
    return f"{octets:.0f} {unit}" if octets == int(octets) else f"{three(octets)} {unit}"


def three(value: float) -> str:
    """Three significant digits, or all before the point when there are more."""
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def significant(value: float) -> str:
    """Three significant digits, also of small numbers; all before the point when there are more, and never an exponent."""
    return f"{value:.0f}" if value >= 999.5 else f"{value:.3g}"
