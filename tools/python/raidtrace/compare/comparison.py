# SPDX-License-Identifier: GPL-2.0-or-later
"""Two sets of figures side by side: in one unit, with ratio and per cent, spread, and whether the difference exceeds
it.

Rates become KiB/s. Programs use "MB/s" for several units: old dd prints MiB/s, and bonnie++'s K/sec (KiB/s) is often
divided by 1000. UNITS defines the meaning of each name.
"""

import dataclasses
import json
import statistics
from collections.abc import Container, Iterable, Mapping, Sequence

from raidtrace.benchmark import terms
from raidtrace.benchmark.terms import Difference, Terms
from raidtrace.compare import spans as compare_spans
from raidtrace.compare import times
from raidtrace.compare.spans import Comparison
from raidtrace.explain.evidence import wrap
from raidtrace.quantity import terminal, trials, units
from raidtrace.recording import work

KIB_PER_S = "KiB/s"
UNITS: Mapping[str, float] = {  # KiB/s of one unit
    "KiB/s": 1.0,
    "MiB/s": 1024.0,
    "K/sec": 1.0,  # bonnie++
    "KiB/s / 1000": 1000.0,  # of bonnie++, as papers print it: "MB/s"
    "MB/s": 1e6 / 1024,  # the real unit
    "kB/s": 1e3 / 1024,
}


@dataclasses.dataclass(frozen=True)
class Figures:
    """The trials of one figure in one unit. note: a remark about them. terms: of their test."""

    values: tuple[float, ...]
    unit: str
    note: str = ""
    terms: Terms = dataclasses.field(default_factory=lambda: terms.NONE)

    def middle(self) -> float:
        return statistics.median(self.values)

    def spread_percent(self) -> float | None:
        """(Largest - smallest) / median in per cent. None: one trial, or a median of 0."""
        if len(self.values) < 2 or not self.middle():
            return None
        return 100 * (max(self.values) - min(self.values)) / self.middle()


@dataclasses.dataclass(frozen=True)
class FigurePair:
    """One figure of both sides. key: (name, value) pairs that identify it. published: A is published, so B should be
    the same test. Otherwise a different term may be the subject of the experiment."""

    key: tuple[tuple[str, str], ...]
    a: Figures
    b: Figures
    published: bool = False

    def differs(self) -> tuple[Difference, ...]:
        """The terms in which the two tests differ."""
        return terms.differences(self.a.terms, self.b.terms, dict(self.key).get("phase", ""))

    def same_test(self) -> bool:
        """Whether the two figures are comparable."""
        return terms.same_test(self.differs())

    def ratio(self) -> float | None:
        """B by A. None: A is 0, or A is published and from another test."""
        if not self.a.middle() or (self.published and not self.same_test()):
            return None
        return self.b.middle() / self.a.middle()

    def percent(self) -> float | None:
        """(B - A) / A in per cent. A ratio of 4.66 is 366 %. None: no ratio."""
        ratio = self.ratio()
        return None if ratio is None else percent_of(ratio)

    def exceeds(self) -> bool | None:
        """Whether the difference exceeds the spread. None: the spread is not known (one trial each), or not the same
        test.

        It does if the trials of A and B do not overlap and chance alone causes such a difference in at most 5 of 100
        cases. With three trials each, chance alone separates them in 10 of 100 cases."""
        chance = trials.chance(self.a.values, self.b.values)
        if chance is None or not self.same_test():
            return None
        apart = max(self.a.values) < min(self.b.values) or max(self.b.values) < min(self.a.values)
        return apart and chance <= 1 - trials.CONFIDENCE


@dataclasses.dataclass(frozen=True)
class Check:
    """One statement compared with the table. said: as printed. found: the result from the table. agrees: whether they
    agree."""

    said: str
    found: str
    agrees: bool


def percent_of(ratio: float) -> float:
    """A ratio as a difference in per cent."""
    return 100 * (ratio - 1)


def normal(values: Sequence[float], unit: str, note: str = "", of: Terms = terms.NONE) -> Figures:
    """Figures in KiB/s if the unit is a rate, else unchanged. of: the terms of their test."""
    if unit in UNITS:
        return Figures(tuple(value * UNITS[unit] for value in values), KIB_PER_S, note, of)
    return Figures(tuple(values), unit, note, of)


def pair(a: Mapping[tuple[tuple[str, str], ...], Figures],
         b: Mapping[tuple[tuple[str, str], ...], Figures],
         published: bool = False) -> tuple[list[FigurePair], list[str]]:  # fmt: skip
    """The rows of the figures that both have in the same unit, in the order of a, and texts about all others.
    published: a is a published table."""
    rows = [FigurePair(key, a[key], b[key], published) for key in a if key in b and a[key].unit == b[key].unit]
    left = [f"only A: {text(key)}" for key in a if key not in b]
    left += [f"only B: {text(key)}" for key in b if key not in a]
    left += [f"other units: {text(key)}" for key in a if key in b and a[key].unit != b[key].unit]
    return rows, left


