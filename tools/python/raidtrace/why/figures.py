# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of a run in its directory, read back: the recording, the settings, and the bytes the program requested."""

import dataclasses
import os
import pathlib
import shlex
from collections.abc import Iterable, Mapping, Sequence

from raidtrace.quantity import shown, units
from raidtrace.quantity.expression import BadExpression, Expression, NotKnown
from raidtrace.recording import invariants
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.figures import Figures
from raidtrace.recording.spans import COUNTED, DATA, OUTSIDE, Span
from raidtrace.why.changes import FILES, OF_REQUESTS, Change, label

# The compared figure: a word, or an expression of the figures of a run. Both are costs: less is better.

SECONDS, RATE, P99 = "seconds", "rate", "p99"
ALL = (SECONDS, RATE, P99)
FIGURES = ("seconds", "mib_per_s", "p99_ms", "read_p99_ms", "write_p99_ms", "read_mib", "write_mib")  # of an expression


def checked_metric(text: str) -> str:
    """The metric, as it may be used; ValueError says what is wrong and what there is."""
    if text not in ALL:
        try:
            if text.startswith("-"):
                raise BadExpression("a cost below 0")
            _metric_expression(text)
        except BadExpression:
            raise ValueError(f"{text!r} is neither one of {', '.join(ALL)} nor an expression with + - * / of "
                             f"numbers and {', '.join(FIGURES)}") from None  # fmt: skip
    return text


def of_fixed_time(text: str) -> bool:
    """Whether runs are compared although they requested different numbers of bytes."""
    return text == RATE or (text not in ALL and "mib_per_s" in text)


def text_of(text: str, cost: float) -> str:
    """A cost in the unit that people use: of a rate the bytes requested per second."""
    if text == RATE:
        return f"{units.octets(1 / cost)}/s" if cost else "nothing"
    return units.significant(cost) + {SECONDS: " s", P99: " ms"}.get(text, "")


def metric_verb(text: str) -> str:
    """The words before the cost of a command."""
    return {SECONDS: "it takes", RATE: "it requests", P99: "its p99 latency is"}.get(text, f"({text}) is")


def value_of(text: str, figures: Mapping[str, float | None]) -> float:
    """An expression of figures. 0: one of them was not measured, or it has no value."""
    try:
        return _metric_expression(text).number(figures)
    except NotKnown:
        return 0.0


def _metric_expression(text: str) -> Expression:
    return Expression(text, lambda name: "" if name in FIGURES else f"{name} is no figure", truth=False)


MIB = 1 << 20
# One run of the command, and whether it counts. A run that failed or did less looks fastest, so it never counts.

MAX_BASELINES = 3.0  # a run that takes longer than so many is ended
MAX_WRITE_SHARE = 0.01  # of the bytes that are read
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
        return self.disk_bytes.get("write", 0) <= MAX_WRITE_SHARE * self.disk_bytes.get("read", 0)

    def printed(self) -> str:
        """The output of a failed command, as the end of a sentence."""
        return f"; it printed: {self.stderr}" if self.stderr else ""

    def cost(self, what: str) -> float:
        """Less is better. Seconds, seconds a byte, milliseconds, or what an expression is in; 0 where it was not measured."""
        longest = max((value for value in self.p99_ms.values() if value), default=None)
        known = {
            SECONDS: self.seconds,
            RATE: self.seconds / max(self.requested_bytes, 1),
            P99: longest or 0.0,
        }
        if what in known:
            return known[what]
        moved = {name: octets / MIB for name, octets in self.disk_bytes.items()}
        rate = sum(moved.values()) / self.seconds if self.seconds else None
        figures = {"seconds": self.seconds, "mib_per_s": rate, "p99_ms": longest}
        for name in ("read", "write"):
            figures |= {f"{name}_p99_ms": self.p99_ms.get(name), f"{name}_mib": moved.get(name)}
        return value_of(what, figures)


def invalid(run: Run, baseline: Run, what: str = SECONDS) -> str:
    """Why a run does not count against a baseline; empty when it does."""
    if run.failure:
        return run.failure
    if run.status != baseline.status:
        return f"exit status {run.status}, but {baseline.status} for the unchanged command{run.printed()}"
    if run.errors != baseline.errors:
        return f"{run.errors} failed requests, but {baseline.errors} for the unchanged command"
    differ = abs(run.requested_bytes - baseline.requested_bytes)
    if not of_fixed_time(what) and differ > max(SAME_BYTES, SAME_SHARE * baseline.requested_bytes):
        return f"requested {run.requested_bytes} bytes, but the unchanged command {baseline.requested_bytes}"
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
        wrong = f"the kernel refused: {'; '.join(refused)}"
    elif own:
        wrong = f"not tested: the command changed {' and '.join(own)} itself"
    moved = [f"{name} {baseline.read_back[name]} -> {run.read_back[name]}" for name in FILES
             if name not in requested and name in run.read_back and name in baseline.read_back
             and run.read_back[name] != baseline.read_back[name]]  # fmt: skip
    return wrong, moved


RECORDING, SETTINGS, LIMITS = "run.rtdb", "settings", "limits"
AFTER = "settings-after"  # the run
MEASURED = "measured.sh"
STATUS, REQUESTED, OBSERVED, STDOUT, STDERR = "status", "asked", "seen", "out", "err"  # of the measured program
TOOK_TOO_LONG = 124  # timeout(1)
NS_PER_MS = 1e6
# counters of a disk, and of one that has bios alone: how many, their bytes, the sum of their times
REQUESTS, BIOS = ("completed", "bytes_completed", "d2c_sum_ns"), ("queued", "bytes_queued", "q2c_sum_ns")
MAX_STDOUT = 1 << 20  # bytes of a command's output that are kept
LAST_BYTES, LAST_LINES = 500, 5  # of what a failed command printed


