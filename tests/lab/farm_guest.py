# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest, one seed of the farm: random load, settings and moments, and the differences to the witnesses.

farm_guest.py SEED FAULTS. Disks are attached and detached with nothing in flight or under load, read and reset while it
runs, and recorders are killed. FAULTS is 1 when the simulated controller has some. Prints a line for each thing that is
not as it has to be, then `N windows, N requests, N requeued, N wrong`. Started by lab-farm.py.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

sys.dont_write_bytecode = True
import kmod_client as kmod  # noqa: E402
from farm_witness import Window, differences, recorded  # noqa: E402
from kmod_disk import Disk  # noqa: E402
from kmod_witness import Measured  # noqa: E402

SPAN = 64 << 20  # of the disk, that load is on
LONGEST_S = 2.0  # of simulated time, that load runs
SETTINGS: dict[str, tuple[object, ...]] = {
    "queue/scheduler": ("none", "mq-deadline", "bfq", "kyber"),
    "queue/read_ahead_kb": (0, 4, 60, 128, 512, 8192),
    "queue/nr_requests": (4, 17, 64, 256),
    "queue/max_sectors_kb": (4, 36, 64, 128),
    "queue/nomerges": (0, 1, 2),
    "device/queue_depth": (1, 2, 31, 254),
}


def settle(disk: str) -> None:
    """Nothing is in flight."""
    with contextlib.suppress(OSError), open(f"/dev/{disk}", "rb") as opened:
        os.fsync(opened.fileno())
    kmod.wait_for("the end of I/O", lambda: not kmod.diskstats(disk)["in_flight"], 600)


def is_dead(disk: str) -> bool:
    """Whether its driver has given it up: it has no size, or no files any more."""
    try:
        return pathlib.Path(f"/sys/block/{disk}/size").read_text(encoding="ascii") == "0\n"
    except OSError:
        return True


def change(disk: str, chance: random.Random) -> None:
    """Some settings; not every scheduler is there, and not every one takes every number."""
    for name in chance.sample(sorted(SETTINGS), chance.randrange(4)):
        with contextlib.suppress(OSError):
            pathlib.Path(f"/sys/block/{disk}/{name}").write_text(f"{chance.choice(SETTINGS[name])}\n", encoding="ascii")


def sequential(disk: str, chance: random.Random) -> Iterator[None]:
    """Reads through the page cache, one behind the other."""
    size, at = (
        chance.choice((512, 4096, 65536, 1 << 20)),
        chance.randrange(SPAN >> 12) << 12,
    )
    with open(f"/dev/{disk}", "rb", buffering=0) as opened:
        while True:
            os.pread(opened.fileno(), size, at)
            at = (at + size) % SPAN
            yield


def direct(disk: str, chance: random.Random) -> Iterator[None]:
    """Reads and writes of any size at any place, past the page cache, and here and there what is no I/O."""
    opened = Disk(disk)
    while True:
        move = chance.choice((opened.read, opened.read, opened.write))
        sectors = chance.choice((1, 8, 24, 256, 264, 1024))
        if chance.random() < 0.02:
            opened.inquiry()
        elif chance.random() < 0.05:
            opened.flush()
        else:
            move(chance.randrange((SPAN >> 9) - sectors), sectors)
        yield


def together(disk: str, chance: random.Random) -> Iterator[None]:
    """Reads that are submitted at once, some side by side."""
    opened = Disk(disk)
    while True:
        first = chance.randrange(SPAN >> 13) * 8
        opened.read_together([first + 8 * chance.choice((i, 2 * i, i * i)) for i in range(chance.randrange(3, 40))])
        yield


def written(disk: str, chance: random.Random) -> Iterator[None]:
    """Writes through the page cache, made durable at times."""
    data = chance.randbytes(1 << 16)
    descriptor = os.open(f"/dev/{disk}", os.O_WRONLY)
    while True:
        os.pwrite(
            descriptor,
            data[: chance.choice((512, 4096, 65536))],
            chance.randrange((SPAN - len(data)) >> 9) << 9,
        )
        if chance.random() < 0.1:
            os.fsync(descriptor)
        yield


def mapped(disk: str, chance: random.Random) -> Iterator[None]:
    """Page faults, in a row or anywhere."""
    with open(f"/dev/{disk}", "rb") as opened:
        memory = mmap.mmap(opened.fileno(), SPAN, prot=mmap.PROT_READ)
    at, step = 0, chance.choice((4096, 1 << 16, 0))
    while True:
        at = (at + step) % SPAN if step else chance.randrange(SPAN)
        _ = memory[at]
        yield


JOBS = (sequential, direct, direct, together, written, mapped)


def work(
    job: Callable[[str, random.Random], Iterator[None]],
    disk: str,
    chance: random.Random,
    end: float,
) -> None:
    """One job until then. What a fault has fail is begun anew."""
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            for _ in job(disk, chance):
                if chance.random() < 0.02:
                    time.sleep(chance.random() * 0.01)
                if time.monotonic() >= end:
                    return
        time.sleep(0.01)


