# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording as rows of text: what limits it, a row a phase, and its facts; with -v all that was counted."""

import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence

from raidtrace.explain.evidence import Explanation, Verdict
from raidtrace.quantity import terminal, units
from raidtrace.quantity.shown import visible
from raidtrace.recording.figures import Figures, Range
from raidtrace.recording.spans import COUNTED, DATA, OUTSIDE, Recorded, Span, Target
from raidtrace.report import span_text
from raidtrace.report.rows import BOLD, PLAIN, Line, Row, Table, Words, cells, words

NA = "n/a"
NUMBERS, FEW = 56, 21  # columns between the name and the limit, and on a narrow terminal
WHOLE = 72  # a terminal of fewer columns is narrow
LEAST_NAME = 5
OPENING = 18  # columns of a name
NAMED = 8  # disturbances that text names
RUN = "/run/raidtrace"  # where a recorder notes what it records


def rows(found: Recorded, explained: Explanation | str, verbose: bool) -> Iterator[Row]:
    """The whole report. explained: what explain says, or why it says nothing."""
    yield from _verdict(explained)
    yield from _glance(found, None if isinstance(explained, str) else explained)
    yield Line()
    yield from _meta(found, verbose)
    yield from _besides(found, verbose)
    for row in found.targets:
        yield from _target(found, row, verbose)
    if verbose:
        yield from _details(found)
    yield Line()
    more = "What a column means: raidctl report --explain NAME"
    yield Words(
        "",
        more if verbose else f"All counters: raidctl report -v. {more}",
        0,
    )


def _verdict(explained: Explanation | str) -> Iterator[Row]:
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


def _limit(explained: Explanation, span: Span, direction: str) -> str:
    """The first limit that is inferred; those that are come first, what matters most at their head."""
    for chain in explained.chains:
        if (chain.disk, chain.phase, chain.direction) == (visible(span.disk), visible(span.phase), direction):
            first = chain.limits[0] if chain.limits else None
            return first.title if first and first.verdict is Verdict.INFERRED else "not shown"
    return "-"


def _ms(found: Range | None) -> str:
    """Three digits of milliseconds, as far as a bin of 1/16 is worth them."""
    if found is None:
        return NA
    ms = (found.low if found.high is None else found.high) / 1e6
    return f"{'>' if found.high is None else ''}{ms:.{3 if ms < 1 else 2 if ms < 10 else 1 if ms < 100 else 0}f}"


def _numbers(f: Figures) -> Sequence[str]:
    rate, depth, mode = f.mib_per_s(), f.depth(), f.size_mode
    exact = mode is not None and mode[0].high == mode[0].low + 1
    return (
        f.direction, NA if rate is None or not f.span.length() else f"{rate:.1f}",
        NA if depth is None else f"{'>' if f.depth_is_bound() else ''}{depth:.2f}",
        f"{'' if exact else '>='}{mode[0].low * units.SECTOR_BYTES / 1024:.4g}" if mode else NA,
        f"{100.0 * f.count('sequential') / f.issued:.1f}" if f.issued and f.ordered() else NA,
        *(_ms(f.d2c(share)) for share in (0.5, 0.99, 1.0)),
    )  # fmt: skip


def _glance(found: Recorded, explained: Explanation | None) -> Iterator[Row]:
    """A row for each phase, disk and direction that moved data."""
    several = len(found.targets) > 1
    table = []
    for span in found.spans:
        for direction in DATA:
            if any(span.count(direction, f"bytes_{how}") for how in ("queued", "issued", "completed")):
                name = visible(f"{span.phase} {span.disk}" if several else span.phase)
                limit = _limit(explained, span, direction) if explained else ""
                table.append((name, _numbers(Figures(span, direction)), limit))
    if not table:
        yield Line("no data was moved" if found.spans else "no samples")
        return
    columns = terminal.width()
    few = columns < WHOLE
    left = columns - (FEW if few else NUMBERS) - (max(5, *(len(limit) for *_, limit in table)) + 2 if explained else 0)
    width = min(max(5, *(len(name) for name, *_ in table)), max(left, LEAST_NAME))
    limits = "  {}" if explained else ""
    shape = f"{{:<{width}}} {{:<5}} {{:>7}} {{:>6}}" + ("" if few else " {:>6} {:>5} {:>6} {:>6} {:>7}") + limits
    heads = [
        ("PHASE", "", "MiB/s", "IN", *(() if few else ("SIZE", "SEQU.", "p50", "p99", "MAX")),
         *(("LIMIT",) if explained else ())),
        ("", "", "", "FLIGHT", *(() if few else ("KiB", "%", "ms", "ms", "ms")), *(("",) if explained else ())),
    ]  # fmt: skip
    yield Table(shape, (), (heads[0],))
    yield Line(shape.format(*heads[1]).rstrip() if explained else shape.format(*heads[1]))
    for name, numbers, limit in table:
        if len(name) > width:  # it has a line of its own
            yield Line(name)
            name = ""
        yield Table(shape, [(name, *numbers[: 3 if few else None], *((limit,) if explained else ()))])
    if few:
        yield Words("", "Size, order and latency: on a wider terminal.", 0)
    sums = {direction: sum(span.count(direction, "issued") for span in found.spans) for direction in COUNTED[2:]}
    others = [f"{direction} {units.count(number)}" for direction, number in sums.items() if number]
    if others:
        yield Words("", f"Besides, requests: {', '.join(others)}.", 0)


