# SPDX-License-Identifier: GPL-2.0-or-later
"""Two recordings side by side: which phases belong together, and all that was counted in them. They come as
recording/document.py has them."""

import dataclasses
import itertools
import json
import pathlib
from collections.abc import Iterable, Iterator, Sequence

from raidtrace.compare import differences
from raidtrace.compare import quantities as q
from raidtrace.compare.differences import Difference, same_disk
from raidtrace.compare.quantities import Json, Quantity, Value
from raidtrace.quantity.bins import CLASSES
from raidtrace.recording import document

DIRECTIONS = ("read", "write", "discard", "write_zeroes", "flush", "other", "passthrough")
PLACED = DIRECTIONS[:2]  # of these it is known where on the disk they went


@dataclasses.dataclass(frozen=True)
class Row:
    """One number of both. other_times: those of one cannot be held against the other's."""

    quantity: Quantity
    a: Value
    b: Value
    other_times: bool

    def ratio(self) -> float | None:
        """B by A, where that says something."""
        comparable = not (self.quantity.timed and self.other_times)
        return self.b / self.a if comparable and self.b is not None and self.a and self.a > 0 else None

    def not_comparable(self) -> str | None:
        """Why one cannot be held against the other."""
        lacking = [letter for letter, value in (("A", self.a), ("B", self.b)) if value is None]
        if lacking:
            return f"not available in {'either' if len(lacking) == 2 else lacking[0]}"
        return "other times" if self.quantity.timed and self.other_times else None

    def worth(self) -> bool:
        """Whether it is worth a line: nothing in both is not, and neither is what both do not know."""
        return self.a != self.b or bool(self.a)

    def to_json(self) -> Json:
        """As raidctl.schema.json has it."""
        return {"a": self.a, "b": self.b, "ratio": self.ratio(), "not_comparable": self.not_comparable()}


@dataclasses.dataclass(frozen=True)
class Pair:
    """The spans of a phase and disk."""

    a: Json
    b: Json
    other_times: bool

    def row(self, quantity: Quantity, parts: Iterable[Json | None]) -> Row:
        """A number of both, of a part of each; None: it was not counted there."""
        a, b = (None if part is None else quantity.value(part) for part in parts)
        return Row(quantity, a, b, self.other_times)

    def directions(self) -> dict[str, list[Row]]:
        """The numbers of each direction in which something happened."""
        both = {way: [_direction(span, way) for span in (self.a, self.b)] for way in DIRECTIONS
                if _happened(self.a, way) or _happened(self.b, way)}  # fmt: skip
        return {way: [self.row(quantity, parts) for quantity in q.OF_DIRECTION] for way, parts in both.items()}

    def disk(self) -> list[Row]:
        """What has no direction."""
        return [self.row(quantity, (self.a, self.b)) for quantity in q.OF_DISK]

    def classes(self) -> dict[str, list[Row]]:
        """Of bios and requests of a class."""
        both = {name: [(span["origin"] or {}).get(name) for span in (self.a, self.b)] for name in CLASSES}
        return {name: [self.row(quantity, parts) for quantity in q.OF_CLASS] for name, parts in both.items()}

    def blame(self) -> Iterator[tuple[str, str, Row]]:
        """Seeks from one class to another, where there are any."""
        bins = [q.all_bins(span, "blame") for span in (self.a, self.b)]
        for place in itertools.product(range(len(CLASSES)), repeat=2):
            row = self.row(q.SEEKS, (None if found is None else {"seeks": q.events(
                [one for one in found if (one["row"], one["low"]) == place])} for found in bins))  # fmt: skip
            if row.worth():
                yield CLASSES[place[0]], CLASSES[place[1]], row

    def submitters(self) -> dict[str | None, list[Row]]:
        """Of all processes of a name together; None: those that found the table full."""
        tables = [span["submitters"] for span in (self.a, self.b)]
        names = dict.fromkeys(_name(row) for table in tables for row in table or ())
        both = {
            name: [None if table is None else _sums(row for row in table if _name(row) == name) for table in tables]
            for name in names
        }
        return {name: [self.row(quantity, parts) for quantity in q.OF_SUBMITTER] for name, parts in both.items()}

    def elsewhere(self) -> dict[str, float | None]:
        """The share of bytes that would have to be moved to other parts of the disk to make the two alike."""
        return {way: _apart(*(span["directions"][way]["histograms"].get("place", []) for span in (self.a, self.b)))
                for way in PLACED}  # fmt: skip

    def to_json(self) -> Json:
        """As raidctl.schema.json has it."""
        return {
            "phase": self.a["phase"],
            "disk_a": self.a["disk"],
            "disk_b": self.b["disk"],
            "directions": {way: _members(rows) for way, rows in self.directions().items()},
            "disk_counters": _members(self.disk()),
            "origin": {name: _members(rows) for name, rows in self.classes().items()},
            "blame": [{"from": cause, "to": to, "seeks": row.to_json()} for cause, to, row in self.blame()],
            "submitters": [{"comm": name} | _members(rows) for name, rows in self.submitters().items()],
            "elsewhere_share": self.elsewhere(),
        }