@contextlib.contextmanager
def load(disk: str, chance: random.Random) -> Iterator[float]:
    """Some jobs, each a process; how long they run. They have ended after the block, or are ended."""
    seconds = chance.random() * LONGEST_S
    end, children = time.monotonic() + seconds, []
    for number in range(chance.randrange(1, 5)):
        job, numbers = chance.choice(JOBS), random.Random(chance.random())
        child = os.fork()
        if not child:
            signal.signal(signal.SIGBUS, signal.SIG_DFL)  # of a mapped page that cannot be read
            os.nice(number)
            with contextlib.suppress(BaseException):
                work(job, disk, numbers, end)
            os._exit(0)
        children.append(child)
    try:
        yield seconds
    finally:
        for child in children:
            os.waitpid(child, 0)


class Seed:
    """Run one seed. Returns the defects."""

    def __init__(self, seed: int, faults: bool) -> None:
        self.chance, self.faults = random.Random(seed), faults
        self.disks = sorted(
            path.name for kind in ("sd*", "nvme*n*", "vd*") for path in pathlib.Path("/sys/block").glob(kind)
        )
        self.windows = self.requests = self.requeued = self.wrong = 0

    def judge(self, what: str, complaints: list[str]) -> None:
        """A window has ended."""
        self.windows += 1
        self.wrong += bool(complaints)
        for complaint in complaints:
            print(f"{what}: {complaint}", flush=True)

    def quiet(self, disk: str) -> None:
        """Attached and detached with nothing in flight: every witness has to agree in everything."""
        if self.faults:
            return self.busy(disk)
        settle(disk)
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("1\n", encoding="ascii")
        with Measured(disk, traced=True) as measured:
            with load(disk, self.chance):
                pass
            settle(disk)
        self.requests += measured.counters.total("issued")
        complaints = []
        try:
            measured.check()
        except AssertionError as error:
            complaints = [str(error)]
        self.judge(f"quiet {disk}", complaints)

    def busy(self, disk: str) -> None:
        """Attached, changed, read, reset, detached under load."""
        chance, complaints = self.chance, []
        with load(disk, chance) as seconds, kmod.Client() as client:
            time.sleep(chance.random() * seconds / 2)
            groups = chance.sample(kmod.GROUPS, chance.randrange(len(kmod.GROUPS))) if chance.random() < 0.5 else ()
            target = client.add(
                disk,
                {"flow", *groups} if groups else (),
                streams=chance.choice((1, 16, 64)),
            )
            for _ in range(chance.randrange(4)):
                time.sleep(chance.random() * seconds / 8)
                chance.choice((lambda: change(disk, chance), lambda: client.counters(target)))()
            if chance.random() < 0.3:
                client.ask("target-reset", id=target["id"])
            under_way = chance.random() < 0.5
            if under_way:
                complaints += differences(Window(disk, client.counters(target)), self.faults, ended=False)
            else:
                time.sleep(seconds)
                settle(disk)
            last = Window(disk, client.counters(target))
            self.requests += last.counters.total("issued")
            self.requeued += last.counters.total("requeued")
            complaints += differences(last, self.faults, ended=not under_way)
            client.delete(target)
        self.judge(f"busy {disk}", complaints)

    def killed(self, disk: str) -> None:
        """A recorder that dies: what it stored can be read, and is not more than there was."""
        file = pathlib.Path(f"/run/lab/farm-{self.windows}.rtdb")
        begun = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        with load(disk, self.chance) as seconds:
            command = ["raidctl", "record", "--disk", disk, "--output", str(file), "--", "sleep", "60"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as recorder:
                time.sleep(0.05 + self.chance.random() * seconds)
                recorder.kill()
        settle(disk)
        self.judge(f"killed {disk}", recorded(disk, file, begun))
        with kmod.Client() as client:
            for target in client.ask("target-get", dump=True):  # it is left as its recorder had it
                client.delete(target)

    def run(self) -> None:
        """All of it. The seed ends when a fault has unplugged a disk, or when its driver has given it up."""
        for _ in range(self.chance.randrange(2, 5)):
            disk = self.chance.choice(self.disks)
            change(disk, self.chance)
            try:
                self.chance.choice((self.quiet, self.quiet, self.busy, self.busy, self.killed))(disk)
            except (OSError, kmod.Refused) as error:
                if not self.faults or error.errno not in (errno.ENOENT, errno.ENXIO, errno.ENODEV) or not is_dead(disk):
                    raise
                break


if __name__ == "__main__":
    one = Seed(int(sys.argv[1]), sys.argv[2] == "1")
    one.run()
    print(f"{one.windows} windows, {one.requests} requests, {one.requeued} requeued, {one.wrong} wrong")
