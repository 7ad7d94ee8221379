# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of raidctl check: the requirements of a benchmark for other load, the disk, and the machine."""

import dataclasses
import enum
from collections.abc import Callable, Sequence

from raidtrace.check.facts import Activity, Disk, Facts, Kind, ProcessUse
from raidtrace.quantity.units import SECTOR_BYTES, octets, plural, sectors

KIB, MIB = 1024, 1024 * 1024
# The white paper requires 40 times the memory, and shows that twice the memory still reads from the cache.
DATA_TIMES_RAM, DATA_TIMES_RAM_CACHED = 40.0, 2.0
RATE = (64.0 * KIB, 1.0 * MIB)  # bytes/s that disturb one disk of some 50 MB/s
NAMED = 3  # processes in a text; twice as many disks and modules
# The kernel's default readahead, and that of the white paper for an array of drives.
UNTUNED_SECTORS, TUNED_SECTORS = 256, 16384
LARGE_SECTORS = 8192  # 4 MiB: with more readahead, random reads of a single disk fetch data that nobody uses
AS_ROOT = "run it as root: sudo raidctl check"
HIDDEN = "this user cannot see the processes of other users"
END_THEM = "end processes that the run does not need, or wait for them"
WHO = "as root, rule process-io names the processes"


class Grade(enum.Enum):
    """From good to bad. The last is for facts that are not available."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "not available"


PASS, WARN, FAIL, UNKNOWN = Grade.PASS, Grade.WARN, Grade.FAIL, Grade.UNKNOWN
ORDER = tuple(Grade)


@dataclasses.dataclass(frozen=True)
class Case:
    """The input of one rule: facts of the machine, all chosen disks, and one of them for a rule about disks."""

    facts: Facts
    disks: tuple[Disk, ...]
    disk: Disk

    @property
    def activity(self) -> Activity:
        return self.facts.activity

    def rate(self, count: float) -> float:
        """A count per second between the two readings."""
        return count / self.activity.seconds


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a rule. text: the finding. advice: the remedy if it warns or fails. value: the judged number.
    verdict: None: the limits of the rule decide."""

    text: str
    advice: str = ""
    value: float | None = None
    verdict: Grade | None = None


@dataclasses.dataclass(frozen=True)
class Rule:
    """One requirement of a benchmark. reads: the source of its facts. find: returns None if this cannot be read.
    limits: the rule warns if the value is above the first, and fails if it is above the second. why: the effect on the
    benchmark."""

    name: str
    reads: str
    find: Callable[[Case], Result | None]
    why: str
    unit: str = ""
    limits: tuple[float, float] = (float("inf"), float("inf"))


@dataclasses.dataclass(frozen=True)
class Finding:
    """The result of one rule for the machine (disk is empty) or for one disk. value: in the rule's unit. text: the
    finding, or the reason why it is not available. remedy: empty: there is nothing to do."""

    rule: Rule
    disk: str
    verdict: Grade
    value: float | None
    text: str
    remedy: str


def judge(facts: Facts, disks: Sequence[Disk]) -> list[Finding]:
    """Apply every rule. Without a disk, rules about disks are not available."""
    findings = []
    for rule in RULES:
        for disk in disks if rule in DISK and disks else (Disk(""),):
            name = disk.name if rule in DISK else ""
            if rule in DISK and not disks:
                result: Result | None = Result(
                    "no disk is named, and there is no 3ware unit", "name a disk: raidctl check DISK", verdict=UNKNOWN
                )
            else:
                result = rule.find(Case(facts, tuple(disks), disk))
            if result is None:
                findings.append(Finding(rule, name, UNKNOWN, None, f"{rule.reads} cannot be read", ""))
                continue
            value = None if result.value is None else float(result.value)
            verdict = result.verdict or ORDER[sum((value or 0) > limit for limit in rule.limits)]
            findings.append(Finding(rule, name, verdict, value, result.text, "" if verdict is PASS else result.advice))
    return findings


