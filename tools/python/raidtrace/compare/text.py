# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison as text and as JSON."""

import dataclasses
import json
from collections.abc import Container, Sequence

from raidtrace.compare import spans as compare_spans
from raidtrace.compare.comparison import KIB_PER_S, Figures, Row, text, unlike
from raidtrace.compare.paper import Check
from raidtrace.compare.spans import Comparison
from raidtrace.explain.evidence import wrap
from raidtrace.quantity import terminal, units

VERSION = 1
MOST_NOTES = 8
HEADER = ("", "A", "B", "ratio", "percent", "A +-", "B +-", "real")
LEGEND = """Percent: B minus A, of A. A +-, B +-: spread, largest minus
smallest trial, of the median. Real: the trials of A and B do not overlap, and chance makes as
large a difference in at most 5 of 100 cases; ? one trial each; x not the same test."""
MORE = "Every counter of both: raidctl compare -v. What explains the difference: raidctl explain."


@dataclasses.dataclass(frozen=True)
class Compared:
    """A comparison. a, b: names of the sides; checks: of words with figures; notes: what to keep in mind; published: one of
    them or both are a published table, with rates in KiB/s. spans: the differences and all counters of two recordings; the
    text has the counters if it is verbose."""

    a: str
    b: str
    rows: tuple[Row, ...]
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    published: bool = False
    spans: Comparison | None = None
    verbose: bool = False

    def to_json(self) -> str:
        """The members are those of the classes; ratio, percent, spreads and whether the difference exceeds them are added."""
        rows = [
            {"key": dict(row.key), "unit": row.a.unit, "a": _side(row.a), "b": _side(row.b), "ratio": row.ratio(),
             "percent": row.percent(), "exceeds-spread": row.exceeds(), "same-test": row.same_test(),
             "differs": [dataclasses.asdict(one) for one in row.differs()]}
            for row in self.rows
        ]  # fmt: skip
        checks = [dataclasses.asdict(check) for check in self.checks]
        whole = {
            "version": VERSION,
            "a": self.a,
            "b": self.b,
            "rows": rows,
            "checks": checks,
            "notes": list(self.notes),
        }
        if self.spans:
            whole |= {name: value for name, value in self.spans.members().items() if name not in whole}
        return json.dumps(whole, indent=1, ensure_ascii=False)


def _side(figures: Figures) -> dict[str, object]:
    return {"values": list(figures.values), "median": figures.middle(), "spread-percent": figures.spread_percent(),
            "note": figures.note}  # fmt: skip


def lines(compared: Compared, width: int) -> list[str]:
    """Text of at most so many columns, where names allow."""
    out = [*wrap(f"A: {compared.a}", width, "", "   "), *wrap(f"B: {compared.b}", width, "", "   ")]
    if compared.rows:
        alike = _alike(compared.rows)
        sentence = ", ".join(f"{name} {value}" for name, value in alike.items() if value)
        out += wrap(f"All: {sentence}", width, "", "   ") if sentence else []
        names = dict.fromkeys(name for row in compared.rows for name, value in row.key if value and name not in alike)
        out += [*wrap(f"Rows: {', '.join(names)}", width, "", "   "), ""]
        rows = [_row(row, alike, compared.published) for row in compared.rows]
        legend = f"Rates in {KIB_PER_S if compared.published else 'MiB/s'}. {LEGEND}"
        out += [*terminal.table([HEADER, *rows], columns=width), "", *wrap(legend, width)]
        for sentence in unlike(compared.rows):
            out += wrap(sentence, width)
    if compared.checks:
        out += ["", "Words and figures:"]
        for check in compared.checks:
            out += wrap(f"{check.said}: {check.found}", width, "  = " if check.agrees else "  x ", "    ")
        wrong = sum(not check.agrees for check in compared.checks)
        out += ["", f"{len(compared.checks) - wrong} agree (=), {wrong} disagree (x)."]
    for note in compared.notes[:MOST_NOTES]:
        out += wrap(note, width)
    more = len(compared.notes) - MOST_NOTES
    out += [f"and {more} more notes; --json has all."] if more > 0 else []
    if compared.spans:
        out += ["", *compare_spans.differences(compared.spans, width)]
        out += compare_spans.counters(compared.spans) if compared.verbose else ["", *wrap(MORE, width)]
    return out


def _alike(rows: Sequence[Row]) -> dict[str, str]:
    """Parts of the key that are the same in all rows."""
    if len(rows) < 2:
        return {}
    names = dict.fromkeys(name for row in rows for name, _ in row.key)
    values = {name: {dict(row.key).get(name) for row in rows} for name in names}
    return {name: str(distinct.pop() or "") for name, distinct in values.items() if len(distinct) == 1}


def _row(row: Row, alike: Container[str], published: bool) -> list[str]:
    ratio, percent, exceeds = row.ratio(), row.percent(), row.exceeds()
    unit, numbers = _shown(row, published)
    return [
        text([part for part in row.key if part[0] not in alike]) + unit, *numbers,
        "-" if ratio is None else f"{ratio:.2f}", "-" if percent is None else f"{percent:+.1f}%", _spread(row.a),
        _spread(row.b), {True: "yes", False: "no", None: "?"}[exceeds] if row.same_test() else "x",
    ]  # fmt: skip


def _shown(row: Row, published: bool) -> tuple[str, list[str]]:
    """Unit and medians, as report prints them; of a published table in its own unit."""
    both = (row.a.middle(), row.b.middle())
    if row.a.unit == KIB_PER_S and published:
        return "", [f"{value:,.0f}" for value in both]
    if row.a.unit == KIB_PER_S:
        return "", [f"{value / 1024:,.1f}" for value in both]
    if row.a.unit in ("ms", "KiB"):
        return f" ({row.a.unit})", [units.three(value) for value in both]
    return f" ({row.a.unit})", [_number(value) for value in both]


def _spread(figures: Figures) -> str:
    spread = figures.spread_percent()
    return "-" if spread is None else f"{spread:.1f}%"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.2f}"
