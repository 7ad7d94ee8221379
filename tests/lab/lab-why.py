#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1
# lab-long: half a minute of processor a scenario; tests/lab/ctl-why has the way that it goes
"""raidctl why in the lab on scenarios whose cause is known: tests/lab/lab-why.py [all | NAME...], a sample without words.

Right is: the cause, within 25 guests and 60 s of two processors, and the gain that it predicts, measured by a fresh pair of
runs with another seed, within 15 %.
"""

import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from lab_checks import TOP, check, finish, processor_s  # noqa: E402

sys.path.insert(0, str(TOP / "tools/python"))


from raidtrace.why import changes, lab  # noqa: E402

# Scenarios whose cause is known by construction, for raidctl why in the lab.
#
# Each is what the command line says, and the causes that are right: a set of sets, each as the verdict names them. Where two
# answers are right (a writer beside, and what relieves it), both are there.

MOUNT = "/run/lab/mnt"
PYTHON = "/usr/bin/python3"
READERS = """
import os
n, mib = {n}, {mib}
for i in range(n):
    if not os.fork():
        h = os.open("/dev/sda", os.O_RDONLY)
        o = (i * 97 + 3) << 30
        for k in range(mib * 8): os.pread(h, 1 << 17, o + k * (1 << 17))
        os._exit(0)
for _ in range(n): os.wait()
"""
RANDOM = """
import os, random, mmap, threading
size, n, depth, fsz = {size}, {n}, {depth}, {span}
h = os.open("/dev/sda", ({write} and os.O_RDWR) | ({direct} and os.O_DIRECT))
def go(s):
    c = random.Random(s)
    m = mmap.mmap(-1, size)
    m.write(b"x" * size)
    for _ in range(n // depth):
        o = c.randrange(fsz // size) * size
        os.pwritev(h, [m], o) if {write} else os.preadv(h, [m], o)
t = [threading.Thread(target=go, args=(s,)) for s in range(depth)]
[x.start() for x in t]
[x.join() for x in t]
"""
ORDERED = """
import os, mmap, threading
size, n, depth, step = {size}, {n}, {depth}, {step}
h = os.open("/dev/sda", ({write} and os.O_RDWR) | ({direct} and os.O_DIRECT))
lock, k = threading.Lock(), [0]
def go():
    m = mmap.mmap(-1, size)
    while True:
        with lock:
            i = k[0]
            k[0] += 1
        if i >= n: return
        (os.pwritev if {write} else os.preadv)(h, [m], (n * -step if step < 0 else 0) + i * step)
t = [threading.Thread(target=go) for s in range(depth)]
[x.start() for x in t]
[x.join() for x in t]
"""
PACED = """
import os, time
h = os.open("/dev/sda", os.O_RDONLY)
for i in range(256):
    os.read(h, 1 << 18)
    time.sleep(0.005)
"""
SYNCED = f"""
import os
h = os.open("{MOUNT}/j", os.O_CREAT | os.O_WRONLY)
for i in range(200): os.write(h, b"x" * 65536); os.fsync(h)
"""
ADVISED = """
import os
h = os.open("/dev/sda", os.O_RDONLY)
os.posix_fadvise(h, 0, 0, os.POSIX_FADV_RANDOM)
for i in range(1024): os.pread(h, 1 << 17, i << 17)
"""
PAUSED = "for at in 0 1 2 3 4 5 6 7; do dd if=/dev/sda of=/dev/null bs=1M count=4 skip=$((4 * at)) 2>/dev/null; sleep 0.2; done"


@dataclasses.dataclass(frozen=True)
class Scenario:
    """right: each a set of causes that is a right answer. options: of raidctl why."""

    name: str
    right: tuple[frozenset[str], ...]
    command: tuple[str, ...]
    options: tuple[str, ...] = ()


