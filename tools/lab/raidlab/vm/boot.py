# SPDX-License-Identifier: GPL-2.0-or-later
"""Boot a stock kernel in QEMU, run one command in it, and judge how the command ended."""

from __future__ import annotations

import contextlib
import dataclasses
import lzma
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence

from raidlab.base.failure import LabError
from raidlab.uml import verdict

# Emulation is slow and the host may be busy, so watchdogs that count seconds would report false alarms. The stock kernel's
# checks of the emulated processor would cost boot time. loglevel 5 prints each WARN on the console.
CMDLINE = (
    "console=ttyS0 loglevel=5 panic=-1 oops=panic nokaslr mitigations=off random.trust_cpu=on tsc=reliable "
    "no_timer_check nowatchdog rcupdate.rcu_cpu_stall_timeout=300 log_buf_len=4M printk.time=1 audit=0 "
    "apparmor=0 net.ifnames=0 raid=noautodetect scsi_mod.scan=sync"
)
POLL_S = 1.0
COMPLAINT = re.compile(r"blocked for more than|soft lockup|detected stall|list_(?:add|del) corruption|Bad page state")
STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\] ?")
# One host thread runs both processors in turn. With a thread each, QEMU sometimes executes a breakpoint that the kernel has
# already removed while it switches a tracepoint on or off: "Oops: int3", without any of our modules.
ACCELERATOR = "tcg,thread=single"
# Each instruction takes a nanosecond of the guest's clock, so the guest's times are numbers of instructions.
COUNTING = ("-icount", "shift=0")
PORTS = ("stdout", "stderr", "status", "log")


@dataclasses.dataclass(frozen=True)
class Kernel:
    """An unpacked kernel package. `modules` is its lib/modules/RELEASE, with depmod's output."""

    release: str
    image: pathlib.Path
    modules: pathlib.Path


@dataclasses.dataclass(frozen=True)
class Emulator:
    """The program and first words of QEMU's command line. Empty: the QEMU in PATH."""

    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    def words(self) -> list[str]:
        """The words. LabError with the package to install if QEMU is missing."""
        if self.command:
            return list(self.command)
        program = shutil.which("qemu-system-x86_64")
        if program is None:
            raise LabError("starting a guest", "qemu-system-x86_64 is missing", "apt-get install qemu-system-x86")
        return [program]


@dataclasses.dataclass(frozen=True)
class Job:
    """One command in one guest.

    `out` is a directory of the host. The guest sees it under the same name, may write to it, and runs the command in it.
    `prepare` is shell text that runs before the command. `devices` are further QEMU options. `shared` memory is needed by
    vfio-user. `servers` are processes that the guest depends on: if one fails first, the guest is stopped. With
    `instructions`, the guest's clock counts instructions while the guest is not idle. `parameters` are added to the
    kernel's command line. `terminal` is the size (lines, columns) of the user's terminal on which the command runs; None:
    no terminal.
    """

    command: Sequence[str]
    out: pathlib.Path
    prepare: str = ""
    timeout_s: float = 300.0
    memory_mib: int = 1024
    cpus: int = 2
    instructions: bool = False
    devices: tuple[str, ...] = ()
    shared: bool = False
    path: str = ""
    servers: tuple[subprocess.Popen[bytes], ...] = ()
    terminal: tuple[int, int] | None = None
    parameters: str = ""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a job ended. `status` is the command's own, or 124, 125, 126 (failure.py) with the `reason`."""

    status: int
    reason: str
    wall_s: float


def order(kernel: Kernel, job: Job) -> str:
    """The order for the guest's session (guest-session), as shell text."""
    words = {
        "modules": str(kernel.modules),
        "release": kernel.release,
        "out": str(job.out),
        "directory": str(job.out),
        "hostname": "lab",
        "terminal": "rows {} cols {}".format(*job.terminal) if job.terminal else "",
    }
    path = f"export PATH={shlex.quote(job.path)}:$PATH\n" if job.path else ""
    # The mark in the kernel log gives the command's start in the guest's clock.
    run = f"echo 'lab: command starts' >/dev/kmsg\n{shlex.join(job.command)}\n"
    assignments = "".join(f"{name}={shlex.quote(value)}\n" for name, value in words.items())
    return f"{assignments}job() {{\n{path}{job.prepare}\n{run}}}\n"