def read(directory: pathlib.Path, disk: str, phase: str, cap_s: float) -> Run:
    """The run of a directory. If its files are missing or malformed, a failed run with the reason."""
    try:
        settings = named_values(directory / SETTINGS)
        after = named_values(directory / AFTER)
        limits = {name: tuple(value.split()) for name, value in named_values(directory / LIMITS).items()}
        status = int((directory / STATUS).read_text(encoding="ascii"))
        io = named_values(directory / REQUESTED)
        requested = int(io["rchar:"]) + int(io["wchar:"])
        observed = (
            frozenset((directory / OBSERVED).read_text(encoding="ascii").split())
            if (directory / OBSERVED).exists()
            else frozenset()
        )
        recorded = invariants.load(directory / RECORDING)
        spans = _chosen(recorded.spans, disk, phase)
        if (directory / STDOUT).exists() and (directory / STDOUT).stat().st_size > MAX_STDOUT:
            os.truncate(directory / STDOUT, MAX_STDOUT)  # of each of a hundred runs
    except (OSError, ValueError, KeyError, RecordingError) as error:
        return Run(failure=f"no figures: {error}")
    failure = (
        f"ended after {cap_s:.3g} s, three times as long as the unchanged command"
        if status == TOOK_TOO_LONG and cap_s
        else ""
    )
    longest: dict[str, float | None] = {}
    for name in DATA:
        quantiles = [Figures(span, name).d2c(0.99) for span in spans]
        longest[name] = max((one.high / NS_PER_MS for one in quantiles if one and one.high), default=None)
    number, octets, took = BIOS if spans[0].bio_based else REQUESTS
    requests = sum(span.count(name, number) for span in spans for name in DATA)
    queued, along = (
        sum(span.count(name, counter) for span in spans for name in DATA) for counter in ("queued", "stream_queued")
    )
    return Run(
        seconds=sum(span.length() for span in spans) / 1e9,
        requested_bytes=requested,
        errors=sum(span.count(name, "errors") for span in spans for name in DATA),
        status=status,
        p99_ms=longest,
        disk_bytes={name: sum(span.count(name, octets) for span in spans) for name in DATA},
        disk_requests=requests,
        mean_ms=sum(span.count(name, took) for span in spans for name in DATA) / NS_PER_MS / max(requests, 1),
        read_back=settings,
        read_after=after,
        limits=limits,
        observed=observed,
        failure=failure,
        in_order=2 * along > queued,
        simulated=recorded.meta.get("simulated") == "yes",
        idle=all(span.idle(name) for span in spans for name in COUNTED),
        stderr=last_words(directory / STDERR) if status else "",
        recording=str(directory / RECORDING),
    )


def measured(command: Sequence[str], preload: str, omit: str, cap_s: float, loaded: bool, where: str = ".") -> str:
    """A shell script: the command, its end in time, and until its data is on the disk. preload: the library that watches the
    command, as a word of the shell. omit: calls that that library leaves out. loaded: another program writes concurrently, and
    its data need not reach the disk. where: the command's working directory. The shell's own /proc/self/io has the bytes of
    its children, once they have ended."""
    limit = f"timeout -k 5 {cap_s:.6f} " if cap_s else ""
    words = [*([f"RAIDTRACE_WHY_OMIT={omit}"] if omit else []), *command]
    variable = f'RAIDTRACE_WHY_SEEN="$PWD/{OBSERVED}"'
    lines = [
        f"{limit}env -C {shlex.quote(where)} LD_PRELOAD={preload} {variable} {shlex.join(words)} >{STDOUT} 2>{STDERR}",
        f"echo $? >{STATUS}",
        f"cat /proc/$$/io >{REQUESTED}",
    ]
    return "\n".join(lines + ([] if loaded else ["sync"])) + "\n"


def last_words(path: pathlib.Path) -> str:
    """The last lines of what a program printed, in one line that a terminal does not obey; empty if there is nothing. The
    program is not trusted: it may have printed anything, and any amount."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LAST_BYTES))
            text = file.read(LAST_BYTES).decode(errors="replace")
    except OSError:
        return ""
    lines = [shown.visible(line.strip()) for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-LAST_LINES:])[-LAST_BYTES:]


def named_values(path: pathlib.Path) -> dict[str, str]:
    """Lines of NAME VALUE."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(" ") for line in lines) if name}


def script_settings(disk: str, file: str = SETTINGS) -> list[str]:
    """Lines of shell that write the settings as they are now into a file, and what they may be."""
    top = f"/sys/block/{disk}"
    lines = [f"for s in {' '.join(f'{name}:{path}' for name, path in FILES.items())}; do"]
    lines.append(f"  case $s in {'|'.join(f'{name}:*' for name in OF_REQUESTS)}) [ -e {top}/mq ] || continue ;; esac")
    lines.append(f"  [ -e {top}/${{s#*:}} ] && echo \"${{s%%:*}} $(sed 's/.*\\[\\(.*\\)\\].*/\\1/' {top}/${{s#*:}})\"")
    lines.append(f"done >{file}")
    lines.append(f'echo "scheduler $(tr -d [] <{top}/queue/scheduler)" >{LIMITS}')
    lines.append(f'echo "max_sectors_kb $(cat {top}/queue/max_hw_sectors_kb)" >>{LIMITS}')
    return lines


def _chosen(spans: Iterable[Span], disk: str, phase: str) -> list[Span]:
    chosen = [span for span in spans if span.phase != OUTSIDE and span.disk == disk]
    chosen = [span for span in chosen if span.phase == phase] if phase else chosen
    if not chosen:
        raise ValueError(f"the recording has no phase {phase or 'of the command'} of {disk}")
    return chosen
