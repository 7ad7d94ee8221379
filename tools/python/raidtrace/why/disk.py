# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs on a disk of this machine, with settings that the journal of the sweep restores.

If the disk may not be overwritten and is not in use, it is read-only while the command runs. If it is in use, the user
must confirm that the command may write files. raidtrace.sweep.destruction alone decides whether a disk may be
overwritten.
"""

import contextlib
import dataclasses
import itertools
import os
import pathlib
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from raidtrace.explain import runs
from raidtrace.sweep import destruction, disk_users, journal
from raidtrace.sweep.device import DeviceError, Machine
from raidtrace.why import changes, figures, mapping, rate
from raidtrace.why.changes import DEPENDENT_FILES, FILES, OF_REQUESTS, Change, Kind
from raidtrace.why.experiment import Place
from raidtrace.why.figures import MAX_BASELINES, Run

BASELINES = 5
DROP = "/proc/sys/vm/drop_caches"
CGROUPS = pathlib.Path("/sys/fs/cgroup")
PAGE = 4096
MAX_WORDS = 1000  # words of a command that are examined
LEAD_S = 0.5  # s by which the concurrent load starts before the command


@dataclasses.dataclass(frozen=True)
class Setup:
    """The options of the command line. prepare, load: shell commands, before and during a run. destroy: the disk may be
    overwritten. in_use: it is in use, and the command may write files. freeze: control groups that may be frozen for a
    run. source: words for raidctl record that choose the source of counters, or none."""

    raidctl: pathlib.Path
    out: pathlib.Path
    disk: str
    command: tuple[str, ...]
    prepare: str = ""
    load: str = ""
    phase: str = ""
    destroy: bool = False
    in_use: bool = False
    freeze: tuple[str, ...] = ()
    source: tuple[str, ...] = ()


class Disk(Place):
    """A Place on a disk. Each modified run is paired with an unmodified one; the order alternates."""

    def __init__(self, setup: Setup, machine: Machine, log: journal.Journal, permit: destruction.Permit | None,
                 most_runs: int, budget_s: float) -> None:  # fmt: skip
        super().__init__(most_runs=most_runs, budget_s=budget_s, each=2)
        self.setup, self.machine, self.journal, self.permit = setup, machine, log, permit
        self.limited = limited_files(machine, setup.disk)
        self._first: Run | None = None
        self._children: list[subprocess.Popen[bytes]] = []

    @staticmethod
    @contextlib.contextmanager
    def opened(setup: Setup, machine: Machine, forced: bool, most_runs: int, budget_s: float) -> Iterator["Disk"]:
        """A place. Afterwards all settings are restored. forced: old data on an unused disk may be overwritten, too."""
        with contextlib.ExitStack() as stack:
            permit = None
            if setup.destroy:
                permit = stack.enter_context(destruction.permit(machine, [setup.disk], forced))
            elif not setup.in_use:
                _unused(machine, setup.disk)
            log = journal.Journal.begin([setup.disk], machine)
            place = Disk(setup, machine, log, permit, most_runs, budget_s)
            try:
                for group in setup.freeze:
                    log.cover(str(frozen_file(group)))
                for file in place.limited:
                    log.cover_limit(file, setup.disk, machine)
                if not setup.destroy and not setup.in_use:
                    log.read_only(setup.disk, machine)
                yield place
            finally:
                place.end()
                log.end(machine)

    def baselines(self) -> Iterator[Run]:
        self._first = first = self._run(changes.BASELINE, 0, 0)
        yield first
        for trial in range(1, 1 if first.failure or first.status or first.idle else BASELINES):
            yield self._run(changes.BASELINE, trial, first.seconds)

    def pairs(self, planned: Sequence[tuple[Change, int]], cap_s: float) -> Iterator[tuple[Run, Run]]:
        for change, trial in planned:
            if not self.left():
                return
            order = (changes.BASELINE, change) if trial % 2 == 0 else (change, changes.BASELINE)
            first, second = (self._run(one, trial, cap_s) for one in order)
            yield (first, second) if trial % 2 == 0 else (second, first)

    def bound(self) -> Change | None:
        """The change with the data in memory. None: the program writes or uses direct I/O, where it proves nothing."""
        first = self._first
        if first is None or not first.reads() or "direct" in first.observed:
            return None
        return changes.WARM

    def others(self, observed: frozenset[str]) -> list[Change]:
        candidates = [changes.ALONE] if self.setup.load else []
        candidates += [
            Change(f"{group} frozen", f"load of {group}", Kind.LOAD, freeze=group) for group in self.setup.freeze
        ]
        candidates += [changes.unlimited(self.limited)] if self.limited else []
        return candidates + changes.program(observed)

    def rates(self) -> rate.Rates:
        rates, first = rate.judge(self._rate), self._first or Run()
        size = first.disk_bytes.get("read", 0) // max(first.disk_requests, 1) // PAGE * PAGE
        if rates == rate.Rates() or not size or not first.reads():
            return rates
        return dataclasses.replace(rates, alone_ms=self._rate(rate.Reads(size, 1, rate.ALONE)))

    def layer(self) -> mapping.Layer:
        disk, first = self.setup.disk, self._first or Run()
        if not self.machine.below(disk):
            above = made_of(self.machine, disk)
            if not above:
                return mapping.Layer()
            text = (
                f"{' and '.join(above)} above {disk}, which has its own readahead. To test this layer: --disk "
                f"{above[0]}"
            )
            return mapping.Layer(above[0], untried=text)
        if not first.reads():
            return mapping.Layer(disk, untried=f"{disk}, because the command writes and only reads are compared")
        try:
            below = mapping.lowest(disk, self._table, self.machine.names())
        except OSError as error:
            return mapping.Layer(disk, untried=f"{disk}, because dmsetup does not run: {error.strerror}")
        if not below:
            return mapping.Layer(disk, untried=f"{disk}, because it does not map a single range of a single device")
        return mapping.measured(disk, *below, first, lambda name, reads: self._rate(reads, name))

    def _table(self, disk: str) -> str:
        """The device mapper's table of a disk. Empty: it is not a device mapper disk."""
        number = self.machine.number(disk)
        words = ["dmsetup", "table", "--major", str(os.major(number)), "--minor", str(os.minor(number))]
        done = subprocess.run(words, capture_output=True, check=False)
        return "" if done.returncode else done.stdout.decode(errors="replace")

    def _rate(self, reads: rate.Reads, disk: str = "") -> float | None:
        """The result of one reader of rate.py, on `disk` or on the disk of the experiment. None: no time is left, or
        the reader failed."""
        if not self.has(rate.WARM_UP_S + rate.MAX_S):
            return None
        disk = disk or self.setup.disk
        out = self.setup.out / f"rate-{disk}-{reads.octets >> 10}-{reads.depth}-{reads.pattern}-{reads.seed}"
        words = [sys.executable, "-I", rate.__file__, f"{self.machine.dev}/{disk}"]
        out.unlink(missing_ok=True)
        status = self._wait(self._start([*words, *map(str, dataclasses.astuple(reads))], out, self.setup.out))
        try:
            return None if status else rate.read(out.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def end(self) -> None:
        for child in self._children:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        self._children.clear()

    def _run(self, change: Change, trial: int, cap_s: float) -> Run:
        self.runs += 1
        out = self.setup.out / f"run-{self.runs:03}"
        out.mkdir(parents=True, exist_ok=True)
        for path in out.iterdir():
            path.unlink()
        (out / runs.CHANGE).write_text(f"{change.name}, trial {trial}\n", encoding="utf-8")
        begin = time.monotonic()
        try:
            return self._measured(change, out, MAX_BASELINES * cap_s)
        except (OSError, subprocess.SubprocessError) as error:
            return Run(failure=str(error))
        finally:
            self.wall_s.append(time.monotonic() - begin)

    def _measured(self, change: Change, out: pathlib.Path, cap_s: float) -> Run:
        setup = self.setup
        self.journal.settle(self.machine)
        if self.permit:
            self.permit.hand_over([setup.disk])
        try:
            if setup.prepare:
                self._shell(setup.prepare, out / "prepare.log")
            self._set(change)
            self._keep_settings(out)
            loaded = bool(setup.load) and not change.alone
            preload = shlex.quote(str(setup.raidctl.parent / "why-preload.so"))
            script = figures.measured(setup.command, preload, change.program, cap_s, loaded, os.getcwd())
            (out / figures.MEASURED).write_text(script, encoding="utf-8")
            with contextlib.ExitStack() as stack:
                if change.warm:
                    # the cache of a block device exists only while the device is open
                    stack.callback(os.close, os.open(f"{self.machine.dev}/{setup.disk}", os.O_RDONLY | os.O_CLOEXEC))
                    for _ in range(2):
                        self._wait(self._start(setup.command, out / "warm.log"))
                else:
                    os.sync()
                    self.journal.put(DROP, "3")
                if change.freeze:
                    self.journal.put(str(frozen_file(change.freeze)), "1")
                    stack.callback(self.journal.put, str(frozen_file(change.freeze)), "0")
                for file, before in change.unlimited:
                    stack.callback(self.journal.put_limit, file, before, self.machine)
                    self.journal.put_limit(file, journal.NO_LIMIT, self.machine)
                load = self._start(["sh", "-c", setup.load], out / "beside.log") if loaded else None
                if load:
                    time.sleep(LEAD_S)
                command = [str(setup.raidctl), "record", "-q", "-f", *setup.source, "-d", setup.disk, "-o",
                           figures.RECORDING, "--", "sh", figures.MEASURED]  # fmt: skip
                status = self._wait(self._start(command, out / "record.log", out))
                _keep(out / figures.AFTER, self._settings())
                if load:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(load.pid, signal.SIGKILL)
                    self._wait(load)
            if not (out / figures.STATUS).exists():
                last = figures.last_words(out / "record.log")
                return Run(failure=f"raidctl record: exit status {status}: {last}")
            run = figures.read(out, setup.disk, setup.phase, cap_s)
            self.sources.append(run.counted)
            return run
        finally:
            if self.permit:
                self.permit.hold([setup.disk])

    def _set(self, change: Change) -> None:
        """Make the settings of a change. A refused one is detected later, when the settings are read back."""
        before = self._settings()
        for name, file in FILES.items():
            value = dict(change.settings).get(name)
            if value is None and change.settings and name in DEPENDENT_FILES:
                value = before.get(name)
            if value is not None:
                with contextlib.suppress(OSError):
                    self.journal.put(str(self.machine.sys / "block" / self.setup.disk / file), value)

    def _settings(self) -> dict[str, str]:
        top = self.machine.sys / "block" / self.setup.disk
        files = {name: top / file for name, file in FILES.items() if name not in OF_REQUESTS or (top / "mq").exists()}
        return {name: journal.value(path) for name, path in files.items() if path.exists()}

    def _keep_settings(self, out: pathlib.Path) -> None:
        queue = self.machine.sys / "block" / self.setup.disk / "queue"
        files = {"scheduler": queue / "scheduler", "max_sectors_kb": queue / "max_hw_sectors_kb"}
        limits = {name: re.sub(r"[][]", "", path.read_text(encoding="ascii")).strip()
                  for name, path in files.items() if path.exists()}  # fmt: skip
        _keep(out / figures.SETTINGS, self._settings())
        _keep(out / figures.LIMITS, limits)

    def _shell(self, text: str, log: pathlib.Path) -> None:
        status = self._wait(self._start(["sh", "-c", text], log))
        if status:
            raise OSError(f"--prepare: exit status {status}: {figures.last_words(log)}")

    def _start(
        self, words: Sequence[str], log: pathlib.Path, cwd: pathlib.Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program in its own session, with the marker that lets the journal find it after a kill. cwd: None:
        the directory of raidctl why."""
        environment = dict(os.environ, **{journal.MARKER: self.journal.marker})
        environment["PATH"] = f"{self.setup.raidctl.parent}:{environment.get('PATH', '')}"
        with log.open("ab") as output:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=cwd, env=environment,
                                     start_new_session=True, preexec_fn=journal.ends_with_us)  # fmt: skip
        self._children.append(child)
        return child

    def _wait(self, child: subprocess.Popen[bytes]) -> int:
        status = child.wait()
        self._children.remove(child)
        return status


def _keep(path: pathlib.Path, values: Mapping[str, str]) -> None:
    """Write lines for figures.named_values()."""
    path.write_text("".join(f"{name} {value}\n" for name, value in values.items()), encoding="ascii")


def frozen_file(group: str) -> pathlib.Path:
    """The file that freezes a control group. Raises DeviceError: there is none, or this process is in the group."""
    group = group.removeprefix(str(CGROUPS)).strip("/")
    path = CGROUPS / group / "cgroup.freeze"
    if not group or ".." in group or not path.is_file():
        raise DeviceError(f"--freeze {group or '/'}: there is no {path}; systemd-cgls lists the groups")
    own = pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").rpartition("0::/")[2].strip()
    if f"{own}/".startswith(f"{group}/"):
        raise DeviceError(f"--freeze {group}: this process is in it, and would be frozen")
    return path


def limited_files(machine: Machine, disk: str) -> dict[str, str]:
    """The files io.max that limit the disk, of our own cgroup (the command's) and of those above it, and
    their limits."""
    lines: list[str] = []
    with contextlib.suppress(FileNotFoundError):
        lines = (machine.proc / "self/cgroup").read_text(encoding="utf-8").splitlines()
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    group, limits = CGROUPS / own, dict[str, str]()
    while group != CGROUPS and CGROUPS in group.parents:
        file = group / "io.max"
        if file.is_file() and (limit := journal.limit(str(file), machine, disk)) != journal.NO_LIMIT:
            limits[str(file)] = limit
        group = group.parent
    return limits


def of_files(machine: Machine, command: Sequence[str]) -> list[str]:
    """The disks of the files and devices in the arguments of a command, if the kernel knows them."""
    disks = dict[str, None]()
    names = machine.names()
    for path in itertools.islice(
        (part for word in command[1:] for part in re.split(r"[\s=]", word) if part), MAX_WORDS
    ):
        try:
            status = machine.stat(path)
        except (OSError, ValueError):
            continue
        name = names.get(status.st_rdev if stat.S_ISBLK(status.st_mode) else status.st_dev, "")
        if (machine.sys / "class/block" / name / "partition").exists():
            name = (machine.sys / "class/block" / name).resolve().parent.name
        disks |= {name: None} if name else {}
    return list(disks)


def made_of(machine: Machine, disk: str) -> list[str]:
    """Names of the disks (md, dm, ...) that use a disk or one of its partitions."""
    return sorted({name for part in (disk, *machine.partitions(disk)) for name in machine.holders(part)})


def _unused(machine: Machine, disk: str) -> None:
    """Check that a disk is not in use, so that it can be made read-only. Raises DeviceError with the users."""
    disk_users.all_can_be_seen(machine)
    uses = disk_users.Look.now(machine).uses(disk)
    if uses:
        above = made_of(machine, disk)
        other = f"the disk above it ({above[0]})" if above else "an idle disk"
        raise DeviceError(
            f"{disk}: {'; '.join(use.what for use in uses)}. The command could write to the disk: add --in-use if "
            f"it may write to its own files, or name {other}"
        )