def listed(words: Sequence[str]) -> str:
    """The parts of a sum as text to append: ": make (11) 2.0 %, ..."."""
    return (": " if words else "") + ", ".join(words)


def busiest(case: Case, use: Callable[[ProcessUse], float], text: Callable[[float], str]) -> str:
    """A text with the processes of the highest use."""
    most = sorted((one for one in case.activity.processes if use(one) > 0), key=use, reverse=True)[:NAMED]
    return listed([f"{one.name} ({one.pid}) {text(use(one))}" for one in most])


def _data_set(case: Case) -> Result | None:
    ram, data = case.facts.ram_bytes, case.facts.data_bytes
    if not ram:
        return None
    least = octets(DATA_TIMES_RAM * ram)
    if not data:
        return Result(f"the size of the benchmark's data is not given; memory is {octets(ram)}",
                      f"give the size: raidctl check --data-size SIZE; use {least} or more", verdict=UNKNOWN)  # fmt: skip
    room = sum(disk.size_bytes for disk in case.disks)
    if case.disks and all(disk.size_bytes for disk in case.disks) and data > room:
        names = " and ".join(disk.name for disk in case.disks)
        return Result(f"{octets(data)} of data does not fit on {names}, of {octets(room)}",
                      "give a smaller size, or name a larger disk", verdict=FAIL)  # fmt: skip
    times = data / ram
    verdict = PASS if times >= DATA_TIMES_RAM else WARN if times > DATA_TIMES_RAM_CACHED else FAIL
    return Result(f"{octets(data)} is {times:.3g} times the memory of {octets(ram)}",
                  f"use {least} ({DATA_TIMES_RAM:g} times) or more, or boot with less memory: mem=SIZE as kernel option",
                  times, verdict)  # fmt: skip


def _unwritten(case: Case) -> Result | None:
    dirty, writeback = case.facts.dirty_bytes, case.facts.writeback_bytes
    if dirty is None or writeback is None:
        return None
    return Result(f"{octets(dirty)} dirty, {octets(writeback)} in writeback", "write these pages before the run: sync",
                  dirty + writeback)  # fmt: skip


def _processor(case: Case) -> Result | None:
    activity = case.activity
    if case.facts.cpu_is_free:
        return Result("time is simulated: computation takes no time", verdict=UNKNOWN)
    if not activity.processes_known:
        return Result(HIDDEN, AS_ROOT, verdict=UNKNOWN)
    percent = sum(process.cpu_percent for process in activity.processes)
    names = busiest(case, lambda one: one.cpu_percent, lambda value: f"{value:.1f} %")
    return Result(f"{percent:.1f} % of one processor in {activity.seconds:.1f} s{names}", END_THEM, percent)


def _process_io(case: Case) -> Result | None:
    activity = case.activity
    if not activity.io_accounted:
        return Result("this kernel does not account the I/O of processes (CONFIG_TASK_IO_ACCOUNTING)", verdict=UNKNOWN)
    if not activity.processes_known or activity.seconds <= 0:
        return Result(HIDDEN, AS_ROOT, verdict=UNKNOWN)
    rate = case.rate(sum(process.io_bytes for process in activity.processes))
    if activity.nr_io_hidden and rate <= RATE[0]:  # the visible part is small, but incomplete
        return Result(f"only root may read the I/O of {activity.nr_io_hidden} of {len(activity.processes)} processes; the "
                      f"others: {octets(rate)}/s", AS_ROOT, verdict=UNKNOWN)  # fmt: skip
    names = busiest(case, lambda one: case.rate(one.io_bytes), lambda value: f"{octets(value)}/s")
    return Result(f"{octets(rate)}/s read from and written to disks{names}", END_THEM, rate)


