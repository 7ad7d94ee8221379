#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1 7.2
"""raidctl lab ab and expect: findings from numbers, and exit statuses for git bisect run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import LAB, LIMIT_S, TOP, check, lab, scratch, skip  # noqa: E402

sys.path[:0] = [str(TOP / "tools/lab"), str(TOP / "tools/python")]
from raidlab.verbs import compare, measures  # noqa: E402

from raidtrace.recording.work import Work  # noqa: E402

READ = ("dd", "if=/dev/sda", "of=/dev/null", "bs=1M", "count=16")


def span(rate: float, depth: float, size: float, time_ms: float, idle: float = 0.0, seeks: int = 0,
         moved: float = 100, calls: int | None = 1000) -> measures.Span:  # fmt: skip
    """A phase of reads. The numbers need not agree with each other. moved: MiB that the disk read; calls: of the command."""
    direction = {
        "mib_per_s": rate, "requests": 1000, "bytes": moved * 2**20, "in_flight_mean": depth, "in_flight_max": 9,
        "request_bytes_mean": size, "request_sectors_mode_low": size // 512, "sequential_share": 1 - seeks / 1000,
        "seeks": seeks, "d2c_mean_ns": time_ms * 1e6, "d2c_p99_ns_high": time_ms * 2e6, "flow": {},
        "histograms": {"depth_time": [{"low": 0, "high": 1, "count": idle}, {"low": 1, "high": 2, "count": 1 - idle}]},
    }  # fmt: skip
    seconds = moved / rate if rate else 1.0
    both = {"read": direction, "write": direction | {"requests": 0, "bytes": 0}}
    return measures.Span("run", "sda", seconds, both, Work(seconds, 100 << 20, calls))


BASE = span(100, 4, 131072, 5)
FINDINGS = (
    (
        "half the depth",
        span(50, 2, 131072, 5),
        "100.0% more time",
        "The difference is in the number of requests in flight, 4.00 -> 2.00",
    ),
    (
        "half the size",
        span(50, 4, 65536, 5),
        "100.0% more time",
        "The difference is in the size of the requests, 128.0 -> 64",
    ),
    (
        "twice the time",
        span(50, 4, 131072, 10),
        "100.0% more time",
        "The difference is in the time of a request, 5.000 -> 10",
    ),
    ("half the time", span(200, 4, 131072, 2.5), "50.0% less time", "The difference is in the time of a request"),
    (
        "less depth outweighs less time",
        span(60, 2, 131072, 4),
        "more time than A for the same work",
        "Also changed: the time of a request",
    ),
    (
        "a pipeline that runs dry",
        span(50, 2, 131072, 5, 0.3),
        "more time",
        "nothing in flight 0.0 % -> 30.0 % of the time",
    ),
    ("seeks", span(50, 4, 131072, 10, 0, 500), "The order changed: 0 -> 500 seeks", "100.00 -> 50.00 % sequential"),
    ("nothing", BASE, "B takes as long as A for the same work", "1.000 and 1.000 s"),
    (
        "twice the rate for four times the bytes takes twice the time",
        span(200, 8, 131072, 5, moved=400),
        "B takes 100.0% more time than A for the same work: 1.000 -> 2.000 s",
        "The difference is in the bytes that the disk moved for the work, 100.0 -> 400.0 MiB",
    ),
    (
        "other work",
        span(200, 8, 131072, 5, calls=2000),
        "The work of A and B differs, so neither is called faster. " "Rate of the disk: 100.0 -> 200.0 MiB/s.",
        "in flight, 4.00 -> 8.00",
    ),
    ("unknown work", span(200, 8, 131072, 5, calls=None), "not known to be the same, so neither is called faster"),
    ("no data at all", span(0, 0, 131072, 5), "Not comparable", "A has 100.0 MiB/s, B 0.0"),
)


def findings() -> None:
    for name, other, *parts in FINDINGS:
        text = compare.finding(measures.Sample((BASE,)), measures.Sample((other,)), "read", "B")
        check(f"it is named: {name}", all(part in text for part in parts), text)
    sections = compare.sections([[[BASE]], [[FINDINGS[0][1]]], [[BASE]]])
    check("a direction without requests is left out", [one.direction for one in sections] == ["read"], sections)
    ratios = {row.name: (row.ratio(1), row.ratio(2)) for row in sections[0].rows}
    check("ratios are to the first", ratios["mib_per_s"] == (0.5, 1.0) and ratios["seeks"] == (None, None), ratios)


def chances() -> None:
    """Intervals against values computed by hand, and the sequential test at its bounds."""
    low, high = measures.interval([100.0, 110.0, 90.0], [50.0, 55.0, 45.0])
    # of the logarithms: difference -0.69315, both deviations 0.10050, error 0.082061, 4 degrees of freedom, t 2.776
    check("half the rate", abs(low - 0.3981) < 0.0002 and abs(high - 0.6279) < 0.0002, (low, high))
    check("is no chance", not measures.is_chance((low, high)))
    check("the same values are chance", measures.is_chance(measures.interval([1.0, 2.0, 3.0], [2.0, 3.0, 1.0])))
    check("bounds are part of an interval", measures.is_chance((1.0, 1.1)) and measures.is_chance((0.9, 1.0)))
    check("a value outside is none", not measures.is_chance((1.001, 1.1)) and not measures.is_chance((0.9, 0.999)))
    check("without spread the ratio is a fact", measures.interval([2.0, 2.0], [3.0, 3.0]) == (1.5, 1.5))
    for before, after in (([1.0], [2.0, 2.0]), ([1.0, 0.0], [1.0, 1.0]), ([1.0, None], [1.0, 1.0])):
        check(f"no interval of {before} and {after}", measures.interval(before, after) is None)
    check(
        "two that agree do not decide", measures.decided([True, True]) is None and measures.decided([False] * 2) is None
    )
    check("three do", measures.decided([True] * 3) is True and measures.decided([False] * 3) is False)
    check("it takes a lead of three", measures.decided([True, False, True, True]) is None)
    check("whoever has it", measures.decided([True, False, False, False, False]) is False)
    wide = [span(rate, 4, 131072, 5) for rate in (90, 110, 100)]
    near = [span(rate, 4, 131072, 5) for rate in (95, 108, 101)]
    far = [span(rate, 2, 131072, 5) for rate in (45, 55, 50)]
    section = compare.sections([[[one] for one in runs] for runs in (wide, near, far)])[0]
    check("chance is called so", "differ only by chance" in section.findings[0], section.findings)
    check("an effect is explained, with its interval",
          "more time than A" in section.findings[1] and "at 95 %" in section.findings[1], section.findings)  # fmt: skip
    check("and is in the table", any("0.3" in line and "-0.6" in line for line in compare.lines(section)), section)
    single = compare.sections([[[BASE]], [[FINDINGS[0][1]]]])[0]
    check("one run has no interval", "95 %" not in "".join(compare.lines(single) + single.findings), single)


def expects(out: Path) -> None:
    def expect(expression: str, *command: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        return lab("expect", "-q", "--out", str(out), *options, expression, "--", *(command or READ))

    holds = expect("mib_per_s > 1 and request_bytes_mode == 131072 and seconds > 0")
    check("what holds is 0", holds.returncode == 0 and holds.stdout.startswith("holds: "), holds)
    named = re.search("see it: raidctl report (.*)\n", holds.stderr)
    check("the recording is named as it is here", bool(named) and Path(named[1]).samefile(out / "lab.rtdb"), holds)
    measured = lab("expect", "-q", "-j", "--out", str(out), "requests > 100000", "--", *READ)
    facts = json.loads(measured.stdout)
    check("what does not is 1", measured.returncode == 1 and facts["holds"] is False, measured)
    check("which is called simulated", (facts["simulated"], facts["lab_time"]) == (True, "simulated"), facts)
    rows = (out / "ground-truth.csv").read_text().count(",READ,")
    check("the measured value is printed, and true", 128 <= facts["measured"]["requests"] <= rows, facts)
    cases = (
        ("an unknown name is 128", expect("mips > 3"), 128, "mips is not a measure"),
        ("a command without data is 128", expect("seeks < 3", "true"), 128, "reads and writes nothing"),
        ("a command that fails is 125", expect("seeks < 3", "false"), 125, "exit status 1"),
        ("a phase that is not there is 125", expect("seeks < 3", options=("--phase", "x")), 125, "run of sda"),
        ("a measure without a value is 125", expect("write_request_bytes_mean > 3"), 125, "no value"),
        ("a kernel that is not there is 125", expect("seeks < 3", options=("--kernel", "./none")), 125, "no such"),
        ("a wrong profile is 125", expect("seeks < 3", options=("--profile", "x")), 125, "profile"),
        ("LAB=vm is 125", lab("expect", "seconds < 3", "--", "true", LAB="vm"), 125, "two runs"),
    )
    for name, done, status, part in cases:
        check(name, done.returncode == status and part in done.stderr, done)
    made = "modprobe raid0 && mdadm --quiet --create /dev/md0 --run --level=0 --raid-devices=2 /dev/sda /dev/sdb"
    md = f"{made} && raidctl record -q -d md0 -o md.rtdb -- dd if=/dev/md0 of=/dev/null bs=1M count=4"
    for measure, status, part in (("seconds", 0, "holds"), ("mib_per_s", 125, "md0 receives only bios")):
        done = expect(f"{measure} > 0", "sh", "-c", md, options=("-d", "md0", "--profile", "jbod-4"))
        check(
            f"of an md disk {measure} is {status}",
            done.returncode == status and part in done.stdout + done.stderr,
            done,
        )
    check("its time can be tested", expect("seconds < 3", "true").returncode == 0)
    own = expect("seeks < 3 and write_requests == 0", "sh", "-c", f"raidctl record -q -o own.rtdb -- {' '.join(READ)}")
    check("a command that records itself is not recorded twice", own.returncode == 0, own)


def bisect(directory: Path) -> None:
    """git bisect run over a profile: the contract of the exit status, with seconds instead of kernels."""
    repository = directory / "repository"
    repository.mkdir()
    profile = "# An array of its own\n[controller]\nlatency_us = 100\n"

    def git(*words: str) -> str:
        own = ("-c", "user.name=lab", "-c", "user.email=lab@localhost", "-C", str(repository))
        return subprocess.run(["git", *own, *words], capture_output=True, text=True, check=False).stdout

    def commit(name: str, text: str) -> str:
        (repository / "array.toml").write_text(text)
        git("add", "-A")
        git("commit", "-q", "-m", name)
        return git("rev-parse", "HEAD").strip()

    slow = profile.replace("100", "50000")
    git("init", "-q")
    first = commit("base", profile)
    commit("harmless", profile + "# 1\n")
    commit("harmless as well", profile + "# 1a\n")
    commit("cannot be tested", profile + "latency = 3\n")
    commit("mended", profile + "# 2\n")
    culprit = commit("slow", slow)
    last = commit("harmless too", slow + "# 3\n")
    git("bisect", "start", last, first)
    words = [str(LAB), "expect", "-q", "mib_per_s > 10", "--profile", "array.toml", "--out", str(directory / "bisect")]
    output = git("bisect", "run", *words, "--", *READ)
    check("git bisect run finds the commit", re.search(f"{culprit} is the first '?bad'? commit", output), output)
    check("and what cannot be tested is skipped", "# skip" in git("bisect", "log"), git("bisect", "log"))


def compares(out: Path) -> None:
    command = ("ab", "-q", "-j", "--repeat", "--out", str(out), "--kernel", "6.1", "--kernel", "6.1", "--", *READ)
    same = json.loads(lab(*command).stdout)
    check("the same kernel is identical", same["kernels"][1]["identical_to_a"] is True, same)
    check("and repeats itself", same["deterministic"] is True, same)
    check(
        "time and controller are called simulated", (same["simulated"], same["lab_time"]) == (True, "simulated"), same
    )
    check("its phase is compared", same["sections"][0]["ratios"]["mib_per_s"] == [1.0], same)
    text = lab("ab", "-q", "--out", str(out), "--kernel", "6.1", "--kernel", "7.2", "--", *READ)
    if "not offered" in text.stderr:
        skip("readahead of 6.1 and 7.2", text.stderr.splitlines()[0])
    else:
        # a rotational disk has 128 KiB of readahead in 6.1, 256 KiB in 7.2
        check("7.2 is faster than 6.1", "less time than A" in text.stdout, text)
        check("since it keeps more in flight", "is in the number of requests in flight" in text.stdout, text)
        check("that is not called identical", "identical" not in text.stdout, text)
        check("it calls all simulated", "simulated" in text.stdout, text)
    one = lab("ab", "--kernel", "6.1", "--", "true")
    check("one kernel alone is refused", one.returncode == 125 and "Name 2 to" in one.stderr, one)
    fails = lab("ab", "-q", "--out", str(out), "--kernel", "6.1", "--kernel", "6.1", "--", "sh", "-c", "exit 3")
    check("a command that fails is 125, and named", fails.returncode == 125 and "exit status 3" in fails.stderr, fails)


def judges(out: Path) -> None:
    """A file of workloads, one of which the kernel cannot run: a verdict, and what is left out."""
    mine = out.with_suffix(".toml")
    one = (
        '[[workload]]\nname = "{}"\n'
        + 'does = "16 MiB"\nneeds = ["{}"]\ncommand = "dd if=$DISK of=/dev/null bs=1M count=16"\n'
    )
    mine.write_text(one.format("mine", "BLOCK") + one.format("other", "NO_SUCH"), encoding="utf-8")
    words = ("ab", "-q", "--kernel", "6.1", "--kernel", "6.1", "--out", str(out), "--workload", str(mine))
    done = lab(*words, "--json")
    result = json.loads(done.stdout)
    (verdict,) = result["workloads"]
    check("a kernel and itself: no verdict", (verdict["name"], verdict["verdict"]) == ("mine", "identical"), done)
    check("it has the measures", verdict["measures"]["bytes"][0] >= 16 << 20, done)
    check("what it cannot run is left out", result["left_out"] == {"other": ["NO_SUCH"]}, done)
    none = lab(*words[:-1], f"{mine}:other")
    check("alone it is refused", none.returncode == 125 and "CONFIG_NO_SUCH" in none.stderr, none)


def stops(out: Path) -> None:
    """SIGTERM ends both guests, or the one that runs where there is one processor."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))  # tests/run keeps a suite on one
    names = ("a", "b")[: len(os.sched_getaffinity(0))]
    words = [str(LAB), "ab", "-q", "--kernel", "6.1", "--kernel", "6.1", "--out", str(out)]
    with subprocess.Popen([*words, "--", "sh", "-c", "while :; do :; done"], stdin=subprocess.DEVNULL) as runner:
        logs = [out / name / "kernel.log" for name in names]
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end and not all(log.exists() and log.stat().st_size > 1000 for log in logs):
            time.sleep(0.1)
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(runner.pid)], capture_output=True, text=True, check=False
        )
        guests = [int(word) for word in listed.stdout.split()]
        runner.send_signal(signal.SIGTERM)
        status = runner.wait(LIMIT_S)
    check("SIGTERM is 143", status == 128 + signal.SIGTERM, status)
    left = [pid for pid in guests if os.path.exists(f"/proc/{pid}")]
    check("and all guests are gone", len(guests) == len(names) and not left, (guests, left))


def main() -> None:
    findings()
    chances()
    os.environ.pop("LAB_KERNEL", None)
    with scratch() as top:
        expects(top / "expect")
        bisect(top)
        compares(top / "ab")
        judges(top / "judge")
        stops(top / "stopped")


main()