def _meta(found: Recorded, verbose: bool) -> Iterator[Row]:
    fact = found.fact
    yield Line(f"{BOLD}recording{PLAIN}  {visible(str(found.path))}")
    if not fact("tool_version"):
        yield Line("recorded   nothing: its recorder was killed before it stored anything")
        return
    if fact("source"):
        when = fact("started_utc") or "at a time that it does not tell"
        yield words("imported", f"from {fact('source')}, {fact('trace_events')} events; traced {when}")
    elif verbose:
        yield words("recorded", f"{fact('started_utc')} on {fact('hostname')}, Linux {fact('kernel')}, "
                    f"raidtrace {fact('module_version')} (ABI {fact('abi')})")  # fmt: skip
    if fact("trace_missing") not in ("", "0"):
        yield words("LOST", f"{fact('trace_missing')} events that the kernel had no room for")
    if fact("trace_late") not in ("", "0"):
        yield words("LATE", f"{fact('trace_late')} events came too late to be put in order")
    if fact("trace_cut"):
        yield words("CUT", fact("trace_cut"))
    if fact("simulated") == "yes":
        what = ("controller of the lab's model, in real time" if fact("lab_time") == "real" else
                "controller and all times are of the lab's model")  # fmt: skip
        yield words("simulated", f"profile {fact('lab_profile') or NA}: {what}")
    if verbose and fact("lab_kernel"):
        yield words("kernel", fact("lab_kernel"))
    if fact("command"):
        yield words("command", fact("command"))
    yield from _end(found, verbose)
    invariants = fact("invariants")
    if verbose or invariants != "hold":
        yield words("invariants", invariants or "not checked")
    lost = fact("requests_lost")
    if lost and (verbose or lost != "0"):
        yield words("requests", f"kept one by one, {lost} lost")


def _end(found: Recorded, verbose: bool) -> Iterator[Row]:
    end, status = found.fact("end"), found.fact("exit_status")
    if end == "stopped":
        yield _no_end(found, "nothing more could be stored, no space was left or its disk failed")
    elif end == "running":
        pid = _recorder(found.path)
        yield _no_end(found, f"process {pid} is still recording" if pid else
                      "no process of this machine records to it; its recorder was killed, could not write any more, or runs "
                      "elsewhere")  # fmt: skip
    elif verbose or end != "complete" or status not in ("", "0"):
        yield words("end", f"{end}{f', exit status {status}' if status else ''}")


def _no_end(found: Recorded, why: str) -> Row:
    begin = _number(found.fact("start_ns"))
    last = max((span.end_ns for span in found.spans if span.end_ns > begin), default=begin)
    return words("end", f"not there: {why}; the last sample ends after {(last - begin) / 1e9:.3f} s")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 0


def _recorder(path: pathlib.Path) -> int:
    """The process that records to a file, 0: none of this machine. A claim counts if its process began when it says."""
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


def _besides(found: Recorded, verbose: bool) -> Iterator[Row]:
    yield from (words("note", note) for note in found.notes)
    parents: dict[int, list[str]] = {}
    for target, parent in found.stack:
        parents.setdefault(parent, []).append(found.disk(target))
    for at, (parent, parts) in enumerate(parents.items()):
        yield cells(
            ("           " if at else "stack      ") + "{} is made of" + " {}" * len(parts),
            [(found.disk(parent), *parts)],
        )
    if found.fact("disturbance") == "quiet":
        if verbose:
            yield words("quiet", f"nothing disturbed; watched: {found.fact('watched')}")
        return
    begin = _number(found.fact("start_ns"))
    for at, row in enumerate(found.disturbances[:NAMED]):
        since, until = max(row.start_ns - begin, 0) / 1e9, (row.end_ns - begin) / 1e9
        yield words("" if at else "disturbed", f"{since:.1f} s to {until:.1f} s: {row.text}")
    if len(found.disturbances) > NAMED:
        yield Line(f"           and {len(found.disturbances) - NAMED} more; all of them: raidctl report --json")