def _file_system(kind: str, mib: int) -> str:
    made = {
        "xfs": "mkfs.xfs -q -f -K -d size=6g -m uuid=00000000-7261-6964-7472-616365000001 /dev/sda",
        "ext4": "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard /dev/sda 6G",
    }[kind]
    file = f"dd if=/dev/zero of={MOUNT}/f bs=1M count={mib}; " if mib else ""
    return f"{made} && mkdir -p {MOUNT} && mount -t {kind} /dev/sda {MOUNT}; {file}sync; sleep 60"


def _set(**settings: int | str) -> str:
    paths = {"nr": "queue/nr_requests", "depth": "device/queue_depth", "scheduler": "queue/scheduler",
             "nomerges": "queue/nomerges", "max_kb": "queue/max_sectors_kb"}  # fmt: skip
    return "; ".join(f"blockdev --setra {value} /dev/sda" if name == "setra" else f"echo {value} >/sys/block/sda/{paths[name]}"
                     for name, value in settings.items())  # fmt: skip


def _dd(mib: int, *more: str) -> tuple[str, ...]:
    return ("dd", "if=/dev/sda", "of=/dev/null", "bs=1M", f"count={mib}", *more)


def _python(text: str, **values: int) -> tuple[str, ...]:
    return (PYTHON, "-c", text.format(**values) if values else text)


def _random(size: int, n: int, depth: int = 1, direct: int = 1, write: int = 0, gib: int = 64) -> tuple[str, ...]:
    return _python(RANDOM, size=size, n=n, depth=depth, direct=direct, write=write, span=gib << 30)


def _ordered(size: int, n: int, depth: int, direct: int = 1, step: int = 0, write: int = 0) -> tuple[str, ...]:
    return _python(ORDERED, size=size, n=n, depth=depth, direct=direct, step=step or size, write=write)


def _right(*answers: str) -> tuple[frozenset[str], ...]:
    """Answers; causes that belong together have a + between them."""
    return tuple(frozenset(answer.split("+")) for answer in answers)