def _other_disks(case: Case) -> Result | None:
    looked_at = {disk.name for disk in case.disks}
    if case.activity.disks is None or case.activity.seconds <= 0:
        return None
    others = [use for use in case.activity.disks if use.name not in looked_at]
    rate = case.rate(sum(use.bytes for use in others))
    names = [f"{use.name} {octets(case.rate(use.bytes))}/s" for use in others if use.bytes][: 2 * NAMED]
    return Result(f"{octets(rate)}/s on {len(others)} other disk{plural(len(others))}{listed(names)}",
                  f"end processes that use these disks; {WHO}", rate)  # fmt: skip


def _swap(case: Case) -> Result | None:
    size, used, pages = case.facts.swap_bytes, case.facts.swap_used_bytes, case.activity.swapped_pages or 0
    if size is None or used is None:
        return None
    moved = f", {pages} page{plural(pages)} moved in {case.activity.seconds:.1f} s" if pages > 0 else ""
    use = f"{octets(used)} of {octets(size)} in use" if size else "there is no swap space"
    verdict = FAIL if pages > 0 else WARN if used else PASS
    return Result(use + moved, "end processes that need the memory, then: swapoff -a", used, verdict)


def _drivers(case: Case) -> Result | None:
    modules = case.activity.modules
    if modules is None or case.activity.seconds <= 0:
        return None
    rate = case.rate(sum(module.interrupts for module in modules))
    names = [f"{one.name} {case.rate(one.interrupts):.1f}/s{' (shared)' if one.shared else ''}"
             for one in modules if one.interrupts][: 2 * NAMED]  # fmt: skip
    return Result(f"{rate:.1f} interrupts/s from devices of {len(modules)} module{plural(len(modules))} with use count 0"
                  f"{listed(names)}", "unload modules that the run does not need: modprobe -r MODULE", rate)  # fmt: skip


LOAD = (
    Rule("data-set", "/proc/meminfo", _data_set, "a benchmark whose data fits in memory measures memory", "times the memory"),
    Rule("unwritten", "/proc/meminfo", _unwritten, "the kernel writes pages of earlier work during the run", "bytes",
         (4.0 * MIB, 64.0 * MIB)),
    Rule("processor", "/proc/PID/stat", _processor, "other processes take processor time from the benchmark",
         "per cent of one processor", (5.0, 25.0)),
    Rule("process-io", "/proc/PID/io", _process_io, "other processes use disks during the run", "bytes/s", RATE),
    Rule("other-disks", "/proc/diskstats", _other_disks, "other disks share the bus, interrupts and processors", "bytes/s",
         RATE),
    Rule("swap", "/proc/meminfo", _swap, "swapping adds requests and takes memory", "bytes"),
    Rule("drivers", "/proc/modules or /proc/interrupts", _drivers, "devices that the run does not need interrupt it",
         "interrupts/s", (10.0, float("inf"))),
)  # fmt: skip


def _disk_idle(case: Case) -> Result | None:
    use = next((use for use in case.activity.disks or () if use.name == case.disk.name), None)
    if not use or case.activity.seconds <= 0:
        return Result("/proc/diskstats does not list the disk", verdict=UNKNOWN)
    rate = case.rate(use.bytes)
    return Result(
        f"{octets(rate)}/s in {use.requests} request{plural(use.requests)}",
        f"end processes that use the disk; {WHO}",
        rate,
    )


def _scheduler(case: Case) -> Result | None:
    name = case.disk.scheduler
    if not name:
        return Result("the disk receives only bios, so it has no scheduler; check its members", verdict=UNKNOWN)
    return Result(name, f"echo none >/sys/block/{case.disk.name}/queue/scheduler",
                  verdict=PASS if name in ("none", "mq-deadline") else WARN)  # fmt: skip


