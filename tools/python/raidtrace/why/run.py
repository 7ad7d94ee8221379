# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of the command, and whether it counts. A run that failed or did less looks fastest, so it never counts."""

import dataclasses
from collections.abc import Mapping

from raidtrace.why import metric
from raidtrace.why.changes import FILES, Change, label

MIB = 1 << 20
CAP = 3.0  # baselines: a run that takes longer is ended
FEW_WRITES = 0.01  # of the bytes that are read
SAME_BYTES, SAME_SHARE = 65536, 0.001  # what loading libraries and reading /proc may differ by


@dataclasses.dataclass(frozen=True)
class Run:
    """The results of one run. seconds: of the command, or the phase. requested_bytes: by the program, to read and to write.
    p99_ms: by direction, None where nothing was completed. disk_requests: reads and writes completed; bios of md and dm.
    read_back: settings after they were written; read_after: after the run. observed: calls of the program, by the preloaded
    library. failure: why there is no figure; empty when there is. recording: its path. mean_ms: of its requests, from
    issue to completion. idle: the disk got no request of any kind. in_order: most of its requests continue where another
    ended. simulated: in a guest of the lab. stderr: the end of what a failed command printed, in one line without
    controls."""

    seconds: float = 0.0
    requested_bytes: int = 0
    errors: int = 0
    status: int = 0
    p99_ms: Mapping[str, float | None] = dataclasses.field(default_factory=dict)
    disk_bytes: Mapping[str, int] = dataclasses.field(default_factory=dict)
    disk_requests: int = 0
    mean_ms: float = 0.0
    read_back: Mapping[str, str] = dataclasses.field(default_factory=dict)
    read_after: Mapping[str, str] = dataclasses.field(default_factory=dict)
    limits: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    observed: frozenset[str] = frozenset()
    failure: str = ""
    recording: str = ""
    idle: bool = False
    in_order: bool = False
    simulated: bool = False
    stderr: str = ""

    def reads(self) -> bool:
        """Whether it only reads, but for the times and the journal of a file system."""
        return self.disk_bytes.get("write", 0) <= FEW_WRITES * self.disk_bytes.get("read", 0)

    def printed(self) -> str:
        """What a failed command printed, as the end of a sentence."""
        return f"; it printed: {self.stderr}" if self.stderr else ""

    def cost(self, what: str) -> float:
        """Less is better. Seconds, seconds a byte, milliseconds, or what an expression is in; 0 where it was not measured."""
        longest = max((value for value in self.p99_ms.values() if value), default=None)
        known = {
            metric.SECONDS: self.seconds,
            metric.RATE: self.seconds / max(self.requested_bytes, 1),
            metric.P99: longest or 0.0,
        }
        if what in known:
            return known[what]
        moved = {name: octets / MIB for name, octets in self.disk_bytes.items()}
        rate = sum(moved.values()) / self.seconds if self.seconds else None
        figures = {"seconds": self.seconds, "mib_per_s": rate, "p99_ms": longest}
        for name in ("read", "write"):
            figures |= {f"{name}_p99_ms": self.p99_ms.get(name), f"{name}_mib": moved.get(name)}
        return metric.value(what, figures)


def invalid(run: Run, baseline: Run, what: str = metric.SECONDS) -> str:
    """Why a run does not count against a baseline; empty when it does."""
    if run.failure:
        return run.failure
    if run.status != baseline.status:
        return f"exit status {run.status}, the baseline's {baseline.status}{run.printed()}"
    if run.errors != baseline.errors:
        return f"{run.errors} failed requests, the baseline's {baseline.errors}"
    differ = abs(run.requested_bytes - baseline.requested_bytes)
    if not metric.of_fixed_time(what) and differ > max(SAME_BYTES, SAME_SHARE * baseline.requested_bytes):
        return f"asked for {run.requested_bytes} bytes, the baseline for {baseline.requested_bytes}"
    if run.cost(what) <= 0:
        return "nothing was measured"
    return ""


def also_changed(run: Run, baseline: Run, change: Change) -> tuple[str, list[str]]:
    """Why the settings of a change were not tested, empty if they were; and settings that changed though they were not to: one
    change is often two."""
    requested = dict(change.settings)
    refused = [f"{name} {value}: it is {run.read_back.get(name, 'not there')}"
               for name, value in requested.items() if run.read_back.get(name) != value]  # fmt: skip
    own = [f"{label(name, value)} to {label(name, run.read_after[name]).split()[-1]}"
           for name, value in requested.items() if run.read_after.get(name, value) != value]  # fmt: skip
    wrong = ""
    if refused:
        wrong = f"not taken: {'; '.join(refused)}"
    elif own:
        wrong = f"not tested: the command changed {' and '.join(own)} itself"
    moved = [f"{name} {baseline.read_back[name]} -> {run.read_back[name]}" for name in FILES
             if name not in requested and name in run.read_back and name in baseline.read_back
             and run.read_back[name] != baseline.read_back[name]]  # fmt: skip
    return wrong, moved
