# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of published tables: their arithmetic is repeated, and their text is compared with their figures."""

import csv

from raidtrace.compare.comparison import UNITS, Check, FigurePair, Figures, normal, percent_of
from raidtrace.published import tables as published
from raidtrace.quantity.shown import UserError

TABLES = {file.removesuffix(".csv"): name for name, file in published.FILES.items()}
WORDS = published.DIRECTORY / "amcc-9500s-2004-words.csv"
DD_MIB = 20480  # MiB that each dd of the white paper moved
CALTECH_ACCURACY = 10.0  # MB/s in either direction, according to the page


def find(name: str) -> str:
    """The short name of a table. Raises UserError: there is no such table."""
    if name in TABLES:
        return TABLES[name]
    if name in published.FILES:
        return name
    raise UserError(f"unknown published table {name}; known tables: {', '.join(TABLES)}")


def own(table: str) -> tuple[list[FigurePair], list[Check]]:
    """The comparisons within a table, and the checks of its words."""
    if table == "amcc":
        return _tuned(), [*_seconds(), *_words()]
    if table == "caltech":
        return _steps(), _ranges()
    if table == "coraid":
        return _frames(), []
    return _blocks(), []


def _tuned() -> list[FigurePair]:
    """Tuned compared with untuned: each of the tests 4, 6, 8, ... with the test before it."""
    by_test: dict[tuple[str, int, str], list[published.Row]] = {}
    for one in published.rows("amcc"):
        by_test.setdefault((one["array"], int(one["test"]), one["metric"]), []).append(one)
    rows = []
    for (array, test, metric), low in by_test.items():
        high = by_test.get((array, test + 1, metric))
        if test in (3, 5, 7, 9, 11, 13) and high:
            key = (
                ("array", array),
                ("tool", high[0]["tool"]),
                ("filesystem", high[0]["filesystem"]),
                ("metric", metric),
            )
            rows.append(FigurePair(key, _trials(low, "setra 256"), _trials(high, "setra 16384")))
    return rows


def _trials(rows: list[published.Row], note: str) -> Figures:
    return normal([float(row["value"]) for row in rows], rows[0]["unit"], note)


def _seconds() -> list[Check]:
    """Checks of dd: bytes divided by seconds give the printed rate, if MB are MiB."""
    checks = []
    for row in published.rows("amcc"):
        if row["seconds"]:
            made = DD_MIB / float(row["seconds"])
            printed = f"{float(row['value']):.1f} MB/s in {row['seconds']} s"
            claim = f"{row['array']} dd {row['metric']}, trial {row['trial']}: {printed}"
            agrees = abs(made / float(row["value"]) - 1) < 0.001
            checks.append(Check(claim, f"{made:.1f} MiB/s, {made * 1.048576:.1f} MB/s", agrees))
    return checks


def _words() -> list[Check]:
    """Checks of the statements in the white paper against its tables."""
    with WORDS.open(encoding="utf-8", newline="") as file:
        claims = list(csv.DictReader(file))
    return [_increase(row) if row["over_test"] else _rate(row) for row in claims]


def _value(array: str, test: str, trial: str, metric: str) -> tuple[float, str]:
    for row in published.rows("amcc"):
        if (row["array"], row["test"], row["trial"], row["metric"]) == (array, test, trial, metric):
            return float(row["value"]), row["unit"]
    raise ValueError(f"no row {array} {test} {trial} {metric}")


def _increase(row: dict[str, str]) -> Check:
    high, _ = _value(row["array"], row["test"], row["trial"], row["metric"])
    low, _ = _value(row["array"], row["over_test"], row["over_trial"], row["metric"])
    ratio = high / low
    text = f"{low:,.0f} -> {high:,.0f} KiB/s is a ratio of {ratio:.2f}, an increase of {percent_of(ratio):.0f} %"
    return Check(f"\"{row['words']}\"", text, abs(percent_of(ratio) - float(row["said"])) < 0.5)


def _rate(row: dict[str, str]) -> Check:
    value, unit = _value(row["array"], row["test"], row["trial"], row["metric"])
    kib = value * UNITS[unit]
    real = kib / UNITS["MB/s"]
    printed = value if unit == "MiB/s" else kib / 1000
    how = unit if unit == "MiB/s" else "KiB/s divided by 1000"
    cut = "" if f"{printed:.1f}" == row["said"] else f", {printed:.1f}, truncated instead of rounded"
    text = f"{value:,.1f} {unit}: {kib / 1024:.1f} MiB/s or {real:.1f} MB/s; the paper prints {how}{cut}"
    return Check(f"\"{row['words']}\"", text, abs(real - float(row["said"])) < 0.05)


def _ranges() -> list[Check]:
    """Checks of ranges: the page states an accuracy of 10 MB/s in either direction."""
    checks = []
    for row in published.rows("caltech"):
        width = float(row["high"]) - float(row["low"])
        if width > 2 * CALTECH_ACCURACY:
            claim = (
                f"step {row['step']} {row['filesystem']} {row['metric']}, chunk {row['md_chunk_kib']} KiB: +/- 10 MB/s"
            )
            checks.append(Check(claim, f"{row['low']} to {row['high']}, +/- {width / 2:.0f} MB/s", False))
    return checks


def _steps() -> list[FigurePair]:
    """Each change of the Caltech page compared with the state before it, for xfs and a chunk of 512 KiB."""
    rows = []
    alike = [r for r in published.rows("caltech") if (r["filesystem"], r["md_chunk_kib"]) == ("xfs", "512")]
    first = {(r["step"], r["metric"]): r for r in reversed(alike)}
    steps = sorted({int(step) for step, _ in first})
    for before, after in zip(steps, steps[1:]):
        for metric in ("read", "write"):
            a, b = first.get((str(before), metric)), first.get((str(after), metric))
            if a and b:
                key = (("step", f"{before} to {after}"), ("change", b["change"]), ("metric", metric))
                rows.append(FigurePair(key, _caltech(a), _caltech(b)))
    return rows


def _caltech(row: published.Row) -> Figures:
    return Figures(tuple(sorted({float(row["low"]) * 1000, float(row["high"]) * 1000})), "KiB/s")


def _frames() -> list[FigurePair]:
    """Coraid: large frames compared with those of 1500 bytes."""
    by = {(r["appliance"], r["mtu"], r["array"], r["disks"], r["metric"]): r for r in published.rows("coraid")}
    rows = []
    for (appliance, mtu, array, disks, metric), row in by.items():
        small = by.get((appliance, "1500", array, disks, metric))
        if mtu != "1500" and small:
            key = (("appliance", appliance), ("array", f"{array} of {disks}"), ("metric", metric))
            rows.append(FigurePair(key, normal((float(small["value"]),), "KiB/s", "MTU 1500"),
                                   normal((float(row["value"]),), "KiB/s", f"MTU {mtu}")))  # fmt: skip
    return rows


def _blocks() -> list[FigurePair]:
    """The HOWTO: ext2 blocks of 4 KiB compared with those of 1 KiB."""
    by = {(r["level"], r["tcq"], r["chunk_kib"], r["fs_block_kib"], r["metric"]): r for r in published.rows("howto")}
    rows = []
    for (level, tcq, chunk, block, metric), row in by.items():
        large = by.get((level, tcq, chunk, "4", metric))
        if block == "1" and large:
            key = (("level", level), ("chunk", f"{chunk} KiB"), ("metric", metric))
            rows.append(FigurePair(key, normal((float(row["value"]),), "K/sec", "1 KiB"),
                                   normal((float(large["value"]),), "K/sec", "4 KiB")))  # fmt: skip
    return rows
