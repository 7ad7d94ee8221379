# SPDX-License-Identifier: GPL-2.0-or-later
"""Two sets of figures side by side: one unit, ratio and per cent, spread, and whether the difference exceeds it.

Rates become KiB/s. What a program calls MB/s is not always that: dd of old printed MiB/s so, and bonnie++'s K/sec (KiB/s)
is often divided by 1000 and called MB/s; UNITS says what each name is taken for.
"""

import dataclasses
import statistics
from collections.abc import Iterable, Mapping, Sequence

from raidtrace.benchmark import terms
from raidtrace.benchmark.terms import Difference, Terms
from raidtrace.quantity import trials

KIB_PER_S = "KiB/s"
UNITS: Mapping[str, float] = {  # KiB/s in one of it
    "KiB/s": 1.0,
    "MiB/s": 1024.0,
    "K/sec": 1.0,  # bonnie++
    "KiB/s / 1000": 1000.0,  # bonnie++'s as printed in papers: "MB/s"
    "MB/s": 1e6 / 1024,  # the unit itself
    "kB/s": 1e3 / 1024,
}


@dataclasses.dataclass(frozen=True)
class Figures:
    """Trials of one figure in one unit. note: what is to be known of them; terms: of the test that they are from."""

    values: tuple[float, ...]
    unit: str
    note: str = ""
    terms: Terms = dataclasses.field(default_factory=lambda: terms.NONE)

    def middle(self) -> float:
        return statistics.median(self.values)

    def spread_percent(self) -> float | None:
        """Largest less smallest, of the median. None: there is one trial."""
        if len(self.values) < 2 or not self.middle():
            return None
        return 100 * (max(self.values) - min(self.values)) / self.middle()


@dataclasses.dataclass(frozen=True)
class Row:
    """One figure of both sides. key: what identifies it, (name, value) pairs. published: A is, so that B is meant to be the
    same test; otherwise what differs may be what is tried."""

    key: tuple[tuple[str, str], ...]
    a: Figures
    b: Figures
    published: bool = False

    def differs(self) -> tuple[Difference, ...]:
        """Terms in which the two tests are not alike."""
        return terms.differences(self.a.terms, self.b.terms, dict(self.key).get("phase", ""))

    def same_test(self) -> bool:
        """Whether one may be compared with the other."""
        return terms.same_test(self.differs())

    def ratio(self) -> float | None:
        """B by A. None: A is 0, or is published of another test."""
        if not self.a.middle() or (self.published and not self.same_test()):
            return None
        return self.b.middle() / self.a.middle()

    def percent(self) -> float | None:
        """By how much B is more than A, of A. A ratio of 4.66 is 366 %."""
        ratio = self.ratio()
        return None if ratio is None else percent_of(ratio)

    def exceeds(self) -> bool | None:
        """Whether the difference exceeds the spread: no trial of one side lies among those of the other, and trials of the
        same thing differ as much in at most 5 of 100 cases. The first alone holds for 10 of 100 such cases with three trials
        each. None: both have one trial, and their spread is not known, or they are not the same test."""
        chance = trials.chance(self.a.values, self.b.values)
        if chance is None or not self.same_test():
            return None
        apart = max(self.a.values) < min(self.b.values) or max(self.b.values) < min(self.a.values)
        return apart and chance <= 1 - trials.CONFIDENCE


def percent_of(ratio: float) -> float:
    """A ratio as a difference in per cent."""
    return 100 * (ratio - 1)


def normal(values: Sequence[float], unit: str, note: str = "", of: Terms = terms.NONE) -> Figures:
    """Figures in KiB/s where the unit is a rate, else as they are. of: terms of their test."""
    if unit in UNITS:
        return Figures(tuple(value * UNITS[unit] for value in values), KIB_PER_S, note, of)
    return Figures(tuple(values), unit, note, of)


def pair(a: Mapping[tuple[tuple[str, str], ...], Figures],
         b: Mapping[tuple[tuple[str, str], ...], Figures], published: bool = False) -> tuple[list[Row], list[str]]:  # fmt: skip
    """Rows of what both have in one unit, in the order of a, and what only one of them has. published: a is."""
    rows = [Row(key, a[key], b[key], published) for key in a if key in b and a[key].unit == b[key].unit]
    left = [f"only A: {text(key)}" for key in a if key not in b]
    left += [f"only B: {text(key)}" for key in b if key not in a]
    left += [f"other units: {text(key)}" for key in a if key in b and a[key].unit != b[key].unit]
    return rows, left


def text(key: Sequence[tuple[str, str]]) -> str:
    return " ".join(value for _, value in key if value)


def unlike(rows: Iterable[Row]) -> list[str]:
    """The terms in which the tests of A and B differ, each once, with its rows. Deciding terms, which make the tests
    incomparable, come first."""
    by: dict[tuple[bool, str], list[str]] = {}
    for row in rows:
        if row.differs():
            key = (row.same_test(), ", ".join(one.text() for one in row.differs()))
            by.setdefault(key, []).append(dict(row.key).get("phase", "") or text(row.key))
    return [
        f"{'Other terms' if same else 'Not the same test'}: {terms_text}: {', '.join(dict.fromkeys(phases))}."
        for (same, terms_text), phases in sorted(by.items())
    ]