def text(key: Sequence[tuple[str, str]]) -> str:
    return " ".join(value for _, value in key if value)


def unlike(rows: Iterable[FigurePair]) -> list[str]:
    """Sentences about the terms in which the tests of A and B differ, with the rows of each. Terms that make tests
    incomparable come first."""
    by: dict[tuple[bool, str], list[str]] = {}
    for row in rows:
        if row.differs():
            key = (row.same_test(), ", ".join(one.text() for one in row.differs()))
            by.setdefault(key, []).append(dict(row.key).get("phase", "") or text(row.key))
    return [
        f"{'Different terms' if same else 'Not the same test'}: {terms_text}: {', '.join(dict.fromkeys(phases))}."
        for (same, terms_text), phases in sorted(by.items())
    ]


# A comparison as text and as JSON.

VERSION = 1
MAX_NOTES = 8
HEADER = ("", "A", "B", "ratio", "percent", "A +-", "B +-", "real")
LEGEND = """Counted: at the disk; other rows: as the program printed. Percent: (B - A) / A. A +-, B +-: spread of the trials,
(largest - smallest) / median. Real: yes if the trials of A and B do not overlap and chance alone
causes such a difference in at most 5 of 100 cases; ?: one trial each; x: not the same test."""
MORE = "All counters: raidctl compare -v A B. To explain the difference: raidctl explain A B"


@dataclasses.dataclass(frozen=True)
class Compared:
    """A comparison. a, b: names of the sides. checks: of published words. notes: remarks. published: a side is a
    published table, with rates in KiB/s. spans: the differences and all counters of two recordings; verbose: print
    these counters. works: (phase, comparison of the programs' work)."""

    a: str
    b: str
    rows: tuple[FigurePair, ...]
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    published: bool = False
    spans: Comparison | None = None
    verbose: bool = False
    works: tuple[tuple[str, work.Compared], ...] = ()

    def to_json(self) -> str:
        """The comparison as JSON: the members of the classes, with ratio, percent, spreads and whether the difference
        exceeds them."""
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
            "work": [
                {"phase": phase, "kind": one.kind, "time_ratio": one.factor, "sentence": one.sentence()}
                for phase, one in self.works
            ],
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
    """The lines of the text, of at most `width` columns unless a name is longer."""
    out = [*wrap(f"A: {compared.a}", width, "", "   "), *wrap(f"B: {compared.b}", width, "", "   ")]
    for phase, one in compared.works:
        out += wrap((f"{phase}: " if len(compared.works) > 1 else "") + one.sentence(), width)
    if compared.spans:
        out += ["", *times.lines(compared.spans, width)]
    if compared.rows:
        alike = _alike(compared.rows)
        sentence = ", ".join(f"{name} {value}" for name, value in alike.items() if value)
        out += wrap(f"All: {sentence}", width, "", "   ") if sentence else []
        names = dict.fromkeys(name for row in compared.rows for name, value in row.key if value and name not in alike)
        out += [
            *wrap(f"Rows: {', '.join('figure' if name == 'place' else name for name in names)}", width, "", "   "),
            "",
        ]
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
    for note in compared.notes[:MAX_NOTES]:
        out += wrap(note, width)
    more = len(compared.notes) - MAX_NOTES
    out += [f"and {more} more notes; to print all: --json"] if more > 0 else []
    if compared.spans:
        out += ["", *compare_spans.differences(compared.spans, width)]
        out += compare_spans.counters(compared.spans) if compared.verbose else ["", *wrap(MORE, width)]
    return out


def _alike(rows: Sequence[FigurePair]) -> dict[str, str]:
    """The parts of the key that are the same in all rows."""
    if len(rows) < 2:
        return {}
    names = dict.fromkeys(name for row in rows for name, _ in row.key)
    values = {name: {dict(row.key).get(name) for row in rows} for name in names}
    return {name: str(distinct.pop() or "") for name, distinct in values.items() if len(distinct) == 1}


def _row(row: FigurePair, alike: Container[str], published: bool) -> list[str]:
    ratio, percent, exceeds = row.ratio(), row.percent(), row.exceeds()
    unit, numbers = _shown(row, published)
    return [
        text([part for part in row.key if part[0] not in alike]) + unit, *numbers,
        "-" if ratio is None else f"{ratio:.2f}", "-" if percent is None else f"{percent:+.1f}%", _spread(row.a),
        _spread(row.b), {True: "yes", False: "no", None: "?"}[exceeds] if row.same_test() else "x",
    ]  # fmt: skip


def _shown(row: FigurePair, published: bool) -> tuple[str, list[str]]:
    """The unit and the medians, in the format of report; those of a published table in its own unit."""
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
