# SPDX-License-Identifier: GPL-2.0-or-later
"""Two recordings side by side: which phases belong together, and all counters of them."""

import dataclasses
import json
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from raidtrace.compare import differences
from raidtrace.compare.differences import Difference, same_disk
from raidtrace.quantity.bins import CLASSES
from raidtrace.recording import figures, invariants
from raidtrace.recording.figures import Figures, Number, Quantity, RowQuantity, SpanQuantity
from raidtrace.recording.spans import COUNTED, DATA, Bins, Recorded, Span

Json = Mapping[str, Any]
# A quantity with a label is compared; one name differs from that of the report, where it may be a bound.
OF_DIRECTION = tuple(
    dataclasses.replace(one, name="highest_depth") if one.name == "in_flight_max" else one
    for one in figures.QUANTITIES
    if one.label
)


@dataclasses.dataclass(frozen=True)
class Row:
    """One number of both. other_times: times of one cannot be compared with those of the other."""

    quantity: Quantity | SpanQuantity | RowQuantity
    a: Number
    b: Number
    other_times: bool

    def ratio(self) -> float | None:
        """B by A. None: not comparable, or A is 0."""
        comparable = not (self.quantity.timed and self.other_times)
        return self.b / self.a if comparable and self.b is not None and self.a and self.a > 0 else None

    def not_comparable(self) -> str | None:
        """Why the two cannot be compared."""
        lacking = [letter for letter, value in (("A", self.a), ("B", self.b)) if value is None]
        if lacking:
            return f"not available in {'either' if len(lacking) == 2 else lacking[0]}"
        return "other times" if self.quantity.timed and self.other_times else None

    def worth(self) -> bool:
        """Whether a text has it: not if it is 0 or unknown in both."""
        return self.a != self.b or bool(self.a)

    def to_json(self) -> Json:
        """As raidctl.schema.json has it."""
        return {"a": self.a, "b": self.b, "ratio": self.ratio(), "not_comparable": self.not_comparable()}


@dataclasses.dataclass(frozen=True)
class Pair:
    """The spans of a phase and disk."""

    a: Span
    b: Span
    other_times: bool

    def row(self, quantity: Quantity | SpanQuantity | RowQuantity, of: Callable[[Span], Number]) -> Row:
        """A number of both."""
        return Row(quantity, of(self.a), of(self.b), self.other_times)

    def length(self) -> Row:
        """How long each was."""
        return self.row(figures.LENGTH, figures.LENGTH.of)

    def directions(self) -> dict[str, list[Row]]:
        """The numbers of each direction in which something happened."""
        used = [direction for direction in COUNTED if not (self.a.idle(direction) and self.b.idle(direction))]
        both = {direction: (Figures(self.a, direction), Figures(self.b, direction)) for direction in used}
        return {direction: [Row(one, one.number(a), one.number(b), self.other_times) for one in OF_DIRECTION]
                for direction, (a, b) in both.items()}  # fmt: skip

    def disk(self) -> list[Row]:
        """The numbers without direction."""
        return [self.row(quantity, quantity.of) for quantity in figures.OF_DISK]

    def classes(self) -> dict[str, list[Row]]:
        """Bios and requests of each class."""
        return {
            name: [
                self.row(quantity, lambda span: _of_class(span, name, quantity.name)) for quantity in figures.OF_CLASS
            ]
            for name in CLASSES
        }

    def blame(self) -> Iterator[tuple[str, str, Row]]:
        """Seeks from one class to another, where there are any."""
        a, b = figures.blame(self.a), figures.blame(self.b)
        for cause in CLASSES:
            for to in CLASSES:
                ours, theirs = (None if found is None else found.get((cause, to), 0) for found in (a, b))
                row = Row(figures.SEEKS, ours, theirs, self.other_times)
                if row.worth():
                    yield cause, to, row

    def submitters(self) -> dict[str | None, list[Row]]:
        """Sums of all processes of a name; None: those that found the module's table full."""
        names = dict.fromkeys(
            one.comm for span in (self.a, self.b) if "submitter" in span.groups for one in span.submitters
        )
        return {name: [self.row(quantity, lambda span: _of_name(span, name, quantity.name))
                       for quantity in figures.OF_SUBMITTER] for name in names}  # fmt: skip

    def elsewhere(self) -> dict[str, float | None]:
        """The share of bytes that would have to be moved to other parts of the disk to make the two alike."""
        return {
            direction: _apart(self.a.histogram(direction, "place"), self.b.histogram(direction, "place"))
            for direction in DATA
        }

    def to_json(self) -> Json:
        """As raidctl.schema.json has it."""
        return {
            "phase": self.a.phase,
            "disk_a": self.a.disk,
            "disk_b": self.b.disk,
            "directions": {direction: _members(rows) for direction, rows in self.directions().items()},
            "disk_counters": _members(self.disk()),
            "origin": {name: _members(rows) for name, rows in self.classes().items()},
            "blame": [{"from": cause, "to": to, "seeks": row.to_json()} for cause, to, row in self.blame()],
            "submitters": [{"comm": name} | _members(rows) for name, rows in self.submitters().items()],
            "elsewhere_share": self.elsewhere(),
        }