TUNED = _set(setra=16384)
SCENARIOS = (
    Scenario("seq1", _right("readahead"), _dd(256)),
    Scenario("seq2", _right("readahead"), _python(READERS, n=2, mib=64)),
    Scenario("seq4", _right("readahead"), _python(READERS, n=4, mib=48)),
    Scenario("seq8", _right("readahead"), _python(READERS, n=8, mib=24)),
    Scenario("direct-depth-2", _right("direct I/O"), _ordered(65536, 2000, 2), ("--prepare", TUNED)),
    Scenario("direct-depth-1", _right("direct I/O"), _ordered(65536, 1000, 1), ("--prepare", TUNED)),
    Scenario("random-4k", _right("seeks"), _random(4096, 300), ("--prepare", TUNED)),
    Scenario("random-4k-deep", _right("seeks"), _random(4096, 2000, 16), ("--prepare", TUNED)),
    Scenario("random-256k", _right("readahead"), _random(262144, 300, 1, 0)),
    Scenario("backward", _right("seeks", "drives", "controller"), _ordered(65536, 500, 1, 1, -65536), ("--prepare", TUNED)),
    Scenario("beside-writer", _right("concurrent load"), ("dd", f"if={MOUNT}/f", "of=/dev/null", "bs=1M"),
             ("--prepare", f"{_file_system('ext4', 192)}; {TUNED}", "--beside",
              f"dd if=/dev/zero of={MOUNT}/w bs=1M count=3000")),
    Scenario("slow-drive", _right("slow drive"), ("cat", f"{MOUNT}/f"),
             ("--prepare", f"{_file_system('xfs', 384)}; {TUNED}", "--lab", "slow-drive")),
    Scenario("slow-drive-raw", _right("slow drive"), _dd(256), ("--prepare", TUNED, "--lab", "slow-drive")),
    Scenario("lost-command", _right("fault (fault.lose_command)"), _dd(256),
             ("--prepare", TUNED, "--set", "fault.lose_command=500")),
    Scenario("nr-requests-4", _right("nr_requests"), _dd(256), ("--prepare", _set(setra=16384, nr=4))),
    Scenario("depth-2", _right("queue depth"), _dd(256), ("--prepare", _set(setra=16384, depth=2))),
    Scenario("depth-1-random", _right("queue depth"), _random(4096, 2000, 16), ("--prepare", _set(setra=16384, depth=1))),
    Scenario("paced", _right("program sleeps"), _python(PACED), ("--prepare", TUNED)),
    Scenario("degraded", _right("fault (fault.remove_member, fault.remove_ms)"), _random(65536, 400, 8),
             ("--prepare", TUNED, "--lab", "9500s-12-raid5", "--set", "array.drives=3", "--set", "fault.remove_member=2",
              "--set", "fault.remove_ms=20")),
    Scenario("masked-2", _right("readahead+queue depth"), _dd(256), ("--prepare", _set(setra=256, depth=2))),
    Scenario("masked-3", _right("readahead+queue depth+nr_requests", "readahead+nr_requests", "readahead+queue depth"),
             _dd(256), ("--prepare", _set(setra=512, depth=4, nr=4))),
    Scenario("fsync", _right("sync"), _python(SYNCED),
             ("--prepare", _file_system("ext4", 0), "--set", "controller.write_cache_reported=1")),
    Scenario("raid5-writes", _right("RAID level", "controller"), _random(16384, 1500, 8, 1, 1, 8),
             ("--lab", "9500s-12-raid5")),
    Scenario("bfq", _right("scheduler"), _random(65536, 400, 8), ("--prepare", _set(setra=16384) + "; modprobe bfq; "
             + _set(scheduler="bfq"))),
    Scenario("ceiling", _right("controller"), _dd(512), ("--prepare", TUNED)),
    Scenario("fadvise-random", _right("fadvise"), _python(ADVISED), ("--prepare", TUNED)),
    Scenario("small-requests", _right("request size", "request size+readahead"), _dd(128),
             ("--prepare", _set(setra=16384, max_kb=4))),
    Scenario("xfs-file", _right("readahead"), ("cat", f"{MOUNT}/f"), ("--prepare", _file_system("xfs", 192))),
    Scenario("ext4-file", _right("readahead"), ("dd", f"if={MOUNT}/f", "of=/dev/null", "bs=64k"),
             ("--prepare", _file_system("ext4", 192))),
    Scenario("no-readahead", _right("readahead"), _dd(16), ("--prepare", _set(setra=0))),
    Scenario("dsync", _right("sync"), ("dd", "if=/dev/zero", f"of={MOUNT}/j", "bs=64k", "count=150", "oflag=dsync"),
             ("--prepare", _file_system("xfs", 0), "--set", "controller.write_cache_reported=1")),
    Scenario("no-merges", _right("lost merges"), ("dd", "if=/dev/zero", "of=/dev/sda", "bs=1M", "count=16", "conv=fsync"),
             ("--prepare", _set(setra=16384, nomerges=2))),  # the cache of a disk is written a page a bio
    Scenario("small-writes", _right("request size"), _ordered(131072, 128, 2, write=1),
             ("--prepare", _set(setra=16384, max_kb=4))),
    Scenario("depth-1-writes", _right("queue depth"), _random(65536, 512, 32, write=1),
             ("--prepare", _set(depth=1), "--set", "controller.cache_mib=0")),
    Scenario("slow-drive-random", _right("slow drive"), _random(65536, 512, 32), ("--prepare", TUNED, "--lab", "slow-drive")),
    Scenario("beside-reader", _right("concurrent load"), _dd(192),
             ("--prepare", TUNED, "--beside", shlex.join(_random(65536, 1 << 20, 32)))),
    Scenario("one-drive", _right("drives"), _dd(256), ("--prepare", TUNED, "--lab", "jbod-4")),
    Scenario("one-drive-random", _right("seeks"), _random(4096, 200), ("--prepare", TUNED, "--lab", "jbod-4")),
    Scenario("paced-slowly", _right("program sleeps"), ("sh", "-c", PAUSED), ("--prepare", TUNED)),
    Scenario("masked-random", _right("queue depth+nr_requests", "queue depth"), _random(4096, 1500, 16),
             ("--prepare", _set(setra=16384, depth=1, nr=4))),
)  # fmt: skip
SAMPLE = ("masked-2", "paced")


