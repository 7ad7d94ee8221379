# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers with their units, as every verb prints them; tools/raidctl/base/units.c has the same for what is live."""

from collections.abc import Callable, Mapping

from raidtrace.quantity.size import short, three

SECTOR_BYTES = 512


def ratio(part: float | None, whole: float | None, unit: float = 1.0) -> float | None:
    """A quotient in a unit. None: one is not known, or `whole` is 0."""
    return None if part is None or not whole else float(part) / float(whole) / unit


def plural(number: int) -> str:
    """The end of the word for so many things."""
    return "" if number == 1 else "s"


def octets(value: float) -> str:
    """Three digits and a binary unit: "128 KiB", "1.50 GiB"."""
    return short(value)


def ns(value: float) -> str:
    """Three digits and a unit of time: "1.25 ms"."""
    if value < 999.5:
        return f"{value:.0f} ns"
    for limit, scale, unit in ((999.5e3, 1e3, "us"), (999.5e6, 1e6, "ms")):
        if value < limit:
            return f"{three(value / scale)} {unit}"
    return f"{three(value / 1e9)} s"


def count(value: int) -> str:
    """Digits in groups of three."""
    return f"{value:,}"


def sectors(value: int) -> str:
    """Bytes, and the number of sectors: "128 KiB (256 sectors)"."""
    return f"{short(float(value) * SECTOR_BYTES)} ({value} sectors)"


def share(part: float, whole: float) -> str:
    """A part in per cent. 100.0 % is printed for all of it only, 0.0 % for none of it only. "n/a": `whole` is 0."""
    if whole <= 0:
        return "n/a"
    percent = 100 * float(part) / float(whole)
    if part < whole and percent >= 99.95:
        percent = 99.9
    return "<0.1 %" if part > 0 and percent < 0.05 else f"{percent:.1f} %"


PRINT: Mapping[str, Callable[[float], str]] = {  # unit of a quantity -> its value as text
    "count": lambda value: count(int(value)),
    "bytes": short,
    "sectors": lambda value: short(value * SECTOR_BYTES),
    "IOPS": lambda value: f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}",
    "MiB/s": lambda value: f"{value:.1f} MiB/s",
    "depth": lambda value: f"{value:.2f}",
    "share": lambda value: share(value, 1),
    "ns": ns,
}


def text(unit: str, value: float | None) -> str:
    """A value with its unit; None is "n/a"."""
    return "n/a" if value is None else PRINT[unit](value)
