# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of a run, read from its directory: the recording, the settings, and the bytes the program requested."""

import dataclasses
import os
import pathlib
import shlex
from collections.abc import Iterable, Mapping, Sequence

from raidtrace.quantity import shown, units
from raidtrace.quantity.expression import BadExpression, Expression, NotKnown
from raidtrace.recording import invariants, source
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.figures import Figures
from raidtrace.recording.source import Source
from raidtrace.recording.spans import COUNTED, DATA, OUTSIDE, Span
from raidtrace.why.changes import FILES, OF_REQUESTS, Change, label

# The compared figure (metric): a word, or an expression of the figures of a run. All are costs: less is better.

SECONDS, RATE, P99 = "seconds", "rate", "p99"
ALL = (SECONDS, RATE, P99)
FIGURES = ("seconds", "mib_per_s", "p99_ms", "read_p99_ms", "write_p99_ms", "read_mib", "write_mib")  # of an expression


def checked_metric(text: str) -> str:
    """The metric, if it is valid. Raises ValueError with the valid ones."""
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
    """Whether runs are comparable if they requested different numbers of bytes."""
    return text == RATE or (text not in ALL and "mib_per_s" in text)


def text_of(text: str, cost: float) -> str:
    """The text of a cost with its unit. For RATE: requested bytes per second."""
    if text == RATE:
        return f"{units.octets(1 / cost)}/s" if cost else "nothing"
    return units.significant(cost) + {SECONDS: " s", P99: " ms"}.get(text, "")


def metric_verb(text: str) -> str:
    """The words before the cost in a sentence."""
    return {SECONDS: "it takes", RATE: "it requests", P99: "its p99 latency is"}.get(text, f"({text}) is")


def value_of(text: str, figures: Mapping[str, float | None]) -> float:
    """The value of an expression. 0: one of its figures was not measured, or it has no value."""
    try:
        return _metric_expression(text).number(figures)
    except NotKnown:
        return 0.0


def _metric_expression(text: str) -> Expression:
    return Expression(text, lambda name: "" if name in FIGURES else f"{name} is no figure", truth=False)


MIB = 1 << 20
# One run of the command, and whether it counts. A run that failed or did less work looks fastest, so it never counts.

MAX_BASELINES = 3.0  # a run that takes longer than so many baselines is ended
MAX_WRITE_SHARE = 0.01  # of the bytes read
SAME_BYTES, SAME_SHARE = 65536, 0.001  # bytes, and share: loading libraries and reading /proc may differ by this


@dataclasses.dataclass(frozen=True)
class Run:
    """The results of one run. seconds: of the command or the phase. requested_bytes: read and written by the program's
    calls. p99_ms: by direction, None: nothing completed. disk_requests: reads and writes completed; bios for md and dm.
    mean_ms: mean time from issue to completion. read_back, read_after: settings before and after the run. limits:
    allowed values of settings. observed: calls of the program that the preloaded library observed. failure: the reason
    why there is no figure, or empty. recording: its path. idle: the disk got no request. in_order: most bios continue a
    stream. simulated: in a guest of the lab. stderr: the last lines that a failed command printed, without control
    characters. counted: source of the counters, and its losses."""

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
    counted: Source = Source()

    def reads(self) -> bool:
        """Whether the run only reads. A few writes of time stamps and journal are allowed."""
        return self.disk_bytes.get("write", 0) <= MAX_WRITE_SHARE * self.disk_bytes.get("read", 0)

    def printed(self) -> str:
        """The last output of a failed command, to append to a sentence."""
        return f"; it printed: {self.stderr}" if self.stderr else ""

    def cost(self, what: str) -> float:
        """The cost; less is better. In s, s per byte, ms, or the unit of an expression. 0: not measured."""
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
    """The reason why a run does not count, compared with a baseline; empty: it counts."""
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
    """The reason why the settings of a change were not tested, or empty; and other settings that changed with them."""
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
AFTER = "settings-after"  # settings after the run
MEASURED = "measured.sh"
STATUS, REQUESTED, OBSERVED, STDOUT, STDERR = "status", "asked", "seen", "out", "err"  # of the measured program
TOOK_TOO_LONG = 124  # timeout(1)
NS_PER_MS = 1e6
# counters of requests, and of bios for a disk without requests: number, bytes, sum of times
REQUESTS, BIOS = ("completed", "bytes_completed", "d2c_sum_ns"), ("queued", "bytes_queued", "q2c_sum_ns")
MAX_STDOUT = 1 << 20  # bytes of a command's output that are kept
LAST_BYTES, LAST_LINES = 500, 5  # of a failed command's output


def read(directory: pathlib.Path, disk: str, phase: str, cap_s: float) -> Run:
    """The run in a directory. If its files are missing or malformed, a failed run with the reason."""
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
            os.truncate(directory / STDOUT, MAX_STDOUT)  # there may be a hundred runs
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
        counted=source.read(recorded.meta),
        idle=all(span.idle(name) for span in spans for name in COUNTED),
        stderr=last_words(directory / STDERR) if status else "",
        recording=str(directory / RECORDING),
    )


def measured(command: Sequence[str], preload: str, omit: str, cap_s: float, loaded: bool, where: str = ".") -> str:
    """A shell script that runs the command with a time limit, and waits until its data is on the disk.

    preload: the library that observes the command, quoted for the shell. omit: calls that the library omits. loaded:
    another program writes concurrently, so the script does not wait for its data. where: the command's working
    directory. The bytes are those of the shell's /proc/self/io, which includes its ended children."""
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
    """The last lines of a program's output, in one line without control characters. Empty: there is none. The output is
    untrusted: it may contain any bytes, and any number of them."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LAST_BYTES))
            text = file.read(LAST_BYTES).decode(errors="replace")
    except OSError:
        return ""
    lines = [shown.visible(line.strip()) for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-LAST_LINES:])[-LAST_BYTES:]


def named_values(path: pathlib.Path) -> dict[str, str]:
    """The values in lines of NAME VALUE."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(" ") for line in lines) if name}


def script_settings(disk: str, file: str = SETTINGS) -> list[str]:
    """Lines of a shell script that write the current settings to a file, and their allowed values to LIMITS."""
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