RAIDCTL = TOP / "tools/bin/raidctl"
MOST_RUNS, MOST_SECONDS = 25, 120.0
FRESH_SEED, WITHIN = 77, 0.15


def again(scenario: Scenario, result: dict, out: pathlib.Path) -> float:
    """The gain of the verdict's change with a seed that the experiment did not use."""
    row = next(row for row in result["rows"] if row["change"] == result["verdict"]["change"])
    change = changes.Change(row["change"], row["cause"], changes.Kind(row["kind"]), tuple(row["settings"].items()),
                            tuple(row["lab"].items()), row["program"] or "", row["kernel"] or "", row["alone"])  # fmt: skip
    options: dict[str, list[str]] = {}
    for name, value in zip(scenario.options[::2], scenario.options[1::2]):
        options.setdefault(name, []).append(value)
    sets = dict(word.split("=") for word in options.get("--set", ()))
    setup = lab.Setup(RAIDCTL, out, options.get("--lab", ["9500s-12-raid0"])[0], scenario.command,
                      prepare=options.get("--prepare", [""])[0], load=options.get("--beside", [""])[0],
                      sets=sets)  # fmt: skip
    ((before, after),) = lab.Lab(setup).pairs([(change, FRESH_SEED)], 0)
    if before.failure or after.failure:
        print(f"# the fresh pair: {before.failure or after.failure}", flush=True)
        return 0.0
    return before.seconds / after.seconds


def judge(scenario: Scenario, out: pathlib.Path) -> tuple[list[str], str]:
    """Complaints, and the result in a line."""
    begin = processor_s()
    words = [str(RAIDCTL), "why", "--json", "--quiet", "--out", str(out)]
    words += [] if "--lab" in scenario.options else ["--lab", "9500s-12-raid0"]
    done = subprocess.run([*words, *scenario.options, "--", *scenario.command], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)  # fmt: skip
    seconds = processor_s() - begin
    if done.returncode:
        return [f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"], ""
    result = json.loads(done.stdout)
    verdict = result["verdict"]
    wrong = []
    if frozenset(verdict["causes"]) not in scenario.right:
        wrong.append(f"causes {verdict['causes']}, right is one of {[sorted(answer) for answer in scenario.right]}")
    if not verdict["shown"]:
        wrong.append("it is not shown")
    if result["runs"] > MOST_RUNS:
        wrong.append(f"{result['runs']} runs, at most {MOST_RUNS}")
    if seconds > MOST_SECONDS:
        wrong.append(f"{seconds:.0f} s of processor, at most {MOST_SECONDS:.0f}")
    fresh = again(scenario, result, out / "again") if verdict["change"] else 1.0
    if not fresh or abs(verdict["factor"] / fresh - 1) > WITHIN:
        wrong.append(f"predicted {verdict['factor']:.2f}x, measured {fresh:.2f}x")
    what = " + ".join(verdict["causes"]) or "nothing"
    figures = f"{verdict['factor']:.2f}x (again {fresh:.2f}x), {result['runs']} runs, {seconds:.0f} s of processor"
    return wrong, f"{what} {figures}\n#   {verdict['sentence']}"


def main(words: list[str]) -> None:
    names = words or list(SAMPLE)
    chosen = [one for one in SCENARIOS if words == ["all"] or one.name in names]
    kept = os.environ.get("WHY_OUT")
    for scenario in chosen:
        with tempfile.TemporaryDirectory(prefix="raidtrace-why-", dir="/var/tmp") as temporary:
            out = pathlib.Path(kept or temporary) / scenario.name
            wrong, text = judge(scenario, out)
        check(f"{scenario.name}: {text}", not wrong, "\n".join(wrong))
    check("there is a scenario of each name", chosen)
    finish()


if __name__ == "__main__":
    main(sys.argv[1:])
