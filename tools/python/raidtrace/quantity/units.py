# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers with their units, as all verbs print them, and sizes as users write them ("20480 MiB", "20G", "40 x RAM").

tools/raidctl/base/units.c prints live numbers in the same format.
"""

import re
from collections.abc import Callable, Mapping

from raidtrace.quantity.shown import UserError

_UNITS = {
    "": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
    "t": 1 << 40, "tib": 1 << 40, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
}  # fmt: skip
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)
_TIMES = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*x\s*RAM\s*", re.IGNORECASE)
MIB = 1 << 20
SECTOR_BYTES = 512


def times_ram(text: str) -> float | None:
    """The factor of "40 x RAM". None for any other text."""
    match = _TIMES.fullmatch(text)
    return float(match[1]) if match else None


def parse_size(text: str, ram_bytes: int | None = None) -> int:
    """A size in bytes, more than 0. K, M, G, T and KiB ... are powers of 1024; kB, MB, GB and TB are powers of 1000.

    ram_bytes: the value of RAM; a multiple of it is rounded up to whole MiB. Raises UserError.
    """
    times = times_ram(text)
    if times is not None:
        if ram_bytes is None:
            raise UserError(f"{text!r}: a multiple of RAM is not possible here; give a size")
        size = -(-int(times * ram_bytes) // MIB) * MIB
    else:
        match = _SIZE.fullmatch(text)
        if not match or match[2].lower() not in _UNITS:
            raise UserError(f"{text!r} is not a size; write for example 20480MiB, 20G, 20GB or 40xRAM")
        size = int(float(match[1]) * _UNITS[match[2].lower()])
    if size <= 0:
        raise UserError(f"{text!r} is not a size: it must be more than 0")
    return size


_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """The seconds of a text such as "100ms", "2s" or "1.5m"; a number without a unit is seconds. Raises ValueError."""
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)(ms|[smh]?)", text, re.ASCII)
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not 0 < seconds < 100 * 365 * 86400:
        raise ValueError(f"{text} is not a time; give one such as 500ms, 2s or 1m")
    return seconds


def exact_size(size: int) -> str:
    """The shortest exact text of a number of bytes: "20 GiB", "1536 KiB"."""
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % factor == 0 and size:
            return f"{size // factor} {unit}"
    return f"{size} bytes"


def octets(value: float) -> str:
    """Bytes as format_bytes() of base/units.c prints them: whole numbers unchanged, others with three significant
    digits."""
    names = iter(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    name = next(names)
    while value >= 1023.5 and name != "EiB":
        value, name = value / 1024, next(names)
    return f"{value:.0f} {name}" if value == int(value) else f"{three(value)} {name}"


def three(value: float) -> str:
    """Three significant digits, or all digits before the point if there are more."""
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def significant(value: float) -> str:
    """Three significant digits, also for small numbers, or all digits before the point. There is no exponent."""
    return f"{value:.0f}" if value >= 999.5 else f"{value:.3g}"


def ratio(part: float | None, whole: float | None, unit: float = 1.0) -> float | None:
    """The quotient part / whole / unit. None: one is not known, or `whole` is 0."""
    return None if part is None or not whole else float(part) / float(whole) / unit


def plural(number: int) -> str:
    """The plural ending for a number."""
    return "" if number == 1 else "s"


def ns(value: float) -> str:
    """A time in ns with three digits and a unit: "1.25 ms"."""
    if value < 999.5:
        return f"{value:.0f} ns"
    for limit, scale, unit in ((999.5e3, 1e3, "us"), (999.5e6, 1e6, "ms")):
        if value < limit:
            return f"{three(value / scale)} {unit}"
    return f"{three(value / 1e9)} s"


def count(value: int) -> str:
    """A number with digits in groups of three."""
    return f"{value:,}"


def sectors(value: int) -> str:
    """Sectors as bytes and as a number: "128 KiB (256 sectors)"."""
    return f"{octets(float(value) * SECTOR_BYTES)} ({value} sectors)"


def share(part: float, whole: float) -> str:
    """A share in per cent. Only the whole is printed as 100.0 %, and only nothing as 0.0 %. "n/a": `whole` is 0."""
    if whole <= 0:
        return "n/a"
    percent = 100 * float(part) / float(whole)
    if part < whole and percent >= 99.95:
        percent = 99.9
    return "<0.1 %" if part > 0 and percent < 0.05 else f"{percent:.1f} %"


PRINT: Mapping[str, Callable[[float], str]] = {  # unit of a quantity -> its value as text
    "count": lambda value: count(int(value)),
    "bytes": octets,
    "sectors": lambda value: octets(value * SECTOR_BYTES),
    "IOPS": lambda value: f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}",
    "MiB/s": lambda value: f"{value:.1f} MiB/s",
    "depth": lambda value: f"{value:.2f}",
    "share": lambda value: share(value, 1),
    "ns": ns,
}


def text(unit: str, value: float | None) -> str:
    """A value with its unit. None: "n/a"."""
    return "n/a" if value is None else PRINT[unit](value)
