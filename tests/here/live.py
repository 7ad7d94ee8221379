# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs that count while they run, by BPF programs."""

import contextlib
import csv
import io
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from machine import (
    PLACE,
    RAIDCTL,
    SILENT,
    SMALL,
    TOP,
    counting,
    diskstats,
    killed,
    lose,
    none_left,
    ok,
    programs_of,
    read_directly,
)

sys.path.append(str(TOP / "tests/lab"))
from terminal import Terminal  # noqa: E402

PATIENCE_S = 60
READS_ALL = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")


class Screen(Terminal):
    """raidctl top by BPF programs with small rings."""

    def __init__(self, disk: str) -> None:
        words = (RAIDCTL, "top", "--source", "bpf", disk)
        super().__init__(words, wait_s=PATIENCE_S, stderr=subprocess.PIPE, env=SMALL)


def test_top(data: pathlib.Path, disk: str) -> None:
    """top names its source, counts, tells losses, and ends without a trace."""
    screen = Screen(disk)
    ok(screen.until(rf"^>{disk}") and screen.until(r"\(bpf\)"), "top by BPF programs names its source", screen.text())
    read_directly(data, 2000)
    ok(screen.until("direct"), "top counts the direct reads", screen.text())
    lose(screen.program, data)
    ok(screen.until(f"LOST {disk}: "), "top shows what was lost", screen.text())
    screen.type("q")
    screen.ended()
    told = screen.program.communicate(timeout=PATIENCE_S)[1]
    screen.close()
    ok(screen.program.returncode == 0 and "events were lost" in told, "top repeats the losses at its end", told)
    screen = Screen(disk)
    screen.until(f">{disk}")
    killed(screen.program, "top")


def started(*words: str, small: bool = False) -> subprocess.Popen[str]:
    """Start a verb of raidctl, with small rings or others, and wait until it has attached the disk."""
    process = subprocess.Popen([RAIDCTL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=os.environ | (SMALL if small else {}))  # fmt: skip
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        claim = pathlib.Path(f"/run/raidtrace/record-{counting(process)}")
        if claim.exists() and "\ntarget " in claim.read_text(encoding="ascii"):
            break
        time.sleep(0.02)
    return process


def test_show(data: pathlib.Path, disk: str) -> None:
    """show counts a disk for a time, as the kernel does, and tells source and losses in text and in JSON."""
    show = "show", "--source", "bpf", "--duration", "1h"
    process = started(*show, "--json", disk)
    before = diskstats(disk)
    read_directly(data, 2000)
    after = diskstats(disk)
    process.send_signal(signal.SIGINT)
    (shown,) = json.loads(process.communicate(timeout=PATIENCE_S)[0])
    flow = shown["directions"]["read"]["flow"]
    most = flow["issued"] + sum(shown["lost_records"].values()) + SILENT
    ok(shown["source"] == "bpf" and 2000 <= after[0] - before[0] <= most,
       "show: the kernel's own count of reads is in it", f"{before[0]} {after[0]} {flow['issued']}")  # fmt: skip
    ok(shown["undelivered_ends"] == sum(each["flow"]["abandoned"] for each in shown["directions"].values() if "flow" in each),
       "show: ends that were not delivered are in JSON", shown["undelivered_ends"])  # fmt: skip
    for words in (), ("--json",):
        process = started(*show, *words, disk, small=True)
        lose(process, data)
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=PATIENCE_S)[0]
        told = json.loads(text)[0]["lost_records"].get("queue") if words else " by bpf," in text and "  LOST  " in text
        ok(told, f"{' '.join(('show', *words))}: what was lost is told", text[:500])
    killed(started(*show, disk), "show")
    once = subprocess.run([RAIDCTL, "show", "--source", "bpf", disk], capture_output=True, text=True, check=False)
    ok(once.returncode == 0 and "counted for 1." in once.stdout, "show counts for a second", once.stdout[:200])


