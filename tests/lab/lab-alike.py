#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1
# lab-long: some 2,000 guests, half an hour of processor
"""Compare each profile with itself: lab-alike.py [--seeds N] [--keep DIR] [--workload NAME]... [PROFILE...]

20 small workloads run on each profile of `raidctl lab profiles`. A and B have the same kernel, module and settings, and
different seeds. `raidctl lab ab --workload` judges them by the same code as here, so it must not call them different: at most
as many pairs as 5 % allow show a difference, and none is left after Holm's correction. `raidctl compare` of their trials must
not either. Planted: every time of the simulated device is 2 % longer. The loss must be found, with as many seeds as the spread
requires. Runs are kept in DIR (check-out/alike): the test continues where it stopped. Prints a row for each workload, and a
table with a row for each profile.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import functools
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import TOP, check, finish  # noqa: E402

sys.path[:0] = [str(TOP / "tools/lab"), str(TOP / "tools/python")]

from raidlab.array import profile  # noqa: E402
from raidlab.base.failure import LabError  # noqa: E402
from raidlab.base.progress import Progress  # noqa: E402
from raidlab.kernel import tree  # noqa: E402
from raidlab.uml import modules, runner  # noqa: E402
from raidlab.verbs import judge, measures, options  # noqa: E402
from raidlab.verbs.judge import Decided  # noqa: E402
from raidlab.verbs.workloads import Workload  # noqa: E402

from raidtrace.compare import comparison  # noqa: E402
from raidtrace.quantity.trials import student_quantile  # noqa: E402
from raidtrace.recording.work import Work  # noqa: E402
from raidtrace.why import chance  # noqa: E402

LOSS = 1.02
SEEDS = 3  # of each side before a difference is believed, and as many to confirm it
MOST = 6  # more seeds than this are reported, not run
REACHED = 1.01  # a workload that loses less by the planted loss waits for something else than the device
SAME, PLANTED = 1000, 2000  # the first seed of B, and of the slower device

# One program for all of it: fio takes fifteen times as long to start in a guest.
PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* io FILE HOW OPERATION ORDER BYTES COUNT PROCESSES: HOW buffered, direct, synced, mapped; OPERATION read, write, mixed; ORDER
 * forward, backward, strided, random in 8 GiB. The processes share the blocks. */
int main(int argc, char **argv)
{
    const uint64_t range = 8ull << 30;
    uint64_t bytes = atoll(argv[5]), count = atoll(argv[6]), processes = atoll(argv[7]);
    int status, failed = 0;

    (void)argc;
    for (uint64_t one = 0; one < processes; one++) {
        if (fork())
            continue;
        int flags = !strcmp(argv[2], "direct") ? O_DIRECT : !strcmp(argv[2], "synced") ? O_DSYNC : 0;
        int file = open(argv[1], O_RDWR | O_CREAT | flags, 0600);
        char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        volatile char *map = !strcmp(argv[2], "mapped") ? mmap(NULL, range, PROT_READ, MAP_SHARED, file, 0) : NULL;
        uint64_t state = one + 1;

        for (uint64_t at = one; at < count; at += processes) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            uint64_t where = !strcmp(argv[4], "forward") ? at : !strcmp(argv[4], "backward") ? count - 1 - at :
                     !strcmp(argv[4], "strided") ? at * 16 : (state >> 24) % (range / bytes);
            int writes = *argv[3] == 'w' || (*argv[3] == 'm' && (state >> 40) % 10 >= 7);

            if (map)
                (void)map[where * bytes];
            else if ((writes ? pwrite(file, block, bytes, where * bytes) : pread(file, block, bytes, where * bytes)) < 0)
                _exit(1);
        }
        _exit(0);
    }
    while (wait(&status) > 0)
        failed |= status;
    return !!failed;
}
"""


def some(name: str, command: str, prepare: str = "", filesystem: str = "") -> Workload:
    """A workload of a few MiB."""
    return Workload(name, name, command, prepare, filesystem)


def io(*words: str | int, file: str = "$DISK") -> str:
    """A line that starts the program."""
    return " ".join(("./io", file, *map(str, words)))


def readers(count: int) -> str:
    """Two ranges of the same disk, 2 GiB apart."""
    each = 8192 // count
    return f"for n in $(seq {count}); do dd if=$DISK of=/dev/null bs=64k count={each // 64} skip=$((n * 32768)) & done; wait"


