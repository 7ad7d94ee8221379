# SPDX-License-Identifier: GPL-2.0-or-later
"""The text of a recording: its limits, a row for each phase, and its facts; with -v all counters of each phase."""

import dataclasses
import os
import pathlib
from collections.abc import Iterator, Mapping

from raidtrace.explain import breakdown
from raidtrace.explain.evidence import Explanation
from raidtrace.quantity import terminal, units
from raidtrace.quantity.bins import DEPTH_OPEN, KINDS, PLACE_BINS
from raidtrace.quantity.shown import visible
from raidtrace.quantity.units import SECTOR_BYTES
from raidtrace.recording import source
from raidtrace.recording.breakdown import of_recording
from raidtrace.recording.figures import Figures
from raidtrace.recording.observation import LIMIT_FILES
from raidtrace.recording.spans import COUNTED, DATA, OUTSIDE, Bins, Recorded, Span, Target
from raidtrace.report import rows as report_rows
from raidtrace.report import tables
from raidtrace.report.rows import BOLD, NOT_AVAILABLE, PLAIN, Line, Table, Words, words

OPENING = 18  # columns of a phase's name
NAMED = 8  # disturbances that the text names
RUN = "/run/raidtrace"  # a recorder stores there which file it writes
BAR = 16
PLACE_WIDTH = 48  # characters for the whole disk
SHADES = " .:-=+*#%@"
Part = Line | Words | Table


def text(recorded: Recorded, explained: Explanation | str, verbose: bool) -> str:
    """The whole report as text. explained: the result of explain, or the reason why there is none."""
    return report_rows.render(parts(recorded, explained, verbose))


def table(recorded: Recorded) -> str:
    """The row of each phase, disk and direction as text."""
    return report_rows.render(_glance(recorded, None))


def parts(recorded: Recorded, explained: Explanation | str, verbose: bool) -> Iterator[Part]:
    """The parts of the report before they are rendered."""
    yield from map(Line, _times(recorded, verbose))
    yield from _answer(explained)
    yield from _glance(recorded, None if isinstance(explained, str) else explained)
    yield Line()
    yield from _meta(recorded, verbose)
    yield from _circumstances(recorded, verbose)
    for row in recorded.targets:
        yield from _target(recorded, row, verbose)
    if verbose:
        yield from _details(recorded)
    yield Line()
    more = "What a column means: raidctl report --explain NAME"
    yield Words("", more if verbose else f"All counters: raidctl report -v. {more}", 0)


def _times(recorded: Recorded, verbose: bool) -> list[str]:
    """Where the time went, before any cause."""
    lines = breakdown.text(of_recording(recorded), terminal.width(), verbose)
    return [*lines, ""] if lines else []


def _answer(explained: Explanation | str) -> Iterator[Part]:
    if isinstance(explained, str):
        yield words("", f"Cause: not available, {explained}.", 0)
        yield Line()
        return
    if explained.tested:
        yield words("Tested:", explained.tested)
    if explained.opening:
        column = min(max(len(visible(name)) for name, _ in explained.opening), OPENING)
        for name, sentence in explained.opening:
            wide = len(visible(name)) > column
            if wide:
                yield Line(f"{BOLD}{visible(name)}{PLAIN}")
            yield Words(f"{BOLD}{'' if wide else visible(name):<{column + 2}}{PLAIN}", visible(sentence), column + 2)
        yield Line()
        yield Words("", "Advice for a phase: raidctl explain --phase NAME RECORDING", 0)
    elif explained.chains:
        if len(explained.chains) > 1:
            yield Line(f"{BOLD}{visible(explained.chains[0].title)}{PLAIN}")
        yield from (words("", sentence, 0) for sentence in explained.chains[0].summary)
    else:
        yield from (words("", sentence, 0) for sentence in explained.summary)
    yield Line()