def test_tail(data: pathlib.Path, disk: str) -> None:
    """tail prints the next requests one by one, and tells source and losses."""
    process = started("tail", "--source", "bpf", "--lines", "100", disk)
    read_directly(data, 200)
    text, told = process.communicate(timeout=PATIENCE_S)
    ok(text.count("\n") >= 102 and text.endswith("Counted by bpf.\n"), "tail ends after the requests that it waits for",
       text[-300:])  # fmt: skip
    ok("waiting for 100 requests" in told, "tail says that it waits", told)
    process = started("tail", "--source", "bpf", "--csv", "--follow", disk)
    while process.poll() is None and not select.select([process.stdout], [], [], 0.2)[0]:
        read_directly(data, 1)  # it continues at the last request before it
    read_directly(data, 300)
    process.send_signal(signal.SIGINT)
    text, told = process.communicate(timeout=PATIENCE_S)
    rows = list(csv.DictReader(io.StringIO(text)))
    lost = int(told.partition(" requests, ")[2].partition(" lost")[0] or 0)  # on a busy disk
    direct = [row for row in rows if row["class"] == "direct" and row["direction"] == "read" and row["bytes"] == "4096"]
    times = [
        [int(row[name]) for name in ("queued_ns", "inserted_ns", "issued_ns", "completed_ns") if row[name]]
        for row in direct
    ]
    ok(
        len(direct) + lost >= 295 and all(each == sorted(each) for each in times),
        "tail follows the direct reads in order",
        f"{len(direct)} {told}",
    )
    process = started("tail", "--source", "bpf", "--json", disk, small=True)
    lose(process, data)
    process.send_signal(signal.SIGINT)
    text, told = process.communicate(timeout=PATIENCE_S)
    found = json.loads(text)
    ok(found["source"] == "bpf" and found["lost_records"].get("queue") and "events were lost" in told,
       "tail tells what was lost", f"{told} {text[:300]}")  # fmt: skip
    killed(started("tail", "--source", "bpf", "--slower", "1h", disk), "tail")


class Loop:
    """A loop disk over a file of our own, for verbs that change settings of a disk."""

    def __init__(self, data: pathlib.Path, read_only: bool = True) -> None:
        command = ["losetup", "--find", "--show", *(["--read-only"] if read_only else []), str(data)]
        self.path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        self.name = self.path.removeprefix("/dev/")

    def __enter__(self) -> "Loop":
        return self

    def __exit__(self, *_unused: object) -> None:
        subprocess.run(["losetup", "--detach", self.path], check=False)


def children(parent: int) -> list[int]:
    """The children of all threads of a process."""
    found = []
    for path in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(pid) for pid in path.read_text(encoding="ascii").split()]
    return found


def recorder_below(process: subprocess.Popen[str]) -> tuple[int, set[int]]:
    """The process of raidctl record that a verb started, as soon as it runs its command, and its BPF programs."""
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        for pid in children(process.pid):
            held = programs_of(pid)
            if len(held) >= 10 and children(pid):
                return pid, held
        time.sleep(0.005)
    return 0, set()


def killed_above(process: subprocess.Popen[str], what: str) -> None:
    """Kill a verb whose recorder counts. None of its programs stays in the kernel."""
    held = recorder_below(process)[1]
    process.kill()
    process.communicate()
    gone = none_left(held)
    ok(bool(held) and gone, f"{what}: no program is left after SIGKILL", held)


