# SPDX-License-Identifier: GPL-2.0-or-later
"""The names for numbers of a recording in `raidctl lab ab` and `expect`.

The values come from the document of a recording; Documentation/counters.rst defines them.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.uml import runner
from raidlab.uml.verdict import Exit

from raidtrace.quantity.trials import student_quantile
from raidtrace.recording import work
from raidtrace.recording.work import Work

_SECTOR_BYTES = 512
_NS_PER_MS = 1e6
OUTSIDE = "outside"  # raidctl's phase for requests before and after the command

Value = float | None
Reader = Callable[[dict[str, Any]], Value]


@dataclass(frozen=True)
class Measure:
    """A number of one direction of a span. `read` takes it from the report's object of the direction. A `timed` number
    depends on times. In a virtual machine it has no meaning, because times are the emulator's."""

    name: str
    unit: str
    meaning: str
    read: Reader
    timed: bool = False


def _number(value: Any) -> Value:
    return None if value is None else float(value)


def _key(name: str) -> Reader:
    return lambda direction: _number(direction[name])


def _flow(name: str) -> Reader:
    return lambda direction: _number(direction["flow"][name])


def _scaled(name: str, factor: float) -> Reader:
    return lambda direction: None if direction[name] is None else direction[name] * factor


def _idle(direction: dict[str, Any]) -> Value:
    """The share of time at depth 0."""
    bins = direction["histograms"].get("depth_time", [])
    total = sum(row["count"] for row in bins)
    return sum(row["count"] for row in bins if row["low"] == 0) / total if total else None


_MEASURES = (
    Measure("mib_per_s", "MiB/s", "bytes completed, divided by the length of the phase", _key("mib_per_s"), True),
    Measure("requests", "", "requests issued", _key("requests")),
    Measure("bytes", "bytes", "bytes issued", _key("bytes")),
    Measure("in_flight_mean", "requests", "in flight, mean over time", _key("in_flight_mean"), True),
    Measure("in_flight_max", "requests", "in flight, most at once", _key("in_flight_max")),
    Measure("idle_share", "of 1", "share of the time with none in flight", _idle, True),
    Measure("request_bytes_mean", "bytes", "size of a request, mean", _key("request_bytes_mean")),
    Measure("request_bytes_mode", "bytes", "size of a request, most frequent",
            _scaled("request_sectors_mode_low", _SECTOR_BYTES)),
    Measure("sequential_share", "of 1", "share of requests that begin where the previous one ended",
            _key("sequential_share")),
    Measure("seeks", "", "requests that begin elsewhere than the previous one ended", _key("seeks")),
    Measure("d2c_mean_ms", "ms", "from issue to completion, mean", _scaled("d2c_mean_ns", 1 / _NS_PER_MS), True),
    Measure("d2c_p99_ms", "ms", "99 of 100 requests take less", _scaled("d2c_p99_ns_high", 1 / _NS_PER_MS),
            True),
    Measure("back_merges", "", "bios appended to a waiting request", _flow("back_merges")),
    Measure("front_merges", "", "bios put before a waiting request", _flow("front_merges")),
    Measure("splits", "", "bios that had to be split", _flow("splits")),
    Measure("requeued", "", "requests given back by the driver", _flow("requeued")),
    Measure("errors", "", "requests that failed", _flow("errors")),
)  # fmt: skip
MEASURES = {measure.name: measure for measure in _MEASURES}
DIRECTIONS = ("read", "write")
_SPELLINGS = {"inflight_reads_mean": "read_in_flight_mean", "inflight_writes_mean": "write_in_flight_mean"}