@dataclasses.dataclass(frozen=True)
class Alone:
    """A span that one recording has alone. where: A or B."""

    span: Json
    where: str

    def to_json(self) -> Json:
        """As raidctl.schema.json has it."""
        disks = {f"disk_{letter.lower()}": self.span["disk"] if letter == self.where else None for letter in "AB"}
        return {"phase": self.span["phase"], **disks, "directions": {}}


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two recordings. a, b: their paths."""

    a: str
    b: str
    differences: Sequence[Difference]
    pairs: Sequence[Pair | Alone]

    def to_json(self) -> str:
        """The comparison of raidctl.schema.json."""
        whole = {"a": self.a, "b": self.b, "differences": [dataclasses.asdict(one) for one in self.differences],
                 "spans": [pair.to_json() for pair in self.pairs]}  # fmt: skip
        return json.dumps(whole, indent=1, ensure_ascii=False)


def _members(rows: Iterable[Row]) -> dict[str, Json]:
    return {row.quantity.name: row.to_json() for row in rows}


def _name(submitter: Json) -> str | None:
    return None if submitter["pid"] is None else submitter["comm"] or ""


def _happened(span: Json, way: str) -> bool:
    flow = span["directions"].get(way, {}).get("flow", {})
    return any(value for name, value in flow.items() if name != "in_flight_max")


def _direction(span: Json, way: str) -> Json:
    """Of a direction in which nothing happened there is nothing; what cannot be known of reads, cannot be of it."""
    found = span["directions"].get(way)
    if found is None:
        read = span["directions"]["read"]
        zero = {name: None if read[name] is None else 0 for name in ("requests", "seeks", "mib_per_s")}
        flow = {name: None if value is None else 0 for name, value in read["flow"].items()}
        found = dict.fromkeys(read) | zero | {"in_flight_is_lower_bound": False, "flow": flow, "histograms": {}}
    return {**found, "seconds": span["seconds"]}


def _sums(rows: Iterable[Json]) -> Json:
    kept = list(rows)
    return {quantity.name: sum(quantity.value(row) for row in kept) for quantity in q.OF_SUBMITTER}


def _apart(a: Sequence[Json], b: Sequence[Json]) -> float | None:
    """In whole numbers up to the end: what sum() makes of fractions depends on the version of Python."""
    sums = q.events(a), q.events(b)
    if not all(sums):
        return None
    counts = [{one["low"]: one["count"] * other for one in bins} for bins, other in zip((a, b), reversed(sums))]
    moved: int = sum(abs(counts[0].get(at, 0) - counts[1].get(at, 0)) for at in {*counts[0], *counts[1]})
    return moved / (2 * sums[0] * sums[1])


def of(a: pathlib.Path, b: pathlib.Path, phase: str | None) -> Comparison:
    """Two recordings, of all their phases or of those of one name; RecordingError: one cannot be read."""
    return compare(document.load(a, phase), document.load(b, phase))


def compare(a: Json, b: Json) -> Comparison:
    """What belongs together and what differs. Spans belong together when phase and disk have the same names, the n-th of A
    with the n-th of B; names of disks do not matter when both have one."""
    told = list(differences.facts(a, b))
    pairs = list(_paired(a, b, any(one.what == "simulated" for one in told)))
    told += differences.targets(a, b)
    for pair in pairs:
        told += differences.settings(a, b, pair.a, pair.b) if isinstance(pair, Pair) else ()
    return Comparison(a["recording"], b["recording"], list(dict.fromkeys(told)), pairs)


def _paired(a: Json, b: Json, times: bool) -> Iterator[Pair | Alone]:
    left = list(b["spans"])
    for span in a["spans"]:
        found = next((at for at, other in enumerate(left) if other["phase"] == span["phase"] and
                      same_disk(a, b, span["disk"], other["disk"])), None)  # fmt: skip
        yield Alone(span, "A") if found is None else Pair(span, left.pop(found), times)
    yield from (Alone(span, "B") for span in left)