def _glance(recorded: Recorded, explained: Explanation | None) -> Iterator[Part]:
    """The row of each phase, disk and direction with work, and the number of requests in directions without a row."""
    table = tables.phases([("A", recorded, tables.limits_of(explained) if explained else None)])
    if not table.rows:
        yield Line("no data was moved" if recorded.spans else "no samples")
        return
    yield table
    sums = {direction: sum(span.count(direction, "issued") for span in recorded.spans) for direction in tables.QUEUE}
    others = [f"{direction} {units.count(number)}" for direction, number in sums.items() if number]
    if others:
        yield Words("", f"Further requests: {', '.join(others)}.", 0)
    yield from (words("", sentence, 0) for sentence in (tables.amplified(explained) if explained else ()))


def _meta(recorded: Recorded, verbose: bool) -> Iterator[Part]:
    fact = recorded.fact
    yield Line(f"{BOLD}recording{PLAIN}  {visible(str(recorded.path))}")
    if not fact("tool_version"):
        yield Line("recorded   nothing: the recorder was killed before it stored anything")
        return
    if fact("source"):
        when = fact("started_utc") or "time unknown"
        yield words("imported", f"from {fact('source')}, {fact('trace_events')} events; traced {when}")
    elif verbose:
        yield words("recorded", f"{fact('started_utc')} on {fact('hostname')}, Linux {fact('kernel')}, "
                    f"raidtrace {fact('module_version')} (ABI {fact('abi')})")  # fmt: skip
    if fact("trace_missing") not in ("", "0"):
        yield words("LOST", f"{fact('trace_missing')} events: the kernel's buffer was full, so counts are too low")
    if fact("trace_late") not in ("", "0"):
        yield words(
            "LATE",
            f"{fact('trace_late')} events arrived too late to be sorted; they count at the time of their arrival",
        )
    if fact("trace_cut"):
        yield words("CUT", fact("trace_cut"))
    if fact("simulated") == "yes":
        what = ("controller of the lab's model, in real time" if fact("lab_time") == "real" else
                "controller and all times are of the lab's model")  # fmt: skip
        yield words("simulated", f"profile {fact('lab_profile') or NOT_AVAILABLE}: {what}")
    if verbose and fact("lab_kernel"):
        yield words("kernel", fact("lab_kernel"))
    if fact("command"):
        yield words("command", fact("command"))
    yield from _end(recorded, verbose)
    invariants = fact("invariants")
    if verbose or invariants != "hold":
        yield words("invariants", invariants or "not checked")
    if fact("counted_by") == "bpf":
        gone = fact("records_lost")
        read = source.read(recorded.meta)
        kinds = source.losses(read) if gone not in ("", "0") else ""
        yield words("counted by", "BPF programs, without the module; " + (
            f"{gone} events lost" if gone else "the number of lost events is not known") + (
            f": {kinds}" if kinds else ""))  # fmt: skip
        if beyond := source.differences(read):
            yield words("DIFFERS", f"the kernel itself completed at least this beyond the counters: {beyond}")
    lost = fact("requests_lost")
    if lost and (verbose or lost != "0"):
        yield words("requests", f"recorded one by one, {lost} lost")


def _end(recorded: Recorded, verbose: bool) -> Iterator[Part]:
    end, status = recorded.fact("end"), recorded.fact("exit_status")
    if end == "stopped":
        yield _no_end(
            recorded, "the recorder could not store more data: no space was left, or the disk of the file failed"
        )
    elif end == "running":
        pid = _recorder(recorded.path)
        yield _no_end(recorded, f"process {pid} is still recording" if pid else
                      "no process of this machine records to it; the recorder was killed, could not write, or runs "
                      "elsewhere")  # fmt: skip
    elif verbose or end != "complete" or status not in ("", "0"):
        yield words("end", f"{end}{f', exit status {status}' if status else ''}")


def _no_end(recorded: Recorded, why: str) -> Part:
    begin = _number(recorded.fact("start_ns"))
    last = max((span.end_ns for span in recorded.spans if span.end_ns > begin), default=begin)
    return words("end", f"missing: {why}; the last sample ends after {(last - begin) / 1e9:.3f} s")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 0


