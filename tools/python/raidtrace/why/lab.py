# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in guests of the lab. Each boots with fresh disks.

The seed of a trial sets its random values (raidlab.uml.machine), so trials differ like runs on real disks. Two runs
with the same seed are identical, so a pair differs only by its change."""

import concurrent.futures
import dataclasses
import pathlib
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence

import tomllib

from raidtrace.explain import runs
from raidtrace.quantity import units
from raidtrace.why import changes, figures
from raidtrace.why.changes import DEPENDENT_FILES, FILES, Change, Kind
from raidtrace.why.experiment import Place
from raidtrace.why.figures import MAX_BASELINES, Run

SCRIPT = "run.sh"
PRELOAD = '"$(dirname "$(command -v raidctl)")"/why-preload.so'  # a guest has the checkout in another directory
JOBS = 2  # a guest in simulated time has one processor
BASELINES = 3
DEFAULT_DRIVER = "3w-9xxx"  # of a profile without `device`
FASTER_FACTOR = 10  # for a controller or drives that are no limit
# A run without progress of its simulated time is ended. The limit is real time, derived from the baselines under the
# same load of the machine. The limit for the baselines is long, because the machine may be busy.
FIRST_S, WALL_S, WALL_FACTOR = 1200.0, 40.0, 8.0


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a device. shorter, larger: keys of its profile that are smaller, or larger, in a faster part."""

    name: str
    shorter: tuple[str, ...]
    larger: tuple[str, ...]


OPTIMAL_IO_KEYS = ("nvme.optimal_write_kib", "queue.io_opt_kib")  # the optimal I/O size that a disk reports
MAX_VALUES = {"flash.channels": 1024}  # keys with a maximum
SEEKS = {"drive.seek_track_us": 0, "drive.seek_average_us": 0, "drive.seek_full_us": 0, "drive.write_settle_us": 0,
         "drive.rpm": 30000}  # fmt: skip
DRIVE = Part("drives", ("drive.command_us",),
             ("drive.media_outer_kib_s", "drive.media_inner_kib_s", "drive.interface_kib_s"))  # fmt: skip
FLASH = (
    Part("flash", ("flash.read_ns", "flash.program_ns"), ()),
    Part("number of flash channels", (), ("flash.channels",)),
)
LIMITS = (Part("IOPS limit", (), ("limit.iops",)), Part("bandwidth limit", (), ("limit.bytes_s",)))
PARTS = {
    "3w-9xxx": (
        Part("controller", ("controller.command_us", "controller.part_us"),
             ("controller.read_kib_s", "controller.write_kib_s", "controller.parity_kib_s")),
        DRIVE,
    ),
    "ahci": (dataclasses.replace(DRIVE, name="drive"),),
    "nvme": (
        Part("controller", ("nvme.command_ns",), ()),
        *FLASH,
        Part("link", ("link.latency_ns",), ("link.bytes_s",)),
        *LIMITS,
    ),
    "virtio-blk": (
        Part("link", ("link.latency_ns",), ("link.bytes_s",)),
        *LIMITS,
    ),
}  # fmt: skip
SATA_FLASH = (*FLASH, Part("interface", ("drive.command_us", "link.latency_ns"), ("drive.interface_kib_s",)))
DISKS = {"nvme": "nvme0n1", "virtio-blk": "vda"}  # first disk of a driver, if it is not sda
SLOW = ("drive.slow_member", "fault.slow_member")


@dataclasses.dataclass(frozen=True)
class Setup:
    """The options of the command line. prepare: shell, before each run. load: shell, while the command runs. options:
    for raidctl lab run. sets: keys of the profile."""

    raidctl: pathlib.Path
    out: pathlib.Path
    profile: str
    command: tuple[str, ...]
    disk: str = "sda"
    prepare: str = ""
    load: str = ""
    phase: str = ""
    sets: Mapping[str, str] = dataclasses.field(default_factory=dict)
    options: tuple[str, ...] = ()
    other_kernel: str = ""


