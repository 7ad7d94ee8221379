#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""The history of a disk: its last requests one by one, against the counters of the same requests, and where it ends.
"""

import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import kmod_client as kmod

RAIDCTL = os.environ.get("RAIDCTL", "raidctl")
KEPT = 4096


def history(client: kmod.Client, target: dict[str, Any], after: int = 0) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """All that is there behind a number, and how the history stands."""
    requests: list[dict[str, Any]] = []
    while True:
        answer = client.ask("history-get", id=target["id"], after=after)[0]
        if not answer.get("ended"):
            return requests, answer
        requests += answer["ended"]
        after = requests[-1]["number"]


def test_every_request() -> None:
    """Each request with its moments, its place, its process; their sums are the counters to the nanosecond"""
    with kmod.counted("sda", history_ns=0) as (client, target):
        disk = kmod.Disk("sda")
        for i in range(200):
            (disk.write if i % 4 == 3 else disk.read)(i * 4096, 8 + 8 * (i % 3))
        disk.read_together([i * 1000 * 8 for i in range(1, 9)])
        disk.flush()
        disk.inquiry()
        disk.close()
        ended, state = history(client, target)
        counters = client.counters(target)
    kmod.equal("numbers", [one["number"] for one in ended], list(range(1, len(ended) + 1)))
    kmod.equal("how many", (len(ended), state["nr"]), (counters.total("completed"),) * 2)
    for direction in ("read", "write", "passthrough"):
        mine = [one for one in ended if one["direction"] == direction]
        flow = counters.flow[direction]
        kmod.equal(f"{direction}: completed", len(mine), flow["completed"])
        kmod.equal(f"{direction}: bytes", sum(one["bytes"] for one in mine), flow["bytes-issued"])
        kmod.equal(f"{direction}: d2c", sum(one["completed-ns"] - one["issued-ns"] for one in mine), flow["d2c-sum-ns"])
        queued_ns = sum(one["issued-ns"] - one["inserted-ns"] for one in mine if "inserted-ns" in one)
        kmod.equal(f"{direction}: i2d", queued_ns, flow["i2d-sum-ns"])
    mine = [one for one in ended if one["direction"] in ("read", "write")][:200]
    kmod.equal("places", [one["sector"] for one in mine], [i * 4096 for i in range(200)])
    kmod.equal("classes", {one["class"] for one in mine}, {"direct"})
    kmod.equal("process", {(one["pid"], one["comm"]) for one in mine}, {(os.getpid(), comm())})
    queued = sum(one["completed-ns"] - one["queued-ns"] for one in mine if one["direction"] == "write")
    kmod.equal("q2c of writes", queued, counters.flow["write"]["q2c-sum-ns"])
    if any(one["queued-ns"] > one["issued-ns"] for one in mine):
        raise AssertionError("queued after it was issued")
    depths: dict[int, int] = {}
    for one in ended:
        depths[one["depth"]] = depths.get(one["depth"], 0) + 1
    kmod.equal("depths", depths, counters.bins("depth-issue", "all"))


def comm() -> str:
    """Name of this thread."""
    return pathlib.Path("/proc/self/comm").read_text(encoding="utf-8").strip()


def test_the_last_ones() -> None:
    """If more requests complete than are kept, the last are there, and missing numbers show the lost ones"""
    name = kmod.null_blk(nr_devices=1, gb=1)[0]
    with kmod.counted(name, history_ns=0) as (client, target):
        kmod.reads(name, [8 * i for i in range(KEPT + 500)])
        ended, state = history(client, target)
        some, _ = history(client, target, after=state["nr"] - 3)
    first = state["nr"] - KEPT + 1
    kmod.equal("numbers", [one["number"] for one in ended], list(range(first, first + KEPT)))
    kmod.equal("the last", ended[-1]["sector"], 8 * (KEPT + 499))
    kmod.equal(
        "behind one that is known", [one["number"] for one in some], [state["nr"] - 2, state["nr"] - 1, state["nr"]]
    )


def test_slow_ones() -> None:
    """Only requests that take as long as requested are kept, also without the group latency"""
    fast = kmod.null_blk(nr_devices=1, gb=1, irqmode=2, completion_nsec=1_000_000)[0]
    for groups in ((), ("depth",)):
        for limit_ns, expected in ((900_000, 5), (100_000_000, 0)):
            with kmod.counted(fast, groups=groups, history_ns=limit_ns) as (client, target):
                kmod.equal("limit", target["history-ns"], limit_ns)
                kmod.reads(fast, [8 * i for i in range(5)])
                ended, state = history(client, target)
                kmod.equal("completed", client.counters(target).total("completed") >= 5, True)
            kmod.equal(f"{groups}: at least {limit_ns} ns", (len(ended), state["nr"]), (expected, expected))
            kmod.equal("sectors", [one["sector"] for one in ended], [8 * i for i in range(expected)])
    kmod.run("modprobe -r null_blk")


def test_disk_of_bios() -> None:
    """raidctl attach warns that a disk receives only bios and has no history"""
    with kmod.mapped_disk() as (_, upper):
        for slower in ("", " --slower 5ms"):
            message = " ".join(kmod.run(f"{RAIDCTL} attach{slower} {upper}").split())
            kmod.run(f"{RAIDCTL} detach {upper}")
            kmod.equal("only bios", f"{upper} receives only bios" in message, True)
            kmod.equal("--slower", "; --slower has no effect" in message, bool(slower))


def test_raidctl_tail() -> None:
    """raidctl tail: text, CSV and JSON of what is there; with --slower it waits for the one, also while nothing comes"""
    name = kmod.null_blk(nr_devices=1, gb=1, irqmode=2, completion_nsec=20_000_000)[0]
    kmod.run(f"{RAIDCTL} attach {name}")
    disk = kmod.Disk(name)
    for i in range(30):
        disk.read(1000 * i, 8)
    rows = list(csv.DictReader(kmod.run(f"{RAIDCTL} tail --csv {name}").splitlines()))
    kmod.equal("rows", [int(row["sector"]) for row in rows][-30:], [1000 * i for i in range(30)])
    kmod.equal("process", {row["pid"] for row in rows[-30:]}, {str(os.getpid())})
    kmod.equal("20 ms", all(int(row["completed_ns"]) - int(row["issued_ns"]) >= 20_000_000 for row in rows), True)
    text = kmod.run(f"{RAIDCTL} tail -n 5 {name}").splitlines()
    kmod.equal(
        "lines",
        (len(text), max(map(len, text)) <= 80, "direct" in text[-3], text[-2]),
        (8, True, True, "Counted by module."),
    )
    kmod.equal("it is simulated", (text[-1][:10], shown(name)[:2]), ("Simulated:", (True, True)))
    print(*(f"# {line}" for line in text), sep="\n")
    waits = subprocess.Popen([RAIDCTL, "tail", "--json", "-n", "2", "--slower", "10ms", name], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)  # fmt: skip
    assert waits.stderr
    waits.stderr.readline()  # that it waits
    time.sleep(0.5)
    kmod.equal("it waits", waits.poll(), None)
    disk.read(77000, 8)
    disk.read(88000, 8)
    output = json.loads(waits.communicate(timeout=20)[0])
    kmod.equal("it ended", (output["ended"], output["requests"][-1]["sector"], waits.returncode), (True, 77000, 0))
    kmod.equal("with the one before", [one["sector"] for one in output["requests"]], [29000, 77000])
    waits = subprocess.Popen(
        [RAIDCTL, "tail", "--json", "--failed", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert waits.stderr
    waits.stderr.readline()
    time.sleep(0.3)
    waits.send_signal(signal.SIGINT)
    output = json.loads(waits.communicate(timeout=20)[0])
    kmod.equal("it was ended", (output["ended"], waits.returncode), (False, 0))
    kmod.run(f"{RAIDCTL} detach {name}; {RAIDCTL} attach --groups flow {name}")
    disk.read(99000, 8)
    kmod.equal("classes are not counted", shown(name)[2:], (None, "", True))
    disk.close()
    kmod.run(f"{RAIDCTL} detach {name}")


def shown(name: str) -> tuple[bool, bool, str | None, str, bool]:
    """Whether show and tail call a disk simulated; the class of its last request in JSON and CSV; whether the text has none."""
    last = json.loads(kmod.run(f"{RAIDCTL} tail --json -n 1 {name}"))
    row = list(csv.DictReader(kmod.run(f"{RAIDCTL} tail --csv -n 1 {name}").splitlines()))[-1]
    simulated = json.loads(kmod.run(f"{RAIDCTL} show --json {name}"))[0]["simulated"]
    kmod.equal("as text", ", simulated, counted for" in kmod.run(f"{RAIDCTL} show {name}"), simulated)
    text = kmod.run(f"{RAIDCTL} tail -n 1 {name}").splitlines()[1]
    return simulated, last["simulated"], last["requests"][-1]["class"], row["class"], " n/a " in text


def _followed(name: str, disk: kmod.Disk, to: pathlib.Path | None) -> tuple[list[dict[str, str]], str]:
    """Rows and messages of tail --follow for 6,000 reads, written to a file, or to a pipe that is read at the end."""
    with open(to or os.devnull, "w", encoding="ascii") as file:
        follows = subprocess.Popen(
            [RAIDCTL, "tail", "--csv", "--follow", name], stdout=file if to else subprocess.PIPE, stderr=subprocess.PIPE
        )
        time.sleep(1)
        for i in range(6000):
            disk.read(16 * i, 8)
            if i % 500 == 499:
                time.sleep(0.1)  # those who look have their turn
        follows.send_signal(signal.SIGINT)
        output, note = follows.communicate(timeout=30)
    text = to.read_text(encoding="ascii") if to else output.decode()
    return list(csv.DictReader(text.splitlines())), note.decode()


def test_raidctl_tail_follows() -> None:
    """raidctl tail --follow writes every request of a run, and the number of those that it lost"""
    name = kmod.null_blk(nr_devices=1, gb=1, irqmode=0)[0]
    kmod.run(f"{RAIDCTL} attach {name}")
    disk = kmod.Disk(name)
    disk.read(8, 8)
    rows, note = _followed(name, disk, pathlib.Path("followed.csv"))
    with kmod.Client() as client:
        target = next(one for one in client.ask("target-get", dump=True) if one["disk"] == name)
        completed = client.counters(target).total("completed")
    less, lost = _followed(name, disk, None)
    disk.close()
    kmod.run(f"{RAIDCTL} detach {name}")
    if [int(row["sector"]) for row in rows] != [16 * i for i in range(6000)]:
        raise AssertionError(f"{len(rows)} requests, or not those that there were: {note}")
    kmod.equal("numbers", [int(rows[0]["number"]), int(rows[-1]["number"])], [completed - 5999, completed])
    kmod.equal("message", f"{name}: 6000 requests, 0 lost" in note, True)
    kmod.equal("some were lost", len(less) < 6000, True)
    kmod.equal("and counted", f"{name}: {len(less)} requests, {6000 - len(less)} lost" in lost, True)


if __name__ == "__main__":
    sys.exit(kmod.main())
