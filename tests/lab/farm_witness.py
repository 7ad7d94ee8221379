# SPDX-License-Identifier: GPL-2.0-or-later
"""The counters that raidtrace must have by the simulated controller's log between attaching and a snapshot, also under load
and when the controller has faults.

Without faults a command is a request that was issued and not sent back, and each one ends well. With faults a command can be
thrown away or fail: the block layer sends it again, which is one more issue, or gives up, which is an error. So then what was
issued is bounded by the log, and what ended well is exact but for errors of requests that were not counted as issued, and for
commands that the device answered together with one that fails: libata sends both again (ahci_handle_port_interrupt()).
"""

from __future__ import annotations

import collections
import json
import pathlib
import subprocess
import sys

import kmod_client as kmod
from kmod_witness import DATA, controller_rows, size_bin


class Window:
    """A snapshot, and the READs and WRITEs that the controller got from when its counting began to when it was taken."""

    def __init__(self, disk: str, counters: kmod.Counters) -> None:
        self.counters = counters
        since, now = counters.reply["since-ns"], counters.reply["now-ns"]
        self.again = counters.reply.get("resets", 0) > 0  # requests in flight at the reset end in this window
        self.rows: dict[str, list[dict[str, str]]] = {direction: [] for direction in DATA.values()}
        self.lost_before = dict.fromkeys(DATA.values(), 0)  # and is perhaps sent back in it
        failures = set[str]()
        for row in controller_rows(disk):
            if row["status"] == "failed":
                failures.add(row["completion_ns"])
            if row["name"] not in DATA:
                continue
            if since <= int(row["arrival_ns"]) <= now:
                kept = {key: sys.intern(row[key]) for key in ("status", "sectors")}
                self.rows[DATA[row["name"]]].append(kept)
            elif self.again and int(row["arrival_ns"]) < since and row["status"] != "good":
                self.lost_before[DATA[row["name"]]] += 1
        # Commands that the device answered well at the nanosecond at which another one failed.
        self.aborted = collections.Counter(
            DATA[row["name"]]
            for row in (controller_rows(disk) if failures else ())
            if row["name"] in DATA
            and row["status"] == "good"
            and row["completion_ns"] in failures
            and since <= int(row["arrival_ns"]) <= now
        )


def differences(window: Window, faults: bool, ended: bool) -> list[str]:
    """Differences in words. `ended`: nothing was in flight at the end."""
    wrong = []
    for direction, rows in window.rows.items():
        flow = window.counters.flow[direction]
        states = collections.Counter(row["status"] for row in rows)
        counts = ("issued", "requeued", "completed", "errors", "in-flight", "unissued", "unmatched")
        summary = f"{direction}s: {', '.join(f'{flow[name]} {name}' for name in counts)}; commands {dict(states)}"
        sent = flow["issued"] - flow["requeued"]
        spared = len(rows) - sent  # commands that were thrown away or failed, and sent again
        failed = len(rows) - states["good"]
        most = failed + window.lost_before[direction] if faults else 0
        # libata itself answers, with an error, for a disk that it has given up.
        answered = max(flow["errors"] - failed - flow["unissued"], 0) if faults else 0
        if spared < -answered or (spared > most and not (faults and spared <= most + window.aborted[direction])):
            wrong.append(f"issued and not sent back is not what the controller got; {summary}")
        # Each error is of a request that was counted as issued, or of one that was in flight at attach or never issued.
        well = flow["completed"] - flow["errors"]
        most = well + flow["unissued"] + flow["unmatched"]
        if not window.again and well > states["good"]:
            wrong.append(f"more ended well than the controller did; {summary}")
        more = states["good"] - most
        if ended and not window.again and more > 0 and not (faults and more <= window.aborted[direction]):
            wrong.append(f"ended well is not what the controller did; {summary}")
        if ended and (flow["in-flight"] or flow["abandoned"]):
            wrong.append(f"{flow['abandoned']} abandoned, and something is in flight; {summary}")
        if not faults and not flow["requeued"]:
            wrong += sizes(window, direction, rows, summary)
    return wrong


def sizes(window: Window, direction: str, rows: list[dict[str, str]], summary: str) -> list[str]:
    """Bytes and sizes of requests that were each issued once."""
    sectors = [int(row["sectors"]) for row in rows]
    wrong = []
    if window.counters.flow[direction]["bytes-issued"] != 512 * sum(sectors):
        wrong.append(
            f"{window.counters.flow[direction]['bytes-issued']} bytes issued, not {512 * sum(sectors)}; {summary}"
        )
    expected = dict(collections.Counter(map(size_bin, sectors)))
    if window.counters.counts("size") and window.counters.bins("size", direction) != expected:
        wrong.append(f"sizes {window.counters.bins('size', direction)}, not {expected}; {summary}")
    return wrong


def recorded(disk: str, file: pathlib.Path, begun_ns: int) -> list[str]:
    """The defects of the recording of a killed recorder; a recorder that was killed early may have left none."""
    if not file.exists():
        return []
    done = subprocess.run(
        ["raidctl", "report", "--json", str(file)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        return [f"report ends with {done.returncode}: {done.stderr.strip()}"]
    report = json.loads(done.stdout)
    wrong = [] if report["meta"]["invariants"] == "hold" else [f"invariants: {report['meta']['invariants']}"]
    arrived = collections.Counter(row["name"] for row in controller_rows(disk) if int(row["arrival_ns"]) >= begun_ns)
    for name, direction in DATA.items():
        flows = [span["directions"][direction]["flow"] for span in report["spans"] if span["disk"] == disk]
        sent = sum((flow["issued"] or 0) - (flow["requeued"] or 0) for flow in flows)
        if sent > arrived[name]:
            wrong.append(f"{sent} {direction}s recorded, the controller got {arrived[name]}")
    return wrong