class Lab(Place):
    """A Place in the lab. Each run is a guest."""

    looks = 1
    most_pairs = 3

    def __init__(self, setup: Setup, most_runs: int = 25, budget_s: float = float("inf")) -> None:
        super().__init__(most_runs=most_runs, budget_s=budget_s, jobs=JOBS)
        self.setup = setup
        self._base: dict[int, Run] = {}
        self._guests: set[subprocess.Popen[str]] = set()
        self._profile = flat(tomllib.loads(profile_path(setup.profile).read_text(encoding="utf-8")))
        self._driver = self._profile.pop("device", DEFAULT_DRIVER)
        flash = (self._profile | dict(setup.sets)).get("ata.media") == "flash"
        self._heads = self._driver in (DEFAULT_DRIVER, "ahci") and not flash
        self._parts = SATA_FLASH if flash else PARTS[self._driver]

    def baselines(self) -> Iterator[Run]:
        [first] = self._all([(changes.BASELINE, 0)], 0)  # one run first, to report a failure early
        yield first
        if not first.failure and not first.idle:
            yield from self._all([(changes.BASELINE, seed) for seed in range(1, BASELINES)], first.seconds)

    def pairs(self, planned: Sequence[tuple[Change, int]], cap_s: float) -> Iterator[tuple[Run, Run]]:
        for (_, seed), run in zip(planned, self._all(list(planned), cap_s)):
            yield self._base[seed], run

    def bound(self) -> Change | None:
        free = {key: value for part in self._parts for key, value in self._faster(part).items()} | self._seeks()
        if self._driver == DEFAULT_DRIVER:
            free |= dict.fromkeys(SLOW, 0)
        what = "array" if self._driver == DEFAULT_DRIVER else "disk"
        return _lab(f"{what} free of its limits", "disk", Kind.FREE, free)

    def others(self, observed: frozenset[str]) -> list[Change]:
        candidates = [changes.ALONE] if self.setup.load else []
        values = self._profile | dict(self.setup.sets)
        faults = {name: "0" for name in values if name.startswith("fault.") and values[name] != "0"
                  and not name.endswith(("_factor", "_sectors", "_for_ms", ".controller", ".unit"))}  # fmt: skip
        slow = {name: "0" for name in SLOW if values.get(name, "0") != "0"}
        if faults:
            candidates.append(_lab("no faults", f"fault ({', '.join(faults)})", Kind.FAULT, faults))
        if slow and not faults:
            candidates.append(_lab("no slow drive", "slow drive", Kind.FAULT, slow))
        return candidates + changes.program(observed)

    def last(self) -> list[Change]:
        values = self._profile | dict(self.setup.sets)
        extra = [_lab("seeks free", "seeks", Kind.LAB, self._seeks())] if self._seeks() else []
        for part in self._parts:
            if faster := self._faster(part):
                name = f"{part.name} {FASTER_FACTOR} x as {'high' if part in LIMITS else 'fast'}"
                extra.append(_lab(name, f"{part.name}{_value(part, values)}", Kind.LAB, faster))
        optimal = {name: 0 for name in OPTIMAL_IO_KEYS if values.get(name, "0") != "0"}
        if optimal:
            extra.append(_lab("no optimal I/O size", "optimal I/O size, which sets the readahead", Kind.LAB, optimal))
        level = values.get("array.level", "")
        if level == "raid5" and int(values.get("array.drives", "12")) >= 2:
            extra.append(_lab("RAID 0", "RAID level", Kind.LAB, {"array.level": "raid0"}))
        reported = values.get("controller.write_cache_reported", "0")
        if reported == "1":
            extra.append(
                _lab("write cache reported as safe", "cache flushes", Kind.LAB, {"controller.write_cache_reported": 0})
            )
        if self.setup.other_kernel:
            name = self.setup.other_kernel
            extra.append(Change(f"kernel {name}", "kernel", Kind.LAB, kernel=name))
        return extra

    def _faster(self, part: Part) -> dict[str, int]:
        values = self._profile | dict(self.setup.sets)
        numbers = {name: int(value) for name, value in values.items() if value.isdigit()}
        shorter = {name: numbers[name] // FASTER_FACTOR for name in part.shorter if name in numbers}
        larger = {name: numbers[name] * FASTER_FACTOR for name in part.larger if name in numbers}
        return shorter | {name: min(value, MAX_VALUES.get(name, value)) for name, value in larger.items()}

    def _seeks(self) -> dict[str, int]:
        """Keys of the seek times of a device with heads; else empty."""
        return SEEKS if self._heads else {}

    def _all(self, planned: Sequence[tuple[Change, int]], cap_s: float) -> Iterator[Run]:
        """The runs in the planned order, each as soon as it and those before it completed. Unchanged runs that are
        missing for the comparison are made first, and not returned."""
        missing = {seed for change, seed in planned if change is not changes.BASELINE} - set(self._base)
        todo = [(changes.BASELINE, seed) for seed in sorted(missing)] + list(planned)
        numbered = [(self.runs + at, change, seed) for at, (change, seed) in enumerate(todo, 1)]
        self.runs += len(todo)
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            try:
                runs = pool.map(lambda one: self._run(one[0], one[1], one[2], cap_s), numbered)
                for at, ((change, seed), run) in enumerate(zip(todo, runs)):
                    if change is changes.BASELINE:
                        self._base[seed] = run
                    if at >= len(missing):
                        yield run
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for guest in self._guests:
                    guest.terminate()
                raise

    def _run(self, number: int, change: Change, seed: int, cap_s: float) -> Run:
        out = self.setup.out / f"run-{number:02}"
        out.mkdir(parents=True, exist_ok=True)
        for path in out.iterdir():
            path.unlink()
        (out / runs.CHANGE).write_text(f"{change.name}, trial {seed}\n", encoding="utf-8")
        (out / SCRIPT).write_text(script(self.setup, change), encoding="utf-8")
        loaded = bool(self.setup.load) and not change.alone
        text = figures.measured(self.setup.command, PRELOAD, change.program, MAX_BASELINES * cap_s, loaded)
        (out / figures.MEASURED).write_text(text, encoding="utf-8")
        begin = time.monotonic()
        limit_s = self._limit_s()
        with subprocess.Popen(self.guest(change, seed, out, limit_s), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as guest:  # fmt: skip
            self._guests.add(guest)
            text, _ = guest.communicate()
        self._guests.discard(guest)
        self.wall_s.append(time.monotonic() - begin)
        if guest.returncode:
            why = {124: f"stopped after {limit_s:.0f} s of real time"}.get(guest.returncode)
            last = " ".join(text.strip().splitlines()[-2:])
            return Run(failure=why or f"the guest: exit status {guest.returncode}: {last}")
        run = figures.read(out, self.setup.disk, self.setup.phase, MAX_BASELINES * cap_s)
        self.sources.append(run.counted)
        return run

    def _limit_s(self) -> float:
        return WALL_S + WALL_FACTOR * max(self.wall_s[:BASELINES]) if len(self.wall_s) >= BASELINES else FIRST_S

    def guest(self, change: Change, seed: int, out: pathlib.Path, limit_s: float) -> list[str]:
        words = [str(self.setup.raidctl), "lab", "run", "-q", "--out", str(out), "--seed", str(seed)]
        words += ["--profile", self.setup.profile]
        words += ["--timeout", f"{limit_s:.0f}"]
        for name, value in {**self.setup.sets, **dict(change.lab)}.items():
            words += ["--set", f"{name}={value}"]
        words += ["--kernel", change.kernel] if change.kernel else []
        return [*words, *self.setup.options, "--", "sh", SCRIPT]


def script(setup: Setup, change: Change) -> str:
    """The script of a guest: prepare, set, read back, drop caches, record."""
    top = f"/sys/block/{setup.disk}"
    lines = ["# made by raidctl why for a guest of the lab", "grep -q '^simulated: yes' /proc/raidlab/status || exit 1"]
    lines += [
        "modprobe bfq 2>/dev/null",
        f"{{ true; {setup.prepare}",
        "} >prepare.log 2>&1 || { tail -n 2 prepare.log >&2; exit 1; }",
    ]
    lines += figures.script_settings(setup.disk)  # before the change
    lines.append(f'before() {{ sed -n "s/^$1 //p" {figures.SETTINGS}; }}')
    for name in FILES:
        new = dict(change.settings).get(name)
        if new is not None:
            lines.append(f"echo {new} >{top}/{FILES[name]} 2>>refused")
        elif change.settings and name in DEPENDENT_FILES:  # the previous value, if it is accepted
            lines.append(f'[ -n "$(before {name})" ] && echo $(before {name}) >{top}/{FILES[name]} 2>>refused')
    lines += figures.script_settings(setup.disk)
    lines += ["sync", "echo 3 >/proc/sys/vm/drop_caches"]
    if setup.load and not change.alone:
        lines += [f"setsid sh -c {shlex.quote(setup.load)} >beside.log 2>&1 & beside=$!", "sleep 0.2"]
    lines.append("sleep 0.1")
    lines.append(
        f"raidctl record -q -f -d {setup.disk} -o {figures.RECORDING} -i 50ms -- sh {figures.MEASURED} 2>record.log"
    )
    if setup.load and not change.alone:
        lines.append("kill -9 -- -$beside")
    lines += figures.script_settings(setup.disk, figures.AFTER)
    lines.append(f"[ -e {figures.STATUS} ]")
    return "\n".join(lines) + "\n"


def flat(table: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """The keys of a profile in the form of the model (controller.command_us). Yes and no become 1 and 0."""
    values: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            values |= flat(value, f"{prefix}{key}.")
        else:
            values[prefix + key] = str(int(value)) if isinstance(value, bool | int) else str(value)
    return values


def first_disk(name: str) -> str:
    """The first disk of a guest with the profile `name`."""
    profile = flat(tomllib.loads(profile_path(name).read_text(encoding="utf-8")))
    return DISKS.get(profile.get("device", DEFAULT_DRIVER), "sda")


def profile_path(name: str) -> pathlib.Path:
    """The file of a profile, by its name or path."""
    here = pathlib.Path(__file__).resolve().parents[3] / "lab/profiles"
    return pathlib.Path(name) if name.endswith(".toml") else here / f"{name}.toml"


def _value(part: Part, values: Mapping[str, str]) -> str:
    """The value of a volume's limit, to be printed after its name; else empty."""
    if part not in LIMITS:
        return ""
    number = int(values[part.larger[0]])
    return f" of {number:,} requests/s" if part is LIMITS[0] else f" of {units.octets(number)}/s"


def _lab(name: str, cause: str, kind: Kind, values: Mapping[str, object]) -> Change:
    return Change(name, cause, kind, lab=tuple((key, str(value)) for key, value in values.items()))