def _readahead(case: Case) -> Result | None:
    """Readahead keeps the drives of an array busy. A single drive, flash, or a virtual disk needs no more than the
    default; with far more, random reads fetch data that nobody uses."""
    value, disk = case.disk.readahead_kib * KIB // SECTOR_BYTES, case.disk
    text = f"{sectors(value)}, {disk.readahead_from}" if disk.readahead_from else sectors(value)
    if disk.kind is Kind.ARRAY:
        return Result(text, f"blockdev --setra {TUNED_SECTORS} /dev/{disk.name} (8 MiB), unless the run measures little "
                      "readahead", value, WARN if value <= UNTUNED_SECTORS else PASS)  # fmt: skip
    return Result(f"{text}, on {disk.kind.value}",
                  f"blockdev --setra {UNTUNED_SECTORS} /dev/{disk.name} (128 KiB), unless the run only reads large files in "
                  "order. Otherwise a healthy disk may look slow",
                  value, WARN if value >= LARGE_SECTORS else PASS)  # fmt: skip


# Mount options with an effect on a benchmark: verdict, reason, and the better option, if there is one. The first option
# that a mount has counts. The key "" is for mounts with none of them (strictatime).
OPTIONS = {
    "sync": (FAIL, ": each write waits for the disk", "async"),
    "dirsync": (FAIL, ": each change of a directory waits for the disk", ""),
    "ro": (PASS, "", ""),
    "discard": (WARN, ": discards are sent between the requests", "nodiscard"),
    "noatime": (PASS, "", ""),
    "relatime": (WARN, ": a read updates the access time once a day", "noatime"),
    "": (FAIL, ": each read updates the access time", "noatime"),
}


def _mounts(case: Case) -> Result | None:
    mounted, advice, worst = [], "", PASS
    for mount in case.disk.mounts:
        names = {word.partition("=")[0] for word in mount.options.split(",")} | {""}
        option = next(name for name in OPTIONS if name in names)
        verdict, why, better = OPTIONS[option]
        mounted.append(f"{mount.directory} {mount.fstype} {mount.options}{why}")
        if ORDER.index(verdict) > ORDER.index(worst):
            worst = verdict
            advice = (f"mount -o remount,{better} {mount.directory}" if better else
                      f"unmount {mount.directory} and mount it without {option}")  # fmt: skip
    return Result("; ".join(mounted) or "no file system on it is mounted", advice, verdict=worst)


DISK = (
    Rule("disk-idle", "/proc/diskstats", _disk_idle, "the figures include requests of other processes", "bytes/s", RATE),
    Rule("scheduler", "queue/scheduler", _scheduler,
         "a scheduler that delays requests changes the requests that the disk receives"),
    Rule("readahead", "queue/read_ahead_kb", _readahead,
         "too little leaves drives of an array idle, too much fetches data that nobody uses", "sectors"),
    Rule("mounts", "/proc/self/mountinfo", _mounts, "some mount options add writes or make them synchronous"),
)  # fmt: skip


def _governor(case: Case) -> Result | None:
    governors = case.facts.governors
    others = [governor for governor in governors if governor != "performance"]
    if not governors:
        return Result("this kernel does not govern the frequency of the processors", verdict=UNKNOWN)
    nr = len(governors)
    summary = f"{others[-1]} on {len(others)} of {nr} processors" if others else f"performance on all {nr} processors"
    return Result(summary, "cpupower frequency-set -g performance", nr - len(others), WARN if others else PASS)


def _target(case: Case) -> Result | None:
    target = case.facts.target
    if not target:
        return Result("neither systemd nor utmp reports a target or runlevel", verdict=UNKNOWN)
    return Result(target, "end the desktop during the run: systemctl isolate multi-user.target",
                  verdict=WARN if target in ("graphical.target", "runlevel 5") else PASS)  # fmt: skip