def options(kernel: Kernel, job: Job, work: pathlib.Path, outputs: tuple[int, int]) -> list[str]:
    """QEMU's options. Always TCG, so that the emulated machine does not depend on the host's features."""
    machine = "pc,memory-backend=ram" if job.shared else "pc"
    words = ["-accel", ACCELERATOR, "-machine", machine, "-smp", str(job.cpus), "-m", str(job.memory_mib)]
    words += COUNTING if job.instructions else ()
    if job.shared:
        words += ["-object", f"memory-backend-memfd,id=ram,size={job.memory_mib}M,share=on"]
    words += ["-cpu", "max", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    words += [
        "-kernel",
        str(kernel.image),
        "-initrd",
        str(work / "initramfs"),
        "-append",
        f"{CMDLINE} {job.parameters}".strip(),
    ]
    words += ["-chardev", f"file,id=console,path={work / 'console'}", "-serial", "chardev:console"]
    for tag, path, access in (("host", "/", "on"), ("out", str(job.out), "off")):
        words += ["-virtfs", f"local,path={path},mount_tag={tag},security_model=none,readonly={access},multidevs=remap"]
    words += ["-device", "virtio-serial-pci"]
    if job.terminal:  # the guest handles Ctrl-C
        words += ["-chardev", "stdio,id=terminal,signal=off", "-device", "virtconsole,chardev=terminal"]
    for name in PORTS:
        path = str(work / name)
        if name in ("stdout", "stderr"):
            number = PORTS.index(name)
            words += ["-add-fd", f"fd={outputs[number]},set={number}"]
            path = f"/dev/fdset/{number}"
        words += [
            "-chardev",
            f"file,id={name},path={path},append=on",
            "-device",
            f"virtserialport,chardev={name},name={name}",
        ]
    return words + list(job.devices)


def waited_s(pid: int) -> float:
    """Seconds that a program was ready to run but waited for a processor: those of the thread that waited most. 0 if the
    kernel does not count them."""
    most = 0
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, IndexError):  # the thread has ended
            most = max(most, int(path.read_text(encoding="ascii").split()[1]))
    return most / 1e9


def waited_of_children_s() -> float:
    """The same of the programs that this process started in its first thread: of QEMU, while a guest runs."""
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    return max((waited_s(int(pid)) for pid in children.split()), default=0.0)


def wait(process: subprocess.Popen[bytes], job: Job) -> bytes:
    """QEMU's output until it ended. A device without its server would make the guest hang. The time that QEMU waited for a
    processor of a busy host does not count as the guest's."""
    begin = time.monotonic()
    while True:
        left = begin + job.timeout_s + waited_s(process.pid) - time.monotonic()
        try:
            output, complaint = process.communicate(timeout=max(0.0, min(left, POLL_S)))
            return output or complaint or b""
        except subprocess.TimeoutExpired:
            if any(server.poll() for server in job.servers):
                process.kill()
            elif left <= 0:
                raise


def emulate(
    words: list[str],
    emulator: Emulator,
    outputs: tuple[int, int],
    job: Job,
) -> str | None:
    """Run QEMU until it ends. Returns the reason if that was wrong, None if QEMU ended by itself. Raises TimeoutExpired.

    QEMU never outlives this process: because of setpriv, the kernel kills QEMU when its parent dies for any reason.
    """
    environment = dict(os.environ, **dict(emulator.environment))
    command = ["setpriv", "--pdeathsig", "KILL", *emulator.words(), *words]
    # On the user's terminal, read only QEMU's error messages here.
    stdin, stdout, stderr = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT
    ends = (None, None, subprocess.PIPE) if job.terminal else (stdin, stdout, stderr)
    with subprocess.Popen(command, stdin=ends[0], stdout=ends[1], stderr=ends[2],
                          env=environment, pass_fds=outputs, start_new_session=True) as process:  # fmt: skip
        for descriptor in outputs:
            os.close(descriptor)
        try:
            output = wait(process, job)
        finally:
            process.kill()
    text = output.decode("utf-8", "replace").strip()
    for server in job.servers:
        if server.returncode:
            return f"stopped, because the simulated controller ended first, status {server.returncode}"
    return text or f"status {process.returncode}" if process.returncode else None