FILE = "dd if=/dev/zero of=$FILE bs=1M count=16"
WORKLOADS = (
    some("read-64k", "dd if=$DISK of=/dev/null bs=64k count=256"),
    some("read-1m-ra4m", "dd if=$DISK of=/dev/null bs=1M count=32", "blockdev --setra 8192 $DISK"),
    some("read-direct", io("direct", "read", "forward", 65536, 128, 1)),
    some("random-direct-16", io("direct", "read", "random", 32768, 300, 16)),
    some("random-64k", io("buffered", "read", "random", 65536, 80, 1)),
    some("random-mapped", io("mapped", "read", "random", 4096, 16, 1)),
    some("backward", io("buffered", "read", "backward", 65536, 100, 1)),
    some("strided", io("buffered", "read", "strided", 16384, 100, 1)),
    some("readers-2", readers(2)),
    some("readers-4", readers(4)),
    some("write-1m", "dd if=/dev/zero of=$DISK bs=1M count=32 conv=fsync"),
    some("random-write-16", io("direct", "write", "random", 4096, 400, 16)),
    some("write-synced", io("synced", "write", "forward", 4096, 60, 1)),
    some("mixed-8", io("direct", "mixed", "random", 8192, 300, 8)),
    some("read-and-write", "dd if=/dev/zero of=$DISK bs=1M count=16 seek=40960 conv=fsync &"
         " dd if=$DISK of=/dev/null bs=64k count=128; wait"),
    some("ext2-read", "cat $FILE >/dev/null", FILE, "ext2"),
    some("ext4-write", "dd if=/dev/zero of=$FILE bs=1M count=32; sync", "", "ext4"),
    some("ext4-synced", io("synced", "write", "forward", 4096, 40, 1, file="$FILE"), "", "ext4"),
    some("ext4-small-files", "for i in $(seq 100); do echo $i >$MNT/f$i; done; sync", "", "ext4"),
    some("xfs-write", "dd if=/dev/zero of=$FILE bs=1M count=32; sync", "", "xfs"),
)  # fmt: skip
TIMES, RATES = ("_us", "_ns"), ("_kib_s", "bytes_s", "iops", "rpm")  # keys of profiles
MEMORY = {"nvme-azure": "160M", "nvme-4": "96M", "two-controllers": "128M"}  # for readahead, four drives, mkfs
ACTS = ("run", "shell", "ab", "expect", "build", "clean", "workloads", "profiles", "show")