def _machine(case: Case) -> Result | None:
    profile, hypervisor = case.facts.profile, case.facts.hypervisor
    if profile is not None:
        named = f", profile {profile}" if profile else ""
        return Result(f"simulated: a guest of the lab{named}", "report the figures as simulated",
                      verdict=WARN)  # fmt: skip
    if hypervisor is None:
        return Result("neither processor nor firmware shows whether this machine is virtual", verdict=UNKNOWN)
    if not hypervisor:
        return Result("no hypervisor found", verdict=PASS)
    return Result(f"a virtual machine: {hypervisor}",
                  "measure on the machine that has the disk, or pass its controller through and report that",
                  verdict=WARN)  # fmt: skip


# Kernel options that slow down each request: FAIL: most; WARN: some; PASS: so little that distributions use them.
DEBUG_OPTIONS = {
    FAIL: ("KASAN", "KMSAN", "KCSAN", "PROVE_LOCKING", "LOCK_STAT", "DEBUG_PAGEALLOC_ENABLE_DEFAULT", "SLUB_DEBUG_ON"),
    WARN: ("PROVE_RCU", "DEBUG_LOCK_ALLOC", "DEBUG_SPINLOCK", "DEBUG_ATOMIC_SLEEP", "DEBUG_KMEMLEAK", "DEBUG_OBJECTS",
           "DEBUG_VM", "DEBUG_SG", "DMA_API_DEBUG", "UBSAN_ALIGNMENT", "UBSAN_INTEGER_WRAP", "UBSAN_SIGNED_WRAP", "UBSAN_BOOL",
           "UBSAN_ENUM", "KCOV", "GCOV_KERNEL", "FAULT_INJECTION"),
    PASS: ("UBSAN_BOUNDS", "UBSAN_SHIFT"),
}  # fmt: skip


def _kernel_debug(case: Case) -> Result | None:
    if not case.facts.config:
        return None
    lines = set(case.facts.config.splitlines())
    is_set = {
        verdict: [name for name in names if f"CONFIG_{name}=y" in lines] for verdict, names in DEBUG_OPTIONS.items()
    }
    costly, cheap = is_set[FAIL] + is_set[WARN], is_set[PASS]
    options = f"{', '.join(costly) or 'no option that slows down requests'} ({case.facts.config_source})"
    return Result(options + (f"; {', '.join(cheap)} as in kernels of distributions" if cheap else ""),
                  "boot a kernel without these options, such as a distribution's", len(costly),
                  FAIL if is_set[FAIL] else WARN if costly else PASS)  # fmt: skip


def _signing(case: Case) -> Result | None:
    signing = case.facts.signing
    if not signing:
        return None
    only = f"this kernel accepts only signed modules ({signing.why}); "
    if signing.loaded:
        return Result("raidtrace is loaded")
    if case.activity.modules is None:
        return Result("this kernel lists no modules, so it may load none", verdict=UNKNOWN)
    if not signing.why:
        return Result("this kernel accepts unsigned modules")
    if signing.signer and signing.enrolled:
        return Result(f'{only}the kernel has the key of "{signing.signer}", the signer of raidtrace')
    if not signing.module:
        reason = "raidtrace is not installed"
    elif not signing.signer:
        reason = "raidtrace is not signed"
    else:
        unknown = signing.enrolled is None
        has = "it is not known whether the kernel has the key" if unknown else "the kernel does not have the key"
        reason = f'{has} of "{signing.signer}", the signer of raidtrace'
    return Result(only + reason, signing.advice, verdict=WARN)


MACHINE = (
    Rule("governor", "cpufreq", _governor, "a changing processor frequency changes the result",
         "processors with performance"),
    Rule("target", "systemd or utmp", _target, "a desktop uses processors, memory and disks during the run"),
    Rule("machine", "/proc/cpuinfo", _machine, "the figures of a virtual machine also depend on its host"),
    Rule("kernel-debug", "/proc/config.gz", _kernel_debug, "debugging options of the kernel slow down each request", "options"),
    Rule("signing", "raidctl status", _signing, "a kernel that accepts only signed modules may refuse raidtrace"),
)  # fmt: skip
RULES = LOAD + DISK + MACHINE