def _copy(source: int, target: int) -> None:
    """Copy until the guest closes its end. If the reader of the copy is gone, continue to read, so that the guest does not
    block."""
    listening = True
    with open(source, "rb", buffering=0) as pipe:
        while data := pipe.read(65536):
            while listening and data:
                try:
                    data = data[os.write(target, data) :]
                except OSError:
                    listening = False


@contextlib.contextmanager
def copied(targets: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Pipes for QEMU's output. QEMU does not get our own descriptors, because it truncates the files that it opens."""
    writers, threads = [], []
    for target in targets:
        reader, writer = os.pipe()
        writers.append(writer)
        threads.append(threading.Thread(target=_copy, args=(reader, target), daemon=True))
        threads[-1].start()
    yield (writers[0], writers[1])
    for thread in threads:
        thread.join()


def _read(path: pathlib.Path) -> str:
    return path.read_bytes().decode("utf-8", "replace").replace("\r", "") if path.exists() else ""


def judge(job: Job, work: pathlib.Path, failed: str | None, timed_out: bool) -> tuple[int, str]:
    """Exit status and reason from the files of the guest: faults in the kernel's log come first, then its status."""
    log = _merge(_read(work / "log"), _read(work / "console"))
    (job.out / "kernel.log").unlink(missing_ok=True)  # do not follow a link with this name
    (job.out / "kernel.log").write_text(log, encoding="utf-8")
    wrong = complaints(log)
    status = _read(work / "status").strip()
    if wrong:
        return verdict.GUEST_COMPLAINED, "the guest's kernel log has:\n  " + "\n  ".join(wrong[:20])
    if timed_out:
        return verdict.TIMEOUT, f"no end within {job.timeout_s:g} s; the guest was stopped"
    if failed is not None:
        return verdict.LAB_FAILED, f"QEMU: {failed}"
    word, _, rest = status.partition(" ")
    if word == "exit" and rest.isdigit():
        return int(rest), ""
    if word == "lab":
        return verdict.LAB_FAILED, f"the guest: {rest}"
    tail = "\n  ".join(log.splitlines()[-8:])
    return verdict.LAB_FAILED, f"the guest ended without an exit status; its log ends:\n  {tail}"


@contextlib.contextmanager
def work_directory() -> Iterator[pathlib.Path]:
    """A directory for one run. The remains of runs that were killed with SIGKILL are removed here."""
    for path in pathlib.Path(tempfile.gettempdir()).glob("raidtrace-vm-*"):
        owner = path.name.split("-")[2]
        if owner.isdigit() and not os.path.exists(f"/proc/{owner}"):
            shutil.rmtree(path, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"raidtrace-vm-{os.getpid()}-") as name:
        yield pathlib.Path(name)


def run(kernel: Kernel, job: Job, emulator: Emulator = Emulator(), outputs: tuple[int, int] = (1, 2)) -> Outcome:
    """Boot `kernel` and run `job` in it. Its stdout and stderr go to the file descriptors `outputs`."""
    sys.stdout.flush()
    job.out.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with work_directory() as work:
        (work / "initramfs").write_bytes(base(kernel.modules) + write_order(order(kernel, job)))
        failed, timed_out = None, False
        emulator.words()
        with copied(outputs) as pipes:
            try:
                failed = emulate(options(kernel, job, work, pipes), emulator, pipes, job)
            except subprocess.TimeoutExpired:
                timed_out = True
        status, reason = judge(job, work, failed, timed_out)
        return Outcome(status, reason, time.monotonic() - begin)


def complaints(log: str) -> list[str]:
    """Lines of a kernel log that report a fault: the lab's patterns, and those that only a kernel with several processors
    and real time can print. There are no exceptions: under emulation the stock kernels print no line that looks like a
    fault."""
    known = set(verdict.complaints(log))
    return [line for line in log.splitlines() if line in known or COMPLAINT.search(line)]


def _merge(kept: str, console: str) -> str:
    """Merge the log of the guest's ring buffer with the console's. The console has later lines or, if the guest died, all
    of them."""
    known = {STAMP.sub("", line).strip() for line in kept.splitlines()}
    late = [line for line in console.splitlines() if STAMP.match(line) and STAMP.sub("", line).strip() not in known]
    return kept + ("\n" if kept and not kept.endswith("\n") else "") + "".join(f"{line}\n" for line in late)


# The first user space of a guest: busybox, the modules for the host's files, and an order to run.

WANTED = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console")
BUSYBOX = ("/bin/busybox", "/usr/bin/busybox")
GUEST_INIT = pathlib.Path(__file__).with_name("guest-init")
GUEST_SESSION = pathlib.Path(__file__).with_name("guest-session")


class Archive:
    """A cpio archive in the format `newc`, which the kernel unpacks. Archives may follow each other."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._inode = 0

    def _entry(self, name: str, mode: int, data: bytes = b"") -> None:
        self._inode += 1
        path = name.encode() + b"\0"
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
        self._parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]

    def directory(self, name: str) -> None:
        """Add a directory, mode 0755."""
        self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, name: str, data: bytes, mode: int = 0o755) -> None:
        """Add a regular file."""
        self._entry(name, stat.S_IFREG | mode, data)

    def bytes(self) -> bytes:
        """The archive, closed and padded so that another one may follow."""
        self._entry("TRAILER!!!", 0)
        whole = b"".join(self._parts)
        return whole + bytes(-len(whole) % 512)


def busybox() -> bytes:
    """A statically linked busybox from the host."""
    for path in map(pathlib.Path, BUSYBOX):
        if path.exists():
            return path.read_bytes()
    raise LabError(
        "making an initramfs", "busybox is missing; it is the guest's first program", "apt-get install busybox-static"
    )


def _plain(module: pathlib.Path) -> bytes:
    """A module's uncompressed object, because busybox has no decompressor."""
    if module.suffix == ".xz":
        return lzma.decompress(module.read_bytes())
    if module.suffix == ".zst":
        program = shutil.which("zstd")
        if program is None:
            raise LabError("making an initramfs", f"{module.name} is compressed with zstd", "apt-get install zstd")
        return subprocess.run([program, "-dcq", str(module)], check=True, stdout=subprocess.PIPE).stdout
    return module.read_bytes()


def load_order(modules: pathlib.Path, names: Iterable[str]) -> list[pathlib.Path]:
    """The files of the named modules and of their dependencies, in the order of insertion.

    `modules` is a lib/modules/RELEASE with depmod's output. Names of built-in modules are skipped.
    """
    needs: dict[str, list[str]] = {}
    for line in (modules / "modules.dep").read_text(encoding="utf-8").splitlines():
        path, _, rest = line.partition(":")
        needs[path] = rest.split()
    by_name = {pathlib.PurePath(path).name.split(".")[0].replace("-", "_"): path for path in needs}
    builtin = (modules / "modules.builtin").read_text(encoding="utf-8").split()
    inside = {pathlib.PurePath(path).stem.replace("-", "_") for path in builtin}
    order: list[str] = []
    for name in names:
        if name in inside:
            continue
        if name not in by_name:
            raise LabError(
                "making an initramfs", f"{modules} has no module {name}", "Only Debian's kernel packages boot here."
            )
        # modules.dep lists the nearest dependency first
        order += [path for path in (*reversed(needs[by_name[name]]), by_name[name]) if path not in order]
    return [modules / path for path in order]


def base(modules: pathlib.Path) -> bytes:
    """The part that depends on the kernel only."""
    archive = Archive()
    for name in ("bin", "dev", "proc", "sys", "modules", "host", "over", "newroot"):
        archive.directory(name)
    archive.file("bin/busybox", busybox())
    for number, module in enumerate(load_order(modules, WANTED)):
        archive.file(f"modules/{number:02}-{module.name.split('.')[0]}.ko", _plain(module), 0o644)
    return archive.bytes()


def write_order(session: str) -> bytes:
    """The part that depends on the run: the steps after the root is mounted (sh assignments and functions)."""
    archive = Archive()
    archive.file("init", GUEST_INIT.read_bytes())
    archive.file("session", GUEST_SESSION.read_bytes())
    archive.file("order", session.encode(), 0o644)
    return archive.bytes()
