# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl show: print the counters of disks now, or over a time from now on."""

import argparse
import contextlib
import signal
import sys
from collections.abc import Iterator, Sequence

from raidtrace.quantity import shown, usage
from raidtrace.quantity.shown import Json, UserError
from raidtrace.quantity.usage import add_source
from raidtrace.recording import document, live, source, spans
from raidtrace.recording.live import DIFFERENCE, TOTAL, Live
from raidtrace.recording.sample_rows import SampleRows
from raidtrace.recording.spans import Recorded, Span
from raidtrace.report import text

DESCRIPTION = """Print the counters of each DISK, or of all attached disks, since they were attached or reset. Where the module
is not loaded, count each DISK by BPF programs for a time, and print this."""
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the first of these ends the duration
BPF_SECONDS = 1.0
KNOWN = ("target", "disk", "attached_ns", "gone", "bio_based")  # of a disk that is gone


def parser() -> argparse.ArgumentParser:
    top = usage.Parser("raidctl show", description=DESCRIPTION)
    top.add_argument("disks", metavar="DISK", nargs="*", help="a disk; without one, all attached disks")
    top.add_argument("--duration", metavar="TIME", type=usage.duration, help="count for TIME from now on, or until Ctrl-C "
                     "(default: with the module since attach or reset, with bpf 1s)")  # fmt: skip
    add_source(top)
    top.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    return top


def main(arguments: Sequence[str]) -> int:
    """Run raidctl show. Exit status: 0 done, 1 failed, 2 usage."""
    options = parser().parse_args(arguments)
    try:
        with (
            _blocked(),
            Live("show", options.disks, options.source) as disks,
            disks.rows(_awaited(disks, options.duration)) as rows,
        ):
            if not rows.samples and not options.json and not options.disks:
                print("raidctl: no disk is attached; attach one: raidctl attach DISK (as root)", file=sys.stderr)
            elif options.json:
                with spans.raw_texts(rows):
                    shown.write((shown.value_json([_object(*one) for one in _all(rows)]) + "\n",))
            else:
                shown.write((text.live(_read(rows)),))
    except live.Ended as error:
        return error.status
    return 0


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    """Block the signals that end the duration, also before it begins: one that comes while disks are attached ends it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _awaited(disks: Live, seconds: float | None) -> str:
    """Wait until the counters are to be read. Returns their kind: BPF programs count since they were attached for this."""
    first = disks.recorded(DIFFERENCE)
    own = first.fact("counted_by") == source.BPF
    if first.targets and (own or seconds):
        signal.sigtimedwait(ENDS, seconds or BPF_SECONDS)
    return TOTAL if own or not seconds else DIFFERENCE


def _read(rows: SampleRows) -> Recorded:
    """Raises UserError: a disk was detached meanwhile, or its counters were reset."""
    recorded = spans.read(live.NO_PATH, rows)
    counted = {span.target for span in recorded.spans}
    for one in recorded.targets:
        if one.target not in counted:
            raise UserError(f"{one.disk}: no counters: another process detached it or reset them; try again")
    return recorded


def _all(rows: SampleRows) -> list[tuple[Recorded, Span]]:
    recorded = _read(rows)
    return [(recorded, span) for span in recorded.spans]


def _object(recorded: Recorded, span: Span) -> Json:
    """The JSON object of a disk."""
    lost = source.read(recorded.meta).lost.get(span.disk, {})
    ahead = int(recorded.setting(span.target, "readahead_sectors") or 0)
    gone = recorded.setting(span.target, "gone") is not None
    target = document.target(next(one for one in recorded.targets if one.target == span.target)) | {"gone": gone}
    of_span = document.span_of(recorded, span)
    return {name: value for name, value in of_span.items() if name not in ("phase", "phase_number")} | {
        "source": recorded.fact("counted_by"),
        "lost_records": {kind: number for kind, number in lost.items() if kind not in source.KINDS},
        **{kind: lost.get(kind, 0) for kind in source.KINDS},
        "simulated": recorded.simulated(),
        "gone": gone,
        "readahead_sectors": ahead,
        "readahead_kib": ahead // 2,
        "target": {name: value if not gone or name in KNOWN else None for name, value in target.items()},
    }