def test_why(data: pathlib.Path) -> None:
    """why --disk tells source and losses of its runs, in text and in JSON."""
    out = PLACE / "why"
    with Loop(data) as loop:
        why = [RAIDCTL, "why", "--quiet", "--source", "bpf", "--disk", loop.name, "--runs", "5", "--out", out]
        # it waits for most of its time, because a busy machine would make the runs differ too much
        reads = f"dd if={loop.path} of=/dev/null bs=4k count=500 iflag=direct; sleep 1"
        command = ["--", "sh", "-c", reads]
        small = os.environ | {"RAIDTRACE_RING_BYTES": "4096"}
        done = subprocess.run([*why, *command], capture_output=True, text=True, check=False, env=small)
        if done.returncode:
            ok(False, "why runs", done)
            return
        made = json.loads((out / "why.json").read_text(encoding="utf-8"))
        text = " ".join(done.stdout.split())
        ok("BPF" in text and f"{loop.name}: " in text.partition("LOST")[2], "why tells source and losses", text)
        ok(
            made["source"] == "bpf" and made["losses"].get(loop.name, {}).get("queue"),
            "so does its JSON",
            made["losses"],
        )
        log = (out / "run-001/record.log").read_text(encoding="utf-8")
        ok("events were lost" in log, "so does the recorder of a run", log)
        waits = subprocess.Popen([*why, "--", "sleep", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        killed_above(waits, "why")
        subprocess.run([RAIDCTL, "why", "restore"], capture_output=True, check=False)


PLAN = """title = "Read, for tests"
[[matrix]]
array = "one"
filesystem = "none"
workload = "dd"
data_size = "512 MiB"
"""


def test_sweep() -> None:
    """sweep tells source and losses of its recordings."""
    out, plan, empty = PLACE / "sweep", PLACE / "plan.toml", PLACE / "empty"
    plan.write_text(PLAN, encoding="ascii")
    with open(empty, "wb") as file:
        file.truncate(1 << 30)
    shutil.rmtree(out, ignore_errors=True)
    with Loop(empty) as loop:
        words = [RAIDCTL, "sweep", "--source", "bpf", "--disk", loop.name, "--ignore-check", "--out", out, plan]
        sweep = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env=os.environ | {"RAIDTRACE_RING_BYTES": "4096"})  # fmt: skip
        recorder = recorder_below(sweep)[0]
        if recorder:
            os.kill(recorder, signal.SIGSTOP)
            time.sleep(2)
            os.kill(recorder, signal.SIGCONT)
        text = sweep.communicate(timeout=PATIENCE_S)[0]
        ok(
            not sweep.returncode and f"{loop.name}: " in text.partition("LOST")[2],
            "sweep tells source and losses",
            text,
        )
        again = subprocess.run([RAIDCTL, "sweep", "show", out], capture_output=True, text=True, check=False)
        ok(f"{loop.name}: " in again.stdout.partition("LOST")[2], "sweep show repeats them", again)
        shutil.rmtree(out, ignore_errors=True)
        killed_above(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), "sweep")
        subprocess.run([RAIDCTL, "sweep", "restore"], capture_output=True, check=False)
    empty.unlink()


def scraped(port: int) -> dict[str, float]:
    """The samples of the exporter."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as answer:
        lines = answer.read().decode("utf-8").splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def test_exporter(data: pathlib.Path, disk: str) -> None:
    """The exporter counts from its start, names its source, and has the losses by disk and kind."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    process = started("exporter", "--source", "bpf", "--listen", f"127.0.0.1:{port}", disk, small=True)
    assert process.stdout
    process.stdout.readline()
    issued = f'raidtrace_issued_requests_total{{direction="read",disk="{disk}"}}'
    queue = f'raidtrace_lost_events_total{{disk="{disk}",kind="queue"}}'
    first, before = scraped(port), diskstats(disk)
    read_directly(data, 500)
    after, second = diskstats(disk), scraped(port)
    lost = sum(second[name] - first[name] for name in first if name.startswith("raidtrace_lost_events_total"))
    ok(first['raidtrace_source_info{source="bpf"}'] == 1 and "raidtrace_module_loaded" not in first,
       "the exporter names its source", sorted(first)[:5])  # fmt: skip
    ok(500 <= after[0] - before[0] <= second[issued] - first[issued] + lost, "it has the kernel's own count of reads",
       f"{before[0]} {after[0]} {first[issued]} {second[issued]} {lost}")  # fmt: skip
    lose(process, data)
    ok(scraped(port)[queue] > second[queue], "it has what was lost", second[queue])
    killed(process, "exporter")
    process = started("exporter", "--source", "bpf", "--listen", f"127.0.0.1:{port}", disk)
    process.stdout and process.stdout.readline()
    held = programs_of(counting(process))
    process.send_signal(signal.SIGTERM)
    ok(process.wait(timeout=PATIENCE_S) == 0 and none_left(held), "SIGTERM ends it well", process.returncode)


