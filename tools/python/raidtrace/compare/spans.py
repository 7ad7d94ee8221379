# SPDX-License-Identifier: GPL-2.0-or-later
"""Two recordings side by side: the pairs of their phases, and all counters of these."""

import dataclasses
import json
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from raidtrace.quantity import terminal, units
from raidtrace.quantity.bins import CLASSES
from raidtrace.quantity.shown import visible
from raidtrace.recording import breakdown, figures, invariants, observation
from raidtrace.recording.figures import Figures, Number, Quantity, RowQuantity, SpanQuantity
from raidtrace.recording.spans import COUNTED, DATA, OUTSIDE, Bins, Recorded, Span, Target

# Differences between the machines, commands and settings of two recordings.

OTHER_TIMES = "one recording has times of the lab's model, so no time or rate is comparable"
# Facts about the value of a recording's numbers, and the reason why recordings with different facts are not comparable.
FACTS = {
    "abi": "in another ABI, a counter may have another meaning",
    "simulated": OTHER_TIMES,
    "lab_profile": "different simulated disks",
    "source": "an imported trace lacks the values that blktrace does not record",
    "command": "different commands may do different work",
    "exit_status": "a failed command did not do all of its work",
    "end": "a recording ended before its command",
    "invariants": "the counters contradict each other",
    "machine": None,
    "hostname": None,
    "kernel": None,
    "module_version": None,
    "unavailable": "one kernel lacks tracepoints, and so their counters",
    "disturbance": "a disturbance of the machine affects the figures",
}
UNKNOWN_TIMES = "one recording has times of the lab's model; the other does not contain the source of its times"
OF_BOTH = ("lab_profile", "exit_status", "disturbance")  # compared only if both recordings have a value
# These record events, not settings.
NO_SETTINGS = ("driver_stats", "in_flight_at_attach", "reset", "state", "device", "controller_events")


@dataclasses.dataclass(frozen=True)
class Difference:
    """A difference between two recordings. what: a fact, a property of the disk, or a setting. disk: its name, None:
    the recording. a, b: values, "n/a": not known. not_recorded_in: the letter of an imported trace that lacks it.
    """

    what: str
    disk: str | None
    a: str
    b: str
    not_comparable: str | None = None
    not_recorded_in: str | None = None


def same_disk(a: Recorded, b: Recorded, x: str, y: str) -> bool:
    """Whether two disks belong together: they have the same name, or each recording has only one disk."""
    return x == y or len(a.targets) == len(b.targets) == 1


def _lacks(a: Recorded, b: Recorded, x: str | None, y: str | None) -> str | None:
    """The letter of the recording that is an imported trace without this value. None: both or none are traces, or it
    has it."""
    imported = [bool(one.fact("source")) for one in (a, b)]
    if imported[0] == imported[1]:
        return None
    letter, value = ("A", x) if imported[0] else ("B", y)
    return None if value else letter


def different_facts(a: Recorded, b: Recorded) -> Iterator[Difference]:
    for what, why in FACTS.items():
        x, y = (one.fact(what) for one in (a, b))
        if x == y and not (what == "invariants" and x not in ("", "hold")):
            continue
        lacks = None if what == "source" else _lacks(a, b, x, y)
        if what == "simulated":
            yield Difference(what, None, x or "n/a", y or "n/a", UNKNOWN_TIMES if lacks else why)
            continue
        silent = not (x and y) if what in OF_BOTH else x and y if what == "source" else False
        yield Difference(what, None, x or "n/a", y or "n/a", None if silent else why, lacks)
    if a.fact("lab_profile") == b.fact("lab_profile"):
        for name, one, other in observation.lab_differences(a.meta, b.meta):
            yield Difference(name, None, one or "n/a", other or "n/a")


def different_targets(a: Recorded, b: Recorded) -> Iterator[Difference]:
    for x in a.targets:
        for y in b.targets:
            if not same_disk(a, b, x.disk, y.disk) or None in (x.unit_3ware, y.unit_3ware):
                continue  # a trace has only the name of a disk
            for what in ("disk", "driver", "pci", "capacity_sectors", "max_sectors"):
                one, other = (_property(target, what) for target in (x, y))
                if one != other:
                    yield Difference(what, x.disk, one, other)


def _property(target: Target, name: str) -> str:
    value = getattr(target, name)
    return str(value or 0) if name == "max_sectors" else str(value) if value else "n/a"