@dataclasses.dataclass
class Runs:
    """Guests of one profile. Seeds from PLANTED on have the slower device."""

    name: str
    kept: Path
    program: Path

    def __post_init__(self) -> None:
        self.kernel = tree.pick("6.1", Progress(quiet=True))
        self.slower = slower(self.name)
        for driver in runner.profiles_of(self._arguments(0), Progress(quiet=True)).drivers:
            modules.modules_of(driver, self.kernel, Progress(quiet=True))

    def _arguments(self, seed: int) -> argparse.Namespace:
        words = ["run", "--quiet", "--mem", MEMORY.get(self.name, "48M"), "--profile", self.name, "--seed", str(seed)]
        for one in self.slower if seed >= PLANTED else ():
            words += ["--set", one]
        return options.parsed(options.parser(dict.fromkeys(ACTS, lambda _: 0)), words)

    def of(self, first: int, jobs: Iterable[tuple[Workload, int, int]]) -> list[measures.Recorded]:
        """For judge.judged(): kernel 0 is A, kernel 1 has the seeds from `first` on."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda one: self.one(one[0], one[2] + first * one[1]), jobs))

    def one(self, workload: Workload, seed: int) -> measures.Recorded:
        """A run, or what is kept of it."""
        kept = self.kept / self.name / workload.name / f"{seed}.json"
        if not kept.exists():
            with tempfile.TemporaryDirectory(prefix="alike-", dir="/var/tmp") as place:
                recorded = self._boot(workload, seed, Path(place))
            kept.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"truth": recorded.truth, "spans": [dataclasses.asdict(span) for span in recorded.spans]})
            (fresh := kept.with_suffix(".new")).write_text(text, encoding="utf-8")
            fresh.replace(kept)
        read = json.loads(kept.read_text(encoding="utf-8"))
        return measures.Recorded(
            kept, [measures.Span(**{**span, "work": Work(**span["work"])}) for span in read["spans"]], read["truth"], {}
        )

    def _boot(self, workload: Workload, seed: int, place: Path) -> measures.Recorded:
        shutil.copy(self.program, place / "io")
        arguments = self._arguments(seed)
        arguments.command, arguments.disk = workload.words(), None
        with open(place / "output", "wb") as output:
            how = runner.How(Progress(quiet=True), (output, output))
            return measures.run(
                arguments, "6.1", lambda command, out: runner.boot(arguments, self.kernel, command, out, how), place
            )


def slower(name: str) -> list[str]:
    """KEY=VALUE of the same device with every time 2 % longer and every rate 2 % lower."""
    model = modules.build_programs(Progress(quiet=True)).model()
    one = profile.load(name, model)
    settings = []
    for key in model.keys[one.driver].values():
        value = int(one.values.get(key.name, key.preset)) if key.kind == "number" else 0
        last = key.name.rpartition(".")[2]
        factor = LOSS if last.endswith(TIMES) else 1 / LOSS if last.endswith(RATES) else 1.0
        setting = f"{key.name}={round(value * factor)}"
        if value and factor != 1 and not key.name.startswith("fault."):
            with contextlib.suppress(LabError):  # a key of what this device does not have, such as flash
                profile.load(name, model, settings=[setting])
                settings.append(setting)
    return settings


def apart(a: list[float], b: list[float]) -> float:
    """The chance of a difference as large between equals: the test that measures.interval() has."""
    logs = [[math.log(one) for one in side] for side in (a, b)]
    parts = [statistics.variance(side) / len(side) for side in logs]
    ratio = statistics.mean(logs[1]) - statistics.mean(logs[0])
    if not sum(parts):
        return float(ratio == 0)
    freedom = sum(parts) ** 2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, logs))
    return chance.student_tail(ratio / math.sqrt(sum(parts)), int(freedom))


def needed(*groups: list[float]) -> int:
    """The number of seeds of each side that find the planted loss nine times in ten, by the spread within the groups."""
    logs = [[math.log(one) for one in group] for group in groups]
    squares = sum(statistics.variance(group) * (len(group) - 1) for group in logs)
    spread = math.sqrt(squares / sum(len(group) - 1 for group in logs))
    for count in range(2, 1000):
        if (student_quantile(0.05, 2 * count - 2) + 1.28) * spread * math.sqrt(2 / count) <= math.log(LOSS):
            return count
    return 1000


def allowed(pairs: int) -> int:
    """The most of so many pairs of equals that 5 % of error calls different, but for one case in twenty."""
    most, mass = 0, 0.95**pairs
    while mass < 0.95 and most < pairs:
        most += 1
        mass += math.comb(pairs, most) * 0.05**most * 0.95 ** (pairs - most)
    return most


@dataclasses.dataclass
class Row:
    """One workload of one profile. `chance`: of A against A, None if the first seed was identical; `compared`: whether raidctl
    compare calls their trials different; `loss`: where that of the slower device lies, `needs`: the seeds to find it.
    """

    profile: str
    workload: str
    same: Decided
    chance: float | None
    compared: bool
    loss: tuple[float, float]
    needs: int

    def reached(self) -> bool:
        """Whether the planted loss is one of this workload: it may wait for something else."""
        return self.loss[1] >= REACHED

    def reversed(self) -> bool:
        """Whether the slower device is called faster."""
        return self.loss[1] < 1

    def found(self) -> bool:
        """Whether the interval shows it."""
        return self.loss[0] > 1

    def text(self) -> str:
        """One line."""
        equal = "identical" if self.chance is None else f"{self.same.verdict} ({self.chance:.2f})"
        loss = f"{self.loss[0]:.3f}-{self.loss[1]:.3f}"
        missed = "missed" if self.needs <= MOST else "more seeds"
        planted = (
            "found" if self.found() else missed if self.reached() else "faster" if self.reversed() else "not reached"
        )
        return f"{self.profile:15} {self.workload:17} {equal:16} {planted:11} {loss:11} {self.needs:5}"


def row(runs: Runs, workload: Workload, seeds: int) -> Row:
    """Judge one workload, by as many runs as that takes."""

    def of(first: int, count: int) -> list[float]:
        jobs = [(workload, 1, seed) for seed in range(count)]
        return [one.spans[0].seconds for one in runs.of(first, jobs)]

    same = judge.judged([workload], seeds, functools.partial(runs.of, SAME))[0]
    a, b = of(0, seeds), [] if same.verdict == judge.IDENTICAL else of(SAME, seeds)
    needs = needed(a + b, of(PLANTED, seeds))
    count = needs if seeds < needs <= MOST else seeds
    loss = measures.interval(of(0, count), of(PLANTED, count)) or (1.0, 1.0)
    trials = comparison.FigurePair((), comparison.Figures(tuple(a), "s"), comparison.Figures(tuple(b or a), "s"))
    return Row(runs.name, workload.name, same, apart(a, b) if b else None, bool(trials.exceeds()), loss, needs)


def total(name: str, rows: list[Row]) -> tuple[str, ...]:
    """A row of the table."""
    tested = [one.chance for one in rows if one.chance is not None]
    reached = [one for one in rows if one.reached()]
    needs = sorted(one.needs for one in reached)
    counts = (
        len(rows),
        len(tested),
        sum(one < 0.05 for one in tested),
        allowed(len(tested)),
        sum(chance.holm(tested)),
        sum(one.same.verdict in (judge.FASTER, judge.SLOWER) for one in rows),
        sum(one.compared for one in rows),
        len(reached),
        sum(one.found() for one in reached),
        sum(one.needs > MOST and not one.found() for one in reached),
        sum(one.reversed() for one in rows),
    )
    middle = f"{statistics.median(needs):.0f}" if needs else "-"
    return (name, *map(str, counts), middle, f"{needs[-1]}" if needs else "-")


HEAD = ("profile", "workloads", "pairs", "at 95 %", "allowed", "Holm", "verdict", "compare", "reached", "found", "more",
        "faster", "median", "most")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="lab-alike.py")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--keep", type=Path, default=TOP / "check-out/alike")
    parser.add_argument("--workload", action="append", default=[])
    parser.add_argument("profiles", nargs="*")
    words = parser.parse_args()
    if unknown := set(words.workload) - {one.name for one in WORKLOADS}:
        parser.error(f"no such workload: {' '.join(sorted(unknown))}")
    rows: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory(prefix="alike-") as place:
        source, program = Path(place, "io.c"), Path(place, "io")
        source.write_text(PROGRAM, encoding="ascii")
        subprocess.run(["gcc", "-O1", "-static", "-w", "-o", str(program), str(source)], check=True)
        for name in words.profiles or profile.names():
            runs = Runs(name, words.keep, program)
            for workload in WORKLOADS:
                if words.workload and workload.name not in words.workload:
                    continue
                rows.setdefault(name, []).append(row(runs, workload, words.seeds))
                print(rows[name][-1].text(), flush=True)
    every = [one for some_rows in rows.values() for one in some_rows]
    table = [HEAD, *(total(name, some_rows) for name, some_rows in rows.items()), total("all", every)]
    wide = [max(len(line[at]) for line in table) for at in range(len(HEAD))]
    print()
    for line in table:
        print("  ".join(cell.ljust(wide[0]) if not at else cell.rjust(wide[at]) for at, cell in enumerate(line)))
    for name, judged in [*rows.items(), ("all profiles", every)]:
        tested = [one for one in judged if one.chance is not None]
        shown = [one.workload for one in tested if one.chance is not None and one.chance < 0.05]
        check(f"{name}: no more pairs differ at 95 % than chance allows", len(shown) <= allowed(len(tested)), shown)
        left = chance.holm([one.chance or 0.0 for one in tested])
        check(f"{name}: none differs after Holm's correction", not any(left), shown)
        wrong = [one.workload for one in judged if one.same.verdict in (judge.FASTER, judge.SLOWER)]
        check(
            f"{name}: raidctl lab ab calls at most one in eight hundred different",
            len(wrong) <= len(judged) // 200,
            wrong,
        )
        compared = [one.workload for one in tested if one.compared]
        check(
            f"{name}: raidctl compare calls no more different than chance",
            len(compared) <= allowed(len(tested)),
            compared,
        )
        missed = [one.workload for one in judged if one.reached() and one.needs <= MOST and not one.found()]
        check(f"{name}: the planted loss is found with as many seeds as the spread requires", not missed, missed)
    finish()


if __name__ == "__main__":
    main()