def _recorder(path: pathlib.Path) -> int:
    """The id of the process that records to a file. 0: none on this machine. A claim is valid if its process started at
    the recorded time."""
    for claim in sorted(pathlib.Path(os.environ.get("RAIDTRACE_RUN", RUN)).glob("record-*")):
        try:
            lines = claim.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
            _, pid, start = next(line.split() for line in lines if line.startswith("owner "))
            stat = pathlib.Path(f"/proc/{int(pid)}/stat").read_text(encoding="utf-8", errors="replace")
            if stat.rpartition(")")[2].split()[19] == start and f"file {path.resolve()}" in lines:
                return int(pid)
        except (OSError, ValueError, StopIteration, IndexError):
            continue
    return 0


def _circumstances(recorded: Recorded, verbose: bool) -> Iterator[Part]:
    yield from (words("note", note) for note in recorded.notes)
    parents: dict[int, list[str]] = {}
    for target, parent in recorded.stack:
        parents.setdefault(parent, []).append(recorded.disk(target))
    for at, (parent, members) in enumerate(parents.items()):
        made = " ".join(map(visible, (recorded.disk(parent), "is made of", *members)))
        yield Line(f"{'' if at else 'stack':<11}{made}")
    if recorded.fact("disturbance") == "quiet":
        if verbose:
            yield words("quiet", f"no disturbance; watched: {recorded.fact('watched')}")
        return
    begin = _number(recorded.fact("start_ns"))
    for at, row in enumerate(recorded.disturbances[:NAMED]):
        since, until = max(row.start_ns - begin, 0) / 1e9, (row.end_ns - begin) / 1e9
        yield words("" if at else "disturbed", f"{since:.1f} s to {until:.1f} s: {row.text}")
    if len(recorded.disturbances) > NAMED:
        yield Line(f"           and {len(recorded.disturbances) - NAMED} more; all: raidctl report --json")


def _sectors(text: str | None) -> str:
    return NOT_AVAILABLE if text is None else units.sectors(_number(text))


def _target(recorded: Recorded, row: Target, verbose: bool) -> Iterator[Part]:
    disk = row.disk
    if row.unit_3ware is None:
        yield words("disk", f"{disk}  driver, size, limits and settings n/a: a trace lacks them")
        return

    def setting(name: str) -> str:
        return recorded.setting(row.target, name) or NOT_AVAILABLE

    made = ("NVMe multipath" if disk.startswith("nvme") else "md or dm") if row.bio_based else "driver n/a"
    where = "".join(f"{word}{value}" for word, value in ((" at ", row.pci), (" ", row.hctl)) if value and verbose)
    tags = f"{row.nr_hw_queues} x {row.nr_tags or 0}" if row.nr_hw_queues else NOT_AVAILABLE
    ahead = _sectors(recorded.setting(row.target, "readahead_sectors"))
    yield words("disk", f"{disk}  {row.driver or made}{where}, "
                f"{units.octets(float(row.capacity_sectors or 0) * SECTOR_BYTES)}, largest request "
                f"{units.sectors(row.max_sectors or 0)}, readahead {ahead}, "
                f"scheduler {setting('scheduler')}, nr_requests {setting('nr_requests')}, "
                f"queue depth {setting('queue_depth')}, tags {tags}")  # fmt: skip
    if verbose and recorded.setting(row.target, "mount"):
        yield words("", f"mounted on {setting('mount')} as {setting('fstype')} ({setting('mount_options')})")
    for name in LIMIT_FILES:
        limits = (recorded.setting(row.target, name) or "").splitlines()
        if verbose:
            yield from (words("", f"{name} of {line}") for line in limits)
        elif limits:
            number = f"{len(limits)} cgroup{units.plural(len(limits))}"
            yield Words("", f"{name} limits {number}; to list them: raidctl report -v")