def different_settings(a: Recorded, b: Recorded, of_a: Span, of_b: Span) -> Iterator[Difference]:
    """Differences of a disk's settings at the start of two paired spans."""
    for name in dict.fromkeys(one.name for of in (a, b) for one in of.settings if one.name not in NO_SETTINGS):
        x, y = a.setting(of_a.target, name, of_a.start_ns), b.setting(of_b.target, name, of_b.start_ns)
        if (x or "n/a") != (y or "n/a"):
            yield Difference(name, of_a.disk, x or "n/a", y or "n/a", None, _lacks(a, b, x, y))


Json = Mapping[str, Any]
# Quantities with a label are compared. One has another name than in the report, where it may be a bound.
OF_DIRECTION = tuple(
    dataclasses.replace(one, name="highest_depth") if one.name == "in_flight_max" else one
    for one in figures.QUANTITIES
    if one.label
)


@dataclasses.dataclass(frozen=True)
class NumberPair:
    """One number of both recordings. other_times: the times of one are not comparable with those of the other."""

    quantity: Quantity | SpanQuantity | RowQuantity
    a: Number
    b: Number
    other_times: bool

    def ratio(self) -> float | None:
        """B by A. None: not comparable, or A is 0."""
        comparable = not (self.quantity.timed and self.other_times)
        return self.b / self.a if comparable and self.b is not None and self.a and self.a > 0 else None

    def not_comparable(self) -> str | None:
        """The reason why the two are not comparable. None: they are."""
        lacking = [letter for letter, value in (("A", self.a), ("B", self.b)) if value is None]
        if lacking:
            return f"not available in {'either' if len(lacking) == 2 else lacking[0]}"
        return "other times" if self.quantity.timed and self.other_times else None

    def worth(self) -> bool:
        """Whether the text contains it: not if it is 0 or unknown in both."""
        return self.a != self.b or bool(self.a)

    def to_json(self) -> Json:
        return {"a": self.a, "b": self.b, "ratio": self.ratio(), "not_comparable": self.not_comparable()}


@dataclasses.dataclass(frozen=True)
class Pair:
    a: Span
    b: Span
    other_times: bool

    def row(self, quantity: Quantity | SpanQuantity | RowQuantity, of: Callable[[Span], Number]) -> NumberPair:
        return NumberPair(quantity, of(self.a), of(self.b), self.other_times)

    def outside(self) -> bool:
        """Whether it is the time outside the named phases."""
        return self.a.phase == OUTSIDE

    def disks(self) -> str:
        return " and ".join(dict.fromkeys((self.a.disk, self.b.disk)))

    def states(self) -> tuple[dict[str, float], dict[str, float]] | None:
        """The seconds of each state of the disk (recording/breakdown.py) in A and in B: the four states, or busy and idle if
        one recording has only these. None: one lacks both."""
        both = [breakdown.of(span) for span in (self.a, self.b)]
        if any(one is None or not one.states for one in both):
            return None
        known = [(one.states, one.seconds, one.busy_share or 0.0) for one in both if one]
        if known[0][0].keys() != known[1][0].keys():
            known = [({"busy": busy, "idle": 1 - busy}, seconds, busy) for _, seconds, busy in known]
        a, b = ({state: share * seconds for state, share in states.items()} for states, seconds, _ in known)
        return a, b

    def length(self) -> NumberPair:
        return self.row(figures.LENGTH, figures.LENGTH.of)

    def directions(self) -> dict[str, list[NumberPair]]:
        """The numbers of each direction with an event."""
        used = [direction for direction in COUNTED if not (self.a.idle(direction) and self.b.idle(direction))]
        both = {direction: (Figures(self.a, direction), Figures(self.b, direction)) for direction in used}
        return {direction: [NumberPair(one, one.number(a), one.number(b), self.other_times) for one in OF_DIRECTION]
                for direction, (a, b) in both.items()}  # fmt: skip

    def disk(self) -> list[NumberPair]:
        return [self.row(quantity, quantity.of) for quantity in figures.OF_DISK]

    def classes(self) -> dict[str, list[NumberPair]]:
        """The bios and requests of each class."""
        return {
            name: [
                self.row(quantity, lambda span: _of_class(span, name, quantity.name)) for quantity in figures.OF_CLASS
            ]
            for name in CLASSES
        }

    def blame(self) -> Iterator[tuple[str, str, NumberPair]]:
        """The seeks from one class to another, if there are any."""
        a, b = figures.blame(self.a), figures.blame(self.b)
        for cause in CLASSES:
            for to in CLASSES:
                ours, theirs = (None if counts is None else counts.get((cause, to), 0) for counts in (a, b))
                row = NumberPair(figures.SEEKS, ours, theirs, self.other_times)
                if row.worth():
                    yield cause, to, row

    def submitters(self) -> dict[str | None, list[NumberPair]]:
        """The sums of all processes with the same name. None: the processes without a row in the module's table."""
        names = dict.fromkeys(
            one.comm for span in (self.a, self.b) if "submitter" in span.groups for one in span.submitters
        )
        return {name: [self.row(quantity, lambda span: _of_name(span, name, quantity.name))
                       for quantity in figures.OF_SUBMITTER] for name in names}  # fmt: skip

    def elsewhere(self) -> dict[str, float | None]:
        """The share of bytes, by direction, that are at other positions in the other recording, from 0 to 1. None: not
        counted."""
        return {
            direction: _apart(self.a.histogram(direction, "place"), self.b.histogram(direction, "place"))
            for direction in DATA
        }

    def to_json(self) -> Json:
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
            "state_seconds": dict(zip("ab", states, strict=True)) if (states := self.states()) else None,
        }


