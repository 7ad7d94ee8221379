# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison with the controller's log: agreement passes, each single difference does not."""

import collections
import dataclasses
import random

import pytest
from made_phase import span_of

from raidtrace.demo import truth
from raidtrace.quantity.shown import UserError

END = 100_000_000
LATE = 250  # ns that our stretch is longer than the controller's, before and after


def workload(seed, nr=200):
    """Random commands, not overlapping the ends of the recording."""
    rng = random.Random(seed)
    commands = []
    for _ in range(nr):
        begin = rng.randrange(10_000, END - 3_000_000)
        name = rng.choice(["READ", "READ", "WRITE"])
        commands.append(
            truth.Command(name, 0, rng.choice([8, 64, 256]), begin, begin + rng.randrange(100_000, 2_000_000), 0)
        )
    commands.append(truth.Command("SYNCHRONIZE_CACHE", 0, 0, END - 500_000, END - 400_000, 0))
    return commands


def stretched(command):
    return dataclasses.replace(
        command, arrival_ns=command.arrival_ns - LATE, completion_ns=command.completion_ns + LATE
    )


def counted(commands):
    """The counts that raidtrace would have."""
    flow = {d: collections.Counter() for d in ("read", "write", "flush")}
    bins = {(d, "size"): collections.Counter() for d in ("read", "write")}
    for command in commands:
        direction = truth.DIRECTIONS.get(command.name, "flush")
        flow[direction].update({"issued": 1, "completed": 1, "bytes_issued": 512 * command.sectors})
        if direction != "flush":
            bins[direction, "size"][command.sectors] += 1
    bins["all", "depth_time"] = truth.depth_time([stretched(c) for c in commands], 0, END)
    return span_of(flow, bins, 0, END)


def brute_depth_time(commands, end, step):
    times = collections.Counter()
    for moment in range(0, end, step):
        times[sum(c.arrival_ns <= moment < c.completion_ns for c in commands)] += step
    return dict(times)


@pytest.mark.parametrize("seed", range(20))
def test_agreement_holds_and_the_bound_is_kept(seed):
    log = workload(seed)
    verdict = truth.compare(counted(log), log)
    assert not verdict.mismatches
    assert verdict.depths.apart <= verdict.depths.bound
    assert verdict.commands["read"] + verdict.commands["write"] == 200
    assert verdict.added == {"SYNCHRONIZE_CACHE": 1}


def test_depth_time_against_counting_every_step():
    rng = random.Random(5)
    commands = []
    for _ in range(30):
        begin = 10 * rng.randrange(0, 900)
        commands.append(truth.Command("READ", 0, 8, begin, begin + 10 * rng.randrange(1, 100), 0))
    assert truth.depth_time(commands, 0, 10_000) == brute_depth_time(commands, 10_000, 10)


def test_depth_time_is_clipped_to_the_recording():
    before = truth.Command("READ", 0, 8, 100, 600, 0)
    running = truth.Command("READ", 0, 8, 900, None, 0)
    assert truth.depth_time([before, running], 500, 1000) == {1: 200, 0: 300}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.flow["read"].update({"issued": 1}), "reads: raidtrace"),
        (lambda c: c.flow["write"].subtract({"issued": 1}), "writes: raidtrace"),
        (lambda c: c.flow["write"].update({"bytes_issued": 512}), "write bytes"),
        (lambda c: c.flow["read"].update({"errors": 1}), "errors or unmatched"),
        (lambda c: c.flow["read"].update({"unmatched": 1}), "errors or unmatched"),
        (lambda c: c.flow["flush"].update({"issued": 1}), "other commands"),
        (lambda c: c.bins["read", "size"].update({8: 1, 256: -1}), "read sizes differ"),
        (lambda c: c.bins["all", "depth_time"].update({0: c.bins["all", "depth_time"][0] + 1}), "time at all depths"),
        (
            lambda c: c.bins["all", "depth_time"].update({1: c.bins["all", "depth_time"].pop(2) + 7}),
            "more requests in flight than raidtrace counted",
        ),
    ],
)
def test_each_difference_is_detected(change, message):
    log = workload(1)
    ours = counted(log)
    change(ours)
    verdict = truth.compare(ours, log)
    assert any(message in line for line in verdict.mismatches), verdict.mismatches


def test_one_command_missing_in_the_log_is_detected():
    log = workload(2)
    assert truth.compare(counted(log), log[1:]).mismatches


def test_a_request_observed_far_too_long_is_detected():
    log = workload(3)
    ours = counted([dataclasses.replace(log[0], completion_ns=END - 2 * LATE)] + log[1:])
    assert any("longer" in line for line in truth.compare(ours, log).mismatches)


def test_the_depth_at_issue_must_agree_when_nothing_was_observed_longer():
    log = [truth.Command("READ", 0, 8, 100, 900, 0), truth.Command("READ", 0, 8, 200, 800, 1)]
    flow = {"read": collections.Counter(issued=2, completed=2, bytes_issued=8192)}
    bins = {
        ("read", "size"): {8: 2},
        ("all", "depth_time"): truth.depth_time(log, 0, 1000),
        ("all", "depth_issue"): {0: 1, 1: 1},
    }
    assert not truth.compare(span_of(flow, bins), log).mismatches
    bins["all", "depth_issue"] = {0: 2}
    assert any("another depth" in line for line in truth.compare(span_of(flow, bins), log).mismatches)


def test_a_requeued_request_did_not_arrive():
    log = workload(4)
    ours = counted(log)
    ours.flow["read"].update({"issued": 1, "requeued": 1, "bytes_issued": 4096})
    ours.bins["read", "size"].update({8: 1})
    assert not truth.compare(ours, log).mismatches


def test_commands_outside_the_recording_are_not_compared():
    log = workload(6)
    late = truth.Command("READ", 0, 8, END + 5, END + 9, 0)
    assert not truth.compare(counted(log), log + [late]).mismatches


def test_the_log_is_read_by_its_header(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        ",".join(truth.HEADER)
        + "\n1,7,0x28,READ,0,64,256,1000,2000,3,0\n2,8,0x28,READ,1,0,8,1,2,0,0\n3,9,0x2a,WRITE,0,0,8,5000,,0,\n"
    )
    log = truth.read_log(path)
    assert log == [truth.Command("READ", 0, 256, 1000, 2000, 3), truth.Command("WRITE", 0, 8, 5000, None, 0)]
    for damage in ("4,10,0x28", '4,10,"', "\0", "a" * 200_000):
        path.write_text(",".join(truth.HEADER) + "\n" + damage)
        with pytest.raises(UserError, match="line 2 is cut short"):
            truth.read_log(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="not a command log"):
        truth.read_log(path)