def test_refusals(disk: str) -> None:
    """Verbs of the module say why they do not work, and what does."""
    if pathlib.Path("/sys/module/raidtrace").exists():
        print("# the module is loaded: nothing is refused")
        return
    for verb in "attach", "detach", "reset":
        refused = subprocess.run([RAIDCTL, verb, disk], capture_output=True, text=True, check=False)
        ok(refused.returncode == 1 and "only the module counts after a command has ended" in refused.stderr
           and "show DISK" in refused.stderr, f"{verb} without the module is refused", refused.stderr)  # fmt: skip
    # a checkout below /root is closed to others; who may read any file is still not root
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *READS_ALL, RAIDCTL, "show", disk]
    refused = subprocess.run(nobody, capture_output=True, text=True, check=False)
    ok(refused.returncode == 1 and "by BPF programs: not permitted; run it as root" in refused.stderr,
       "show without root is refused", refused.stderr)  # fmt: skip
    away = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh")
    for what, before, why in (
        (
            "a user namespace",
            ("unshare", "--user", "--map-root-user"),
            "although this is root; a container needs --privileged",
        ),
        (
            "a kernel without BTF",
            away,
            "there is no /sys/kernel/btf/vmlinux: a kernel with CONFIG_DEBUG_INFO_BTF has it",
        ),
        (
            "a hidden /sys/dev/block",
            (*away[:4], away[4].replace("/sys/kernel/btf", "/sys/dev/block"), "sh"),
            "is hidden; in a container of podman, add --security-opt unmask=/sys/dev/block",
        ),
    ):
        refused = subprocess.run([*before, RAIDCTL, "show", disk], capture_output=True, text=True, check=False)
        ok(refused.returncode == 1 and why in refused.stderr, f"{what} is named", refused.stderr)
    few = ("setpriv", "--inh-caps=-all", "--bounding-set=-all,+bpf,+perfmon")
    refused = subprocess.run([*few, RAIDCTL, "record", disk], capture_output=True, text=True, check=False)
    ok(refused.returncode == 1 and "although this is root: a container needs --privileged" in refused.stderr,
       "root without a capability learns which it lacks", refused.stderr)  # fmt: skip
    unnamed = subprocess.run([RAIDCTL, "show", "--source", "module"], capture_output=True, text=True, check=False)
    ok(
        unnamed.returncode == 1 and "not loaded" in unnamed.stderr,
        "the module is not replaced silently",
        unnamed.stderr,
    )


def test_container(data: pathlib.Path, disk: str) -> None:
    """Namespaces and three capabilities of a container suffice."""
    inside = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--net", "setpriv", "--inh-caps=-all",
              "--bounding-set=-all,+bpf,+perfmon,+sys_admin")  # fmt: skip
    made = PLACE / "container.rtdb"
    read = ("dd", f"if={data}", "of=/dev/null", "bs=64k", "count=100", "iflag=direct", "status=none")
    done = subprocess.run([*inside, RAIDCTL, "record", "-qf", "--source", "bpf", "-d", disk, "-o", made, "--", *read],
                          capture_output=True, text=True, check=False)  # fmt: skip
    ok(done.returncode == 0, "a container records", done.stderr)
    report = subprocess.run([RAIDCTL, "report", "--json", made], capture_output=True, text=True, check=False)
    spans = json.loads(report.stdout)["spans"] if report.returncode == 0 else []
    reads = sum(span["directions"]["read"]["bytes"] for span in spans)
    ok(reads >= 100 << 16, "the counts of a container have all that was read", f"{reads} bytes, {report.stderr}")


def test_all(data: pathlib.Path, disk: str) -> None:
    """Run the tests of this file."""
    test_top(data, disk)
    test_show(data, disk)
    test_tail(data, disk)
    test_exporter(data, disk)
    test_why(data)
    test_sweep()
    test_refusals(disk)
    test_container(data, disk)