@dataclass(frozen=True)
class Span:
    """One phase of one disk. `work` is that of the command in this phase."""

    phase: str
    disk: str
    seconds: float
    directions: dict[str, dict[str, Any]]
    work: Work

    def main_direction(self) -> str:
        """The direction that moved more bytes; reads if both moved the same, and of md and dm, which have no requests."""
        return max(DIRECTIONS, key=lambda name: float(self.directions[name]["bytes"] or 0))

    def has_requests(self) -> bool:
        """Whether the disk has requests. md and dm have not."""
        return self.directions["read"]["requests"] is not None

    def is_idle(self) -> bool:
        """Whether it neither read nor wrote. False if its requests are not counted."""
        return all(self.directions[name]["requests"] == 0 for name in DIRECTIONS)

    def value(self, direction: str, name: str) -> Value:
        return MEASURES[name].read(self.directions[direction])

    def named(self, name: str) -> Value:
        """The value of a name in an expression. KeyError if the name is unknown."""
        name = _SPELLINGS.get(name, name)
        if name == "seconds":
            return self.seconds
        for direction in DIRECTIONS:
            if name.startswith(f"{direction}_") and name not in MEASURES:
                return self.value(direction, name.removeprefix(f"{direction}_"))
        return self.value(self.main_direction(), name)


def _plain(name: str) -> str:
    """The name without its direction."""
    name = _SPELLINGS.get(name, name)
    parts = [name.removeprefix(f"{direction}_") for direction in DIRECTIONS if name.startswith(f"{direction}_")]
    return next((part for part in parts if name not in MEASURES), name)


def is_known(name: str) -> bool:
    """Whether an expression may contain a name."""
    return name == "seconds" or _plain(name) in MEASURES


def unknown(name: str) -> str:
    """The reason why an expression may not contain a name; "" if it may."""
    if is_known(name):
        return ""
    close = difflib.get_close_matches(name, names(), 1)
    hint = f" Did you mean {close[0]}?" if close else ""
    known = ", ".join(one for one in names() if one not in _SPELLINGS)
    return f"{name} is not a measure.{hint} Measures: {known}; all but seconds also with read_ or write_ before them"


def is_timed(name: str) -> bool:
    """Whether a known name depends on times."""
    return name == "seconds" or MEASURES[_plain(name)].timed


def names() -> list[str]:
    """All names, without those that only add a direction."""
    return ["seconds", *MEASURES, *_SPELLINGS]


def spans(document: dict[str, Any]) -> list[Span]:
    """All phases and disks of a recording's document, without requests outside of the command."""
    hosts: dict[int, dict[tuple[str, str], int]] = {}
    for one in document["host"]:
        hosts.setdefault(one["phase_number"], {})[one["source"], one["name"]] = one["value"]
    return [
        Span(
            row["phase"],
            row["disk"],
            row["seconds"],
            row["directions"],
            work.of_host(row["seconds"], hosts.get(row["phase_number"], {}), document["meta"]),
        )
        for row in document["spans"]
        if row["phase"] != OUTSIDE
    ]


# One command in one guest under raidctl record, and the results of its recording. ab and expect use this.

RAIDCTL = cache.CHECKOUT / "tools" / "bin" / "raidctl"
_RECORDING = "lab.rtdb"

Boot = Callable[[list[str], Path], Exit]  # runs a command in a guest and leaves its results in a directory


@dataclass(frozen=True)
class Recorded:
    """The results of a run. `truth` is the digest of the simulated controller's log."""

    directory: Path
    spans: list[Span]
    truth: str
    facts: dict[str, Any]


def require_tools() -> None:
    """Refuse missing tools before a kernel is built for minutes."""
    if not RAIDCTL.exists():
        raise LabError("recording the command", f"{RAIDCTL} does not exist", "Build it: make tools")


def wrapped(command: list[str], disk: str | None) -> list[str]:
    """The command under raidctl record, unless it contains that itself."""
    if "raidctl record" in " ".join(command):
        return command
    disks = ["--disk", disk] if disk else []
    return ["raidctl", "record", "--quiet", "--output", _RECORDING, *disks, "--", *command]