@dataclasses.dataclass(frozen=True)
class Alone:
    """A span without a counterpart. where: the letter of its recording."""

    span: Span
    where: str

    def to_json(self) -> Json:
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
        """The comparison as in raidctl.schema.json."""
        return {"a": self.a, "b": self.b, "differences": [dataclasses.asdict(one) for one in self.differences],
                "spans": [pair.to_json() for pair in self.pairs]}  # fmt: skip

    def to_json(self) -> str:
        return json.dumps(self.members(), indent=1, ensure_ascii=False)


def _members(rows: Iterable[NumberPair]) -> dict[str, Json]:
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
    """The share of bytes at other positions, from 0 to 1. None: one has none. The sum uses whole numbers, because a sum
    of fractions depends on the version of Python."""
    sums = sum(a.values()), sum(b.values())
    if not all(sums):
        return None
    moved = sum(abs(a.get(at, 0) * sums[1] - b.get(at, 0) * sums[0]) for at in {*a, *b})
    return moved / (2 * sums[0] * sums[1])


def of(a: pathlib.Path, b: pathlib.Path, phase: str | None) -> Comparison:
    """Compare two recordings, or their phases of one name. Raises RecordingError: one cannot be read, or lacks the
    phase."""
    return compare(invariants.load(a, phase), invariants.load(b, phase))


def compare(a: Recorded, b: Recorded) -> Comparison:
    """Pair the spans and list the differences. Spans with the same phase and disk form pairs, the n-th of A with the
    n-th of B. If each recording has one disk, its name does not matter."""
    differences = list(different_facts(a, b))
    pairs = list(_paired(a, b, any(one.what == "simulated" for one in differences)))
    differences += different_targets(a, b)
    for pair in pairs:
        differences += different_settings(a, b, pair.a, pair.b) if isinstance(pair, Pair) else ()
    return Comparison(str(a.path), str(b.path), list(dict.fromkeys(differences)), pairs)


def _paired(a: Recorded, b: Recorded, times: bool) -> Iterator[Pair | Alone]:
    left = list(b.spans)
    for span in a.spans:
        at_b = next((at for at, other in enumerate(left) if other.phase == span.phase and
                     same_disk(a, b, span.disk, other.disk)), None)  # fmt: skip
        yield Alone(span, "A") if at_b is None else Pair(span, left.pop(at_b), times)
    yield from (Alone(span, "B") for span in left)


# Two recordings side by side, as text for a terminal.

MIN_WIDTH, MAX_WIDTH = 20, 100  # columns; longer lines are hard to read
MAX_SUBMITTERS = 8  # processes that the text names
VALUE_WIDTH = 21  # columns of a value; a longer one gets its own line
MAX_RATIO = 100  # a larger ratio is not printed as per cent


def _wrapped(label: str, text: str, width: int) -> list[str]:
    return terminal.wrapped(visible(text), width, len(label), label).splitlines()