def _details(recorded: Recorded) -> Iterator[Part]:
    for at, span in enumerate(recorded.spans):
        if span.phase == OUTSIDE and all(map(span.idle, COUNTED)):
            continue
        yield Line()
        ahead = recorded.setting(span.target, "readahead_sectors", span.start_ns)
        yield Line(f"{BOLD}phase {visible(span.phase)}{PLAIN}  {visible(span.disk)}, {span.length() / 1e9:.3f} s, "
                   f"readahead {_sectors(ahead)}")  # fmt: skip
        for row in recorded.settings if ahead is not None else ():
            mine = (row.target, row.name) == (span.target, "readahead_sectors")
            if mine and span.start_ns < row.time_ns <= span.end_ns:
                yield Line(f"  then readahead {_sectors(row.value)}")
        yield from _counters(recorded, span)
        # Print the counters of the machine and of layers once, below the disks of the phase.
        if at + 1 < len(recorded.spans) and recorded.spans[at + 1].number == span.number:
            continue
        if span.phase != OUTSIDE:
            layers = list(_inside(tables.of_stack(recorded, span.number)))
            if layers:
                yield Line()
                yield Line(f"{BOLD}phase {visible(span.phase)}{PLAIN}  its layers")
            yield from layers
        yield from _processors(recorded.host.get(span.number, {}))
        yield from _command(recorded, recorded.host.get(span.number, {}))


def _counters(recorded: Recorded, span: Span) -> Iterator[Part]:
    """All counters of a disk in a phase."""
    if all(map(span.idle, COUNTED)):
        yield Line("  no requests")
    yield from _inside(tables.of_span(span, recorded.added))
    if span.phase != OUTSIDE:
        yield from _pictures(span)


def live(recorded: Recorded) -> str:
    """The text of live rows: of each disk the counters that report -v prints for a phase."""
    return report_rows.render(_live(recorded))


def _live(recorded: Recorded) -> Iterator[Part]:
    read = source.read(recorded.meta)
    for at, span in enumerate(recorded.spans):
        disk = next(one for one in recorded.targets if one.target == span.target)
        if at:
            yield Line()
        facts = (
            f"{disk.driver or '-'}{', simulated' if recorded.simulated() else ''}",
            f"counted for {span.length() / 1e9:.3f} s by {recorded.fact('counted_by')}",
            f"readahead {_sectors(recorded.setting(span.target, 'readahead_sectors'))}",
            *(("3ware unit",) if disk.unit_3ware else ()),
        )
        gone = " (GONE)" if recorded.setting(span.target, "gone") else ""
        yield Words(f"{BOLD}{visible(span.disk)}{PLAIN}{gone}  ", visible(", ".join(facts)), 2)
        if kinds := source.losses(dataclasses.replace(read, lost={"": read.lost.get(span.disk, {})})).removeprefix(
            ": "
        ):
            yield words("  LOST", f"{sum(read.lost[span.disk].values()):,} events, which the counters lack: {kinds}")
        of_time = of_recording(dataclasses.replace(recorded, spans=(span,)))
        yield from (Line(f"  {line}") for line in breakdown.text(of_time, terminal.width() - 2, True))
        yield from _counters(recorded, span)
        if recorded.setting(span.target, "groups_hidden"):
            yield Line("  Only the group flow is shown; all groups need root: sudo raidctl show")


def _inside(some: Iterator[Table]) -> Iterator[Table]:
    return (dataclasses.replace(table, indent=2) for table in some)


def _pictures(span: Span) -> Iterator[Part]:
    """Pictures in characters: positions on the disk, and histograms of sizes and depths."""
    for direction in DATA:
        yield from _place(span, direction)
        if not span.idle(direction):
            yield from _bars(Figures(span, direction))


Host = Mapping[tuple[str, str], int]


