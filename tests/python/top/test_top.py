# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl top: its rows, their order and texts, its keys, and its screen on a terminal."""

import dataclasses
import os
import signal
import subprocess
import sys

import pytest
from conftest import BY_BPF, TOP, call
from terminal import Terminal

from raidtrace.cli import top as cli
from raidtrace.explain.breakdown import drawn
from raidtrace.recording import live
from raidtrace.recording.live import DIFFERENCE, Live
from raidtrace.recording.spans import Setting
from raidtrace.top import model, view
from raidtrace.top.model import COLUMNS, Interval, Keys, State, Top, bar

GOLDEN = TOP / "tests/python/report/golden/top.txt"
SECOND = 10**9


@pytest.fixture
def recorded(sampled):
    """One sample of sda, sdb, sdc and md0."""
    sampled()
    with Live("top", []) as disks:
        return disks.recorded(DIFFERENCE)


def with_spans(recorded, spans, **more):
    return dataclasses.replace(recorded, spans=tuple(spans), **more)


def taken(*samples):
    top = Top()
    for sample in samples:
        top.take(sample)
    return top


def names(top):
    return [row.target.disk for row in top.rows]


def two_seconds(recorded):
    """sda for two seconds, by numbers that can be worked out by hand."""
    span = next(span for span in recorded.spans if span.disk == "sda")
    read = dict.fromkeys(span.flow["read"], 0)
    flow = {
        "read": read | {"queued": 104, "back_merges": 4, "splits": 4, "front_merges": 1, "request_merges": 1, "issued": 100,
                        "completed": 98, "bytes_issued": 100 * 131072, "bytes_completed": 98 * 131072, "sequential": 95,
                        "d2c_sum_ns": 98 * 1000000, "in_flight": 2},
        "write": read | {"issued": 10, "completed": 10, "bytes_issued": 40960, "bytes_completed": 40960, "errors": 1},
    }  # fmt: skip
    bins = {
        ("read", "size"): {256: 100},
        ("read", "seek"): {64: 95, 74: 5},
        ("read", "depth_time"): {2: SECOND, 4: SECOND},
        ("read", "d2c"): {270: 98},
        ("write", "size"): {8: 10},
        ("write", "seek"): {51: 10},
        ("write", "depth_time"): {0: SECOND * 3 // 2, 1: SECOND // 2},
        ("write", "d2c"): {359: 10},
        ("all", "depth_time"): {0: SECOND // 2, 4: SECOND * 3 // 2},
    }
    plain = span.plain | {"held_ns": SECOND // 5, "backlog_ns": SECOND // 2, "streams_forgotten": 0}
    return dataclasses.replace(
        span, flow=flow, bins=bins, plain=plain, unknown=frozenset(), origin={"data": {"seeks": 6}, "journal": {"seeks": 3}},
        start_ns=10 * SECOND, end_ns=12 * SECOND,
    )  # fmt: skip


def texts(row):
    return {column.name: row.cell(column).text for column in COLUMNS[1:]}


def test_values_that_can_be_worked_out_by_hand(recorded):
    top = taken(with_spans(recorded, [two_seconds(recorded)]))
    row = next(row for row in top.rows if row.target.disk == "sda")
    assert texts(row) == {
        "busy": "75.0 %", "MiB/s read": "6.1", "MiB/s written": "0.0", "reads in flight": "3.00", "writes in flight": "0.25",
        "request size": "128", "sequential": "86.4", "seeks/s": "7.5", "p99": "50.3", "merges/s": "3.0", "splits/s": "2.0",
        "readahead": "128",
    }  # fmt: skip
    assert row.errors == 1 and row.interval.seconds == 2 and model.classes(row.interval) == "3.0 data, 1.5 journal"
    states = row.interval.states
    assert list(states) == ["served", "backlog", "held", "empty"]
    assert [*states.values()] == pytest.approx([0.5, 0.25, 0.1, 0.15])
    assert view.states_text(row.interval) == "served 50.0 %, backlog 25.0 %, held 10.0 %, empty 15.0 %"
    assert model.details(row.interval)[:4] == [
        ("in flight", "3.00 mean, 4 max", "0.25 mean, 1 max"),
        ("throughput, IOPS", "6.1 MiB/s, 49.0 IOPS", "0.0 MiB/s, 5.0 IOPS"),
        ("size mode, mean", "128 KiB, 128 KiB", "4 KiB, 4 KiB"),
        ("sequential, seeks/s", "95.0 %, 2.5", "0.0 %, 5.0"),
    ]
    assert top.full() == 8


def test_life_of_a_row(recorded):
    sda, sdb = recorded.targets[:2]
    only = dataclasses.replace(recorded, targets=(sda,), spans=())
    counted = dataclasses.replace(only, spans=(two_seconds(recorded),))
    top = taken(only)
    (row,) = top.rows
    assert row.state is State.FRESH and texts(row)["readahead"] == "128" and texts(row)["busy"] == "n/a"
    top.take(counted)
    assert row.state is State.COUNTED and row.errors == 1
    top.take(only)  # reset, or without memory for an answer
    assert row.state is State.FRESH and row.interval is None and row.errors == 1
    top.take(dataclasses.replace(counted, settings=(*only.settings, Setting(0, sda.target, "gone", "1"))))
    assert row.state is State.GONE and row.interval is None and texts(row)["readahead"] == "n/a"
    top.picked = sda.target
    top.take(dataclasses.replace(recorded, targets=(sdb,), spans=()))
    assert row.state is State.DETACHED and names(top) == ["sda", "sdb"] and top.chosen() is row
    again = dataclasses.replace(sda, target=9)
    top.take(dataclasses.replace(recorded, targets=(sdb, again), spans=()))
    assert names(top) == ["sda", "sdb"] and top.chosen().target is again, "the new one replaces it, and is selected"
    renewed = dataclasses.replace(again, attached_ns=(again.attached_ns or 0) + 1)  # the module was loaded again
    top.take(dataclasses.replace(recorded, targets=(sdb, renewed), spans=()))
    assert names(top) == ["sda", "sdb"] and top.rows[0].state is State.FRESH
    other = dataclasses.replace(again, target=11)  # another disk, which got the name of one that was removed
    top.take(dataclasses.replace(recorded, targets=(sdb, renewed, other), spans=()))
    assert names(top) == ["sda", "sda", "sdb"], "the counters of the removed one are kept"
    empty = dataclasses.replace(recorded, targets=(), spans=())
    assert taken(empty).chosen() is None and taken(empty).full() == 8


def test_the_first_named_disk_is_picked(recorded):
    assert taken(dataclasses.replace(recorded, meta=recorded.meta | {"picked": "sdc"})).chosen().target.disk == "sdc"
    assert taken(recorded).chosen().target.disk == "md0", "otherwise the first row"


def test_sorting(recorded):
    """Highest first, unknown last, then by name with numbers as numbers."""
    span = two_seconds(recorded)
    targets = [dataclasses.replace(recorded.targets[0], target=at, disk=name)
               for at, name in enumerate(("sd10", "sd9", "sd2", "sd1"), 1)]  # fmt: skip
    faster = {name: value * 2 for name, value in span.flow["read"].items()}
    spans = [
        dataclasses.replace(span, target=1),
        dataclasses.replace(span, target=3, flow=span.flow | {"read": faster}),
    ]
    top = taken(dataclasses.replace(recorded, targets=tuple(targets), spans=tuple(spans)))
    assert names(top) == ["sd1", "sd2", "sd9", "sd10"]
    top.sort = [column.name for column in COLUMNS].index("MiB/s read")
    top.sorted()
    assert names(top) == ["sd2", "sd10", "sd1", "sd9"]
    top.picked = 1
    moves = []
    for step in (1, 100, -100):  # the selection is a disk, not a line
        top.pick(step)
        moves.append(top.chosen().target.disk)
    assert moves == ["sd1", "sd9", "sd2"]


def test_rows_of_all_that_a_disk_can_hold(recorded):
    """Each column and each line of the details; the numbers of the columns are those of the report's tables."""
    lines = []
    for row in taken(recorded).rows:
        cells = ", ".join(f"{name} {text}" for name, text in texts(row).items())
        lines += [
            f"{row.target.disk}: {cells}",
            view.states_text(row.interval),
            drawn(row.interval.states, view.STATES),
        ]
        lines += [f"  {label}: {read} | {write}" for label, read, write in model.details(row.interval)]
        lines.append(f"  seeks/s by class: {model.classes(row.interval)}")
    text = "\n".join([*lines, ""])
    if "UPDATE_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8"), "if this change is meant: UPDATE_GOLDEN=1"


def test_a_kernel_without_tracepoints(sampled):
    sampled("INSERT INTO meta VALUES('unavailable', 'block_bio_frontmerge block_split')")
    with Live("top", []) as disks:
        top = taken(disks.recorded(DIFFERENCE))
    row = texts(next(row for row in top.rows if row.target.disk == "sda"))
    assert row["merges/s"] == row["splits/s"] == "n/a" and row["seeks/s"] != "n/a"


def test_losses_are_named_by_disk_and_kind(sampled):
    sampled(*BY_BPF)
    with Live("top", []) as disks:
        top = taken(disks.recorded(DIFFERENCE))
    assert top.losses.startswith("sdb: 3 queue, 12,345 end, 2 ends of requests not delivered; a buffer was full")


@pytest.mark.parametrize(
    ("mean", "most", "length", "full", "text"),
    [
        (2, 4, 8, 8, "##--...."),
        (0.0, 0, 8, 8, "........"),
        (0.001, 1, 8, 32, "#......."),  # a little is not nothing
        (8, 8, 8, 8, "########"),
        (None, 8, 8, 8, ""),
    ],
)
def test_bars(mean, most, length, full, text):
    assert bar(mean, most, length, full) == text


@pytest.mark.parametrize(
    ("keys", "sort", "interval", "frozen", "message"),
    [
        ("s", "busy", 1, False, ""),
        ("s" * len(COLUMNS), "disk", 1, False, ""),
        ("f", "disk", 1, True, ""),
        ("f ", "disk", 1, False, ""),
        ("+", "disk", 2, False, ""),
        ("=--", "disk", 0.5, False, ""),
        ("-" * 17, "disk", 0.05, False, "this is the shortest interval"),
        ("+" * 17, "disk", 60, False, "this is the longest interval"),
        ("+" * 17 + "k", "disk", 60, False, ""),
        ("?s+f", "disk", 2, True, ""),  # any key ends the help, and does nothing else
        ("hxrw5\r", "disk", 1, False, ""),  # no key changes a setting
    ],
)
def test_keys(recorded, keys, sort, interval, frozen, message):
    for top in (taken(recorded), Top()):
        state = Keys(1.0)
        assert all(state.press(top, key) for key in keys)
        assert (COLUMNS[top.sort].name, state.interval, state.frozen, state.message) == (
            sort,
            interval,
            frozen,
            message,
        )
        assert not state.press(top, "q") and not state.help


def test_help_fits(recorded):
    lines = model.HELP.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 79


@pytest.mark.parametrize(
    ("columns", "number", "length"), [(40, 3, 5), (80, 7, 7), (100, 9, 8), (132, 12, 9), (400, 12, 40)]
)
def test_columns_that_fit(columns, number, length):
    shown, bars = view.layout(columns)
    assert (len(shown), bars) == (number, length)
    assert view.DISK.width + sum(column.width or bars + view.NUMBER for column in shown) <= columns


def test_wrong_command_lines(sampled):
    for words, text in (
        (("-i", "1ms"), "not between 50ms and 1m"),
        (("-i", "x"), "is not a time"),
        ((), "not a terminal"),
    ):
        done = call(cli.main, *words)
        assert done.returncode == 2 and text in " ".join(done.stderr.split())


class Screen(Terminal):
    """raidctl top on a terminal, with rows of the fixture."""

    def __init__(self, *words, **environment):
        code = ("import pathlib, sys; from raidtrace.cli import front; from raidtrace.recording import live; "
                f"live.RAIDCTL = pathlib.Path({str(live.RAIDCTL)!r}); sys.argv[0] = 'raidctl-top'; "
                "sys.exit(front.run('top'))")  # fmt: skip
        path = {"PYTHONPATH": str(TOP / "tools/python")}
        super().__init__(
            (sys.executable, "-c", code, *words), controls=False, stderr=subprocess.PIPE, env=path | environment
        )

    def ends(self, keys=""):
        """The exit status and the messages."""
        self.type(keys)
        status = self.ended()
        assert self.restored()
        self.close()
        with self.program.stderr as messages:
            return status, messages.read()


def test_screen(sampled):
    asked = sampled(*BY_BPF)
    screen = Screen("-i", "200ms", "sdb")
    assert screen.until(r"raidctl top \(bpf\)  every 0.2 s  sorted by disk") and screen.until(">md0")
    assert screen.until("LOST sdb: 3 queue")
    screen.type("j")
    assert screen.until(">sda") and screen.until("3w-9xxx") and screen.until("seeks/s by class")
    screen.watch(1.0)  # some intervals
    screen.type("?")
    assert screen.until("any key goes back")
    status, messages = screen.ends("xq")
    assert status == 0 and messages.startswith("raidctl: events were lost: sdb: 3 queue")
    lines = asked.read_text().splitlines()
    assert lines[0] == "rows top -- sdb" and set(lines[1:]) == {"difference"} and len(lines) > 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signals_end_it(sampled, number):
    sampled()
    screen = Screen()
    assert screen.until(">md0")
    screen.program.send_signal(number)
    assert screen.ends() == (0, "")


def test_resize(sampled):
    sampled()
    screen = Screen("-i", "10s")
    assert screen.until(">md0")
    for lines, columns, text in ((50, 200, "merges/s"), (3, 20, "the terminal is too"), (24, 80, ">md0")):
        screen.resize(lines, columns)
        screen.program.send_signal(signal.SIGWINCH)
        assert screen.until(text)
    assert screen.ends("q") == (0, "")


def test_a_closed_terminal_ends_it(sampled):
    sampled()
    screen = Screen("-i", "10s")
    assert screen.until(">md0")
    screen.close()
    assert screen.program.wait(timeout=20) is not None
    screen.program.stderr.close()


def test_colours(sampled):
    sampled()
    for no_color in ("", "1"):
        screen = Screen("-i", "10s", NO_COLOR=no_color, TERM="xterm-256color")
        assert screen.until("help  q quit")
        assert ("\x1b[32m" in screen.raw) == (not no_color)
        assert screen.ends("q") == (0, "")


def test_failures(sampled):
    sampled()
    screen = Screen(TERM="nosuchterminal")
    status, messages = screen.ends()
    assert status == 1 and "raidctl top: the terminal type TERM=nosuchterminal is unknown" in messages
    live.RAIDCTL.write_text("#!/bin/sh\nread -r kind; echo failed no memory\nread -r kind\n")
    screen = Screen()
    assert screen.ends() == (1, "raidctl top: no memory\n")
    live.RAIDCTL.write_text("#!/bin/sh\necho raidctl: no such disk >&2; exit 1\n")
    screen = Screen()
    assert screen.ends() == (1, "raidctl: no such disk\n")


def test_an_interval_without_reads_and_writes(recorded):
    span = next(span for span in recorded.spans if span.disk == "sda")
    idle = dataclasses.replace(span, flow={}, bins={("all", "depth_time"): {0: span.length()}}, plain={}, origin={})
    one = Interval(idle)
    assert one.rate(0).text == "0.0" and one.both.size_mode is None and model.classes(one) == ""
    assert model.details(one)[2] == ("size mode, mean", "n/a, n/a", "n/a, n/a")