def _sectors(text: str | None) -> str:
    return NA if text is None else units.sectors(_number(text))


def _target(found: Recorded, row: Target, verbose: bool) -> Iterator[Row]:
    disk = row.disk
    if row.unit_3ware is None:
        yield words("disk", f"{disk}  driver, size, limits and settings n/a: a trace does not tell")
        return

    def setting(name: str) -> str:
        return found.setting(row.target, name) or NA

    made = ("NVMe multipath" if disk.startswith("nvme") else "md or dm") if row.bio_based else "driver n/a"
    where = "".join(f"{word}{value}" for word, value in ((" at ", row.pci), (" ", row.hctl)) if value and verbose)
    tags = f"{row.nr_hw_queues} x {row.nr_tags or 0}" if row.nr_hw_queues else NA
    ahead = _sectors(found.setting(row.target, "readahead_sectors"))
    yield words("disk", f"{disk}  {row.driver or made}{where}, "
                f"{units.octets(float(row.capacity_sectors or 0) * units.SECTOR_BYTES)}, largest request "
                f"{units.sectors(row.max_sectors or 0)}, readahead {ahead}, "
                f"scheduler {setting('scheduler')}, nr_requests {setting('nr_requests')}, "
                f"queue depth {setting('queue_depth')}, tags {tags}")  # fmt: skip
    if verbose and found.setting(row.target, "mount"):
        yield words("", f"mounted on {setting('mount')} as {setting('fstype')} ({setting('mount_options')})")
    limits = [line for line in (found.setting(row.target, "io.max") or "").split("\n")]
    limits = limits[:-1] if limits[-1] == "" else limits
    if verbose:
        yield from (words("", f"io.max of {line}") for line in limits)
    elif limits:
        yield Words("", f"io.max limits {len(limits)} cgroup{units.plural(len(limits))}, report -v says which")


def _details(found: Recorded) -> Iterator[Row]:
    for at, span in enumerate(found.spans):
        if span.phase == OUTSIDE and all(map(span.idle, COUNTED)):
            continue
        yield Line()
        ahead = found.setting(span.target, "readahead_sectors", span.start_ns)
        yield cells(f"{BOLD}phase {{}}{PLAIN}  {{}}, {span.length() / 1e9:.3f} s, readahead {_sectors(ahead)}",
                    [(span.phase, span.disk)])  # fmt: skip
        for row in found.settings if ahead is not None else ():
            if (row.target, row.name) == (
                span.target,
                "readahead_sectors",
            ) and span.start_ns < row.time_ns <= span.end_ns:
                yield Line(f"  then readahead {_sectors(row.value)}")
        yield from span_text.flows(span)
        if span.phase != OUTSIDE:  # around the phases that a program names it is enough to know of it
            yield from span_text.details(span)
        # Of the machine and of stacks once, below the disks of the phase.
        if at + 1 < len(found.spans) and found.spans[at + 1].number == span.number:
            continue
        if span.phase != OUTSIDE:
            yield from span_text.members(found, span.number)
        yield from _processors(found.host.get(span.number, {}))
        yield from _command(found, found.host.get(span.number, {}))


Host = Mapping[tuple[str, str], int]


def _processors(host: Host) -> Iterator[Row]:
    """Nothing is said of processors where simulated time makes them free."""
    cpu = {name: value for (source, name), value in host.items() if source == "cpu" and not name.startswith("guest")}
    if not sum(value for name, value in cpu.items() if name not in ("idle", "iowait")):
        return
    whole = sum(cpu.values())
    named = ("user", "system", "iowait", "irq", "softirq", "steal", "idle")
    shares = "".join(f" {name} {units.share(cpu[name], whole)}," for name in named if cpu.get(name))
    yield Line(f"  processors {shares} command {host.get(('command', 'cpu'), 0) / 1e9:.2f} s of one")


def _command(found: Recorded, host: Host) -> Iterator[Row]:
    asked, wrote, read = (host.get(("command", name), 0) for name in ("rchar", "wchar", "read_bytes"))
    if "command-io" not in found.fact("host_available") or (not asked and not wrote):
        return
    text = f"read {units.octets(asked)}, {units.octets(read)} {'of it ' if asked >= read else ''}from disks"
    if asked > read:  # more where readahead fetched what nobody read
        text += f", cache hits {units.octets(asked - read)} ({units.share(asked - read, asked)})"
    yield Line(f"  command     {text}; wrote {units.octets(wrote)}")