def _processors(host: Host) -> Iterator[Part]:
    """The use of processors. Empty in simulated time, where processors take no time."""
    cpu = {name: value for (source, name), value in host.items() if source == "cpu" and not name.startswith("guest")}
    if not sum(value for name, value in cpu.items() if name not in ("idle", "iowait")):
        return
    whole = sum(cpu.values())
    named = ("user", "system", "iowait", "irq", "softirq", "steal", "idle")
    shares = "".join(f" {name} {units.share(cpu[name], whole)}," for name in named if cpu.get(name))
    yield Line(f"  processors {shares} command {host.get(('command', 'cpu'), 0) / 1e9:.2f} s of one")


def _command(recorded: Recorded, host: Host) -> Iterator[Part]:
    requested, wrote, read = (host.get(("command", name), 0) for name in ("rchar", "wchar", "read_bytes"))
    if "command-io" not in recorded.fact("host_available") or (not requested and not wrote):
        return
    text = f"read {units.octets(requested)}, {units.octets(read)} {'of it ' if requested >= read else ''}from disks"
    if requested > read:  # more if readahead fetched unused data
        text += f", cache hits {units.octets(requested - read)} ({units.share(requested - read, requested)})"
    yield Line(f"  command     {text}; wrote {units.octets(wrote)}")


def _place(span: Span, direction: str) -> Iterator[Part]:
    """The disk from its first to its last sector. A darker character means more bytes."""
    place = span.histogram(direction, "place")
    parts = [0] * PLACE_WIDTH
    for at, count in place.items():
        parts[at * PLACE_WIDTH // PLACE_BINS] += count
    if place:
        shades = "".join(SHADES[1 + part * 8 // max(parts) if part else 0] for part in parts)
        yield Line(f"  {direction:<12} by place |{shades}|")


def _fold(histogram: Bins, kind: str) -> list[tuple[str, int]]:
    """Rows of a histogram whose bounds double, with the label and count of each."""
    sizes, end = kind == "size", max(histogram) + 1
    at, low, edge = min(histogram), 0, 8 if kind == "size" else 1
    rows: list[tuple[str, int]] = []
    bounds = KINDS[kind].bounds
    while at < end and len(rows) < 24:
        count = 0
        while at < end and bounds(at)[0] < edge:
            count += histogram.get(at, 0)
            at += 1
        if rows or count:
            rows.append((_bar_label(sizes, low, edge if at < end or sizes else bounds(end - 1)[1] or edge), count))
        low, edge = edge, edge * 2
    return rows


def _bar_label(sizes: bool, low: int, end: int) -> str:
    if sizes:
        return f"{'from' if low else 'below'} {units.octets(float(low or end) * SECTOR_BYTES)}"
    if low == DEPTH_OPEN:
        return f"{low}+"
    return f"{low}" if end - low == 1 else f"{low}..{end - 1}"


def _bar(label: str, count: int, total: int) -> str:
    length = int(count / total * BAR + 0.5) or (1 if count else 0)  # a small share gets at least one mark
    return f"{label:>12} |{'#' * min(length, BAR):<{BAR}} {units.share(count, total):>7}"


def _bars(f: Figures) -> Iterator[Part]:
    """Bars of request size on the left, of depth on the right. Empty if less than 1 % of all requests have this
    direction."""
    sizes, depths = f.histogram("size"), f.histogram("depth_time")
    if not sizes or f.count("issued") < sum(f.span.count(direction, "issued") for direction in COUNTED) // 100:
        return
    yield Line(f"  {f'{f.direction}: request size, share of requests':<40} {f.direction}s in flight, share of time")
    left = [_bar(*row, sum(sizes.values())) for row in _fold(sizes, "size")]
    right = [_bar(*row, sum(depths.values())) for row in (_fold(depths, "depth_time") if depths else ())]
    for at in range(max(len(left), len(right))):
        a = left[at] if at < len(left) else ""
        yield Line(f"  {a:<38}  {right[at]}" if at < len(right) else f"  {a}")
