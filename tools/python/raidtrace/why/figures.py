# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of a run in its directory, read back: the recording, the settings, and the bytes the program requested."""

import os
import pathlib
import shlex
from collections.abc import Iterable, Sequence

from raidtrace.quantity import shown
from raidtrace.recording import invariants
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.figures import Figures
from raidtrace.recording.spans import COUNTED, DATA, OUTSIDE, Span
from raidtrace.why.changes import FILES, OF_REQUESTS
from raidtrace.why.run import Run

RECORDING, SETTINGS, LIMITS = "run.rtdb", "settings", "limits"
AFTER = "settings-after"  # the run
MEASURED = "measured.sh"
STATUS, ASKED, SEEN, STDOUT, STDERR = "status", "asked", "seen", "out", "err"  # of the measured program
TOOK_TOO_LONG = 124  # timeout(1)
NS_PER_MS = 1e6
# counters of a disk, and of one that has bios alone: how many, their bytes, the sum of their times
REQUESTS, BIOS = ("completed", "bytes_completed", "d2c_sum_ns"), ("queued", "bytes_queued", "q2c_sum_ns")
MOST_STDOUT = 1 << 20  # bytes of a command's output that are kept
LAST_BYTES, LAST_LINES = 500, 5  # of what a failed command printed


def read(directory: pathlib.Path, disk: str, phase: str, cap_s: float) -> Run:
    """The run of a directory. If its files are missing or malformed, a failed run with the reason."""
    try:
        settings = named_values(directory / SETTINGS)
        after = named_values(directory / AFTER)
        limits = {name: tuple(value.split()) for name, value in named_values(directory / LIMITS).items()}
        status = int((directory / STATUS).read_text(encoding="ascii"))
        io = named_values(directory / ASKED)
        requested = int(io["rchar:"]) + int(io["wchar:"])
        observed = (
            frozenset((directory / SEEN).read_text(encoding="ascii").split())
            if (directory / SEEN).exists()
            else frozenset()
        )
        recorded = invariants.load(directory / RECORDING)
        spans = _chosen(recorded.spans, disk, phase)
        if (directory / STDOUT).exists() and (directory / STDOUT).stat().st_size > MOST_STDOUT:
            os.truncate(directory / STDOUT, MOST_STDOUT)  # of each of a hundred runs
    except (OSError, ValueError, KeyError, RecordingError) as error:
        return Run(failure=f"no figures: {error}")
    failure = f"ended after {cap_s:.3g} s, three times as long as it is" if status == TOOK_TOO_LONG and cap_s else ""
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
    variable = f'RAIDTRACE_WHY_SEEN="$PWD/{SEEN}"'
    lines = [
        f"{limit}env -C {shlex.quote(where)} LD_PRELOAD={preload} {variable} {shlex.join(words)} >{STDOUT} 2>{STDERR}",
        f"echo $? >{STATUS}",
        f"cat /proc/$$/io >{ASKED}",
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