@dataclasses.dataclass(frozen=True)
class Alone:
    """A span that one recording has alone. where: A or B."""

    span: Span
    where: str

    def to_json(self) -> Json:
        """As raidctl.schema.json has it."""
        disks = {f"disk_{letter.lower()}": self.span.disk if letter == self.where else None for letter in "AB"}
        return {"phase": self.span.phase, **disks, "directions": {}}


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two recordings. a, b: their paths."""

    a: str
    b: str
    differences: Sequence[Difference]
    pairs: Sequence[Pair | Alone]

    def members(self) -> Json:
        """The comparison of raidctl.schema.json."""
        return {"a": self.a, "b": self.b, "differences": [dataclasses.asdict(one) for one in self.differences],
                "spans": [pair.to_json() for pair in self.pairs]}  # fmt: skip

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.members(), indent=1, ensure_ascii=False)


def _members(rows: Iterable[Row]) -> dict[str, Json]:
    return {row.quantity.name: row.to_json() for row in rows}


def _of_class(span: Span, name: str, counter: str) -> int | None:
    if "origin" not in span.groups or span.class_unknown(counter):
        return None
    return span.origin.get(name, {}).get(counter, 0)


def _of_name(span: Span, name: str | None, counter: str) -> int | None:
    if "submitter" not in span.groups:
        return None
    return sum(one.counts[counter] for one in span.submitters if one.comm == name)


def _apart(a: Bins, b: Bins) -> float | None:
    """In whole numbers up to the end: the sum of fractions depends on the version of Python."""
    sums = sum(a.values()), sum(b.values())
    if not all(sums):
        return None
    moved = sum(abs(a.get(at, 0) * sums[1] - b.get(at, 0) * sums[0]) for at in {*a, *b})
    return moved / (2 * sums[0] * sums[1])


def of(a: pathlib.Path, b: pathlib.Path, phase: str | None) -> Comparison:
    """Two recordings, of all their phases or of those of one name; RecordingError: one cannot be read."""
    return compare(invariants.load(a, phase), invariants.load(b, phase))


def compare(a: Recorded, b: Recorded) -> Comparison:
    """What belongs together and what differs. Spans belong together when phase and disk have the same names, the n-th of A
    with the n-th of B; names of disks do not matter when both have one."""
    told = list(differences.facts(a, b))
    pairs = list(_paired(a, b, any(one.what == "simulated" for one in told)))
    told += differences.targets(a, b)
    for pair in pairs:
        told += differences.settings(a, b, pair.a, pair.b) if isinstance(pair, Pair) else ()
    return Comparison(str(a.path), str(b.path), list(dict.fromkeys(told)), pairs)


def _paired(a: Recorded, b: Recorded, times: bool) -> Iterator[Pair | Alone]:
    left = list(b.spans)
    for span in a.spans:
        found = next((at for at, other in enumerate(left) if other.phase == span.phase and
                      same_disk(a, b, span.disk, other.disk)), None)  # fmt: skip
        yield Alone(span, "A") if found is None else Pair(span, left.pop(found), times)
    yield from (Alone(span, "B") for span in left)