def _difference(one: Difference, width: int) -> Iterator[str]:
    what = visible(f"{one.disk} {one.what}" if one.disk else one.what)
    if max(len(one.a), len(one.b)) <= VALUE_WIDTH:
        yield f"{what[:36]:36} {visible(one.a):>{VALUE_WIDTH}} {visible(one.b):>{VALUE_WIDTH}}"
    else:
        yield what
        yield from (
            line for letter, value in (("A", one.a), ("B", one.b)) for line in _wrapped(f"  {letter}: ", value, width)
        )
    if one.not_comparable:
        yield from _wrapped("  not comparable: ", one.not_comparable, width)


def _lacking(differences: Iterable[Difference], width: int) -> list[str]:
    """The facts that an imported trace lacks, by name, and the number of such settings. They are not differences."""
    lacking = [one for one in differences if one.not_recorded_in]
    names = [one.what for one in lacking if not one.disk]
    settings = len(lacking) - len(names)
    if settings:
        names.append(f"settings ({settings}; --json has them)")
    where = f"not recorded in {lacking[0].not_recorded_in}, an imported trace: " if lacking else ""
    return _wrapped("  ", where + ", ".join(names), width) if lacking else []


def differences(comparison: Comparison, width: int) -> Iterator[str]:
    """The differences of machines, commands and settings, in lines of at most `width` columns."""
    width = min(max(width, MIN_WIDTH), MAX_WIDTH)
    if not comparison.differences:
        yield "Machine, command and settings are the same."
        return
    yield f"{'what differs':36} {'A':>{VALUE_WIDTH}} {'B':>{VALUE_WIDTH}}"
    for one in comparison.differences:
        if not one.not_recorded_in:
            yield from _difference(one, width)
    yield from _lacking(comparison.differences, width)


def _quantity(row: NumberPair) -> str:
    line = f"    {row.quantity.label:22} " + " ".join(
        f"{units.text(row.quantity.shown, v):>14}" for v in (row.a, row.b)
    )
    why, ratio = row.not_comparable(), row.ratio()
    if why:
        return f"{line} {why}"
    if row.a == row.b and row.a:
        return f"{line} {'1.000':>10} {'equal':>12}"
    if ratio is None:
        return f"{line} {'A is 0':>10} {'equal' if row.a == row.b else 'n/a':>12}"
    times = f"{'~' if row.quantity.end else ''}{ratio:.{3 if ratio < 1000 else 0}f}"
    return f"{line} {times:>10}" + (f" {100 * (ratio - 1):+10.1f} %" if ratio < MAX_RATIO else "")


def _table(heading: str, rows: Iterable[NumberPair]) -> list[str]:
    """Lines below a heading. Rows without a value in both are left out, and a heading without rows, too."""
    lines = [_quantity(row) for row in rows if row.worth()]
    return [f"  {visible(heading)}", *lines] if lines else []


def _pair(pair: Pair | Alone) -> Iterator[str]:
    if isinstance(pair, Alone):
        yield visible(f"phase {pair.span.phase}  {pair.span.disk}: only in {pair.where}, so not compared")
        return
    yield visible(f"phase {pair.a.phase}  {pair.disks()}")
    yield f"    {'':22} {'A':>14} {'B':>14} {'B / A':>10} {'(B - A) / A':>12}"
    yield _quantity(pair.length())
    for direction, rows in pair.directions().items():
        yield f"  {direction}"
        yield from _table(direction, rows)[1:]
    yield from _table("disk", pair.disk())
    for name, rows in pair.classes().items():
        yield from _table(f"class {name}", rows)
    for of, to, row in pair.blame():
        yield from _table(f"from {of} to {to}", [row])
    for at, (comm, rows) in enumerate(pair.submitters().items()):
        if at == MAX_SUBMITTERS:
            yield "  more processes: --json"
            break
        yield visible(f"  submitter {'all others' if comm is None else comm}")
        yield from _table("", rows)[1:]
    for direction, apart in pair.elsewhere().items():
        if apart is not None:
            yield f"  by place  {direction}: {units.text('share', apart)} of the bytes are at other positions"


def counters(comparison: Comparison) -> Iterator[str]:
    """All counters of each phase and disk of both recordings, without the time outside the named phases."""
    for pair in comparison.pairs:
        if (pair.span if isinstance(pair, Alone) else pair.a).phase != OUTSIDE:
            yield ""
            yield from _pair(pair)


def lines(comparison: Comparison, width: int) -> list[str]:
    paths = (f"{letter}  {visible(path)}" for letter, path in (("A", comparison.a), ("B", comparison.b)))
    return [*paths, *differences(comparison, width), *counters(comparison)]