def run(arguments: argparse.Namespace, kernel: str, boot: Boot, out: Path) -> Recorded:
    """Boot, record and read. `kernel` is its name for people. LabError unless there is exactly one recording."""
    what = f"the run on {kernel}"
    out = runner.out_directory(str(out))
    for old in (*out.glob("*.rtdb"), *out.glob("*.rtdb-journal")):  # a killed run left the second
        old.unlink()
    result = boot(wrapped(arguments.command, arguments.disk), out)
    if result.status:
        why = "".join(f"\n  {message.strip()}" for message in result.messages)
        raise LabError(what, f"exit status {result.status}{why}", f"Its results, including kernel.log: {out}")
    recordings = sorted(out.glob("*.rtdb"))
    if len(recordings) != 1:
        raise LabError(
            what,
            f"{len(recordings)} recordings (*.rtdb) in {out}, but exactly one is needed",
            "A command that records itself has to leave exactly one in its working directory.",
        )
    truths = sorted(out.glob("ground-truth*.csv"))  # one file for each controller
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in truths)).hexdigest()
    return Recorded(out, _spans(recordings[0]), digest, json.loads((out / "lab.json").read_text(encoding="utf-8")))


def _spans(recording: Path) -> list[Span]:
    from raidtrace.recording import columns, document  # import here, because a guest starts earlier without it

    try:
        return spans(document.load(recording))
    except (columns.RecordingError, OSError) as error:
        raise LabError(f"reading {recording}", str(error), "Look at it: raidctl report") from None


# One command with several seeds: means, the interval of a ratio, and the decision when there are enough seeds.

# The expectation is true for at most _FEW of all seeds, or for at least 1 - _FEW: decided with an error rate of at most
# _ERROR.
_FEW = 0.25
_ERROR = 0.05


@dataclass(frozen=True)
class Sample:
    """One phase of one disk with each seed. A value is the mean over the seeds."""

    spans: tuple[Span, ...]

    @property
    def phase(self) -> str:
        return self.spans[0].phase

    @property
    def disk(self) -> str:
        return self.spans[0].disk

    def values(self, direction: str, name: str) -> list[Value]:
        """The values, one for each seed."""
        return [span.value(direction, name) for span in self.spans]

    def value(self, direction: str, name: str) -> Value:
        """The arithmetic mean of the values."""
        return mean(self.values(direction, name))


def mean(values: list[Value]) -> Value:
    """The geometric mean, because callers compare ratios. The arithmetic mean if a value is 0; None if one is unknown."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if len(set(known)) == 1:
        return known[0]
    return statistics.geometric_mean(known) if min(known) > 0 else statistics.mean(known)


def interval(before: list[Value], after: list[Value]) -> tuple[float, float] | None:
    """The interval of the ratio after/before of the geometric means, at 95 %: Welch's t-test on the logarithms. None if a
    side has fewer than two values, or a value has no logarithm."""
    logs = [[math.log(value) for value in values if value] for values in (before, after)]
    if min(map(len, logs)) < 2 or len(logs[0]) < len(before) or len(logs[1]) < len(after):
        return None
    ratio = statistics.mean(logs[1]) - statistics.mean(logs[0])
    parts = [statistics.variance(values) / len(values) for values in logs]
    error = math.sqrt(sum(parts))
    if not error:
        exact = (after[0] or 0) / (before[0] or 1)
        return exact, exact
    freedom = sum(parts) ** 2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, logs))
    reach = student_quantile(0.05, int(freedom)) * error
    return math.exp(ratio - reach), math.exp(ratio + reach)


def is_chance(between: tuple[float, float] | None) -> bool:
    """Whether an interval includes 1: the two do not differ significantly."""
    return between is not None and between[0] <= 1 <= between[1]


def decided(holds: list[bool]) -> bool | None:
    """Wald's sequential test: whether the expectation is true, from its result for each seed. None if more seeds are needed."""
    step = math.log((1 - _FEW) / _FEW)
    score = sum(step if one else -step for one in holds)
    if abs(score) < math.log((1 - _ERROR) / _ERROR):
        return None
    return score > 0
