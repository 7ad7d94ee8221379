#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of raidctl lab run --vm and check-vm if something is missing: no network, no newer QEMU, a broken package; suites
that hang; the time of a guest on a busy host.

No guest is started: apt, dpkg and QEMU are stand-ins. tests/vm/run starts the guests (make check-vm).
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import signal
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import TOP, check, lab, scratch  # noqa: E402

sys.path.insert(0, str(TOP / "tools" / "lab"))
from raidlab.base import cache  # noqa: E402
from raidlab.base.failure import LabError  # noqa: E402
from raidlab.base.progress import Progress  # noqa: E402
from raidlab.vm import boot, root, stock  # noqa: E402

OFFLINE = "#!/bin/sh\necho 'E: Could not resolve host' >&2\nexit 100\n"
# Lists are there, packages are not.
LISTS_ONLY = "#!/bin/sh\ncase \"$*\" in *update*) exit 0 ;; *) echo 'E: 503 no longer here' >&2; exit 100 ;; esac\n"
NAMES = '#!/bin/sh\ncase "$*" in *pkgnames*) echo linux-image-9.9.9-1-amd64 ;; esac\n'
QUIET = Progress(quiet=True)


QEMU = "qemu-system-x86_64"


def programs(directory: Path, texts: dict[str, str]) -> None:
    """Stand-ins, first in PATH."""
    for name, text in texts.items():
        path = directory / name
        path.write_text(text)
        path.chmod(0o755)


def qemu(version: str) -> str:
    return f"#!/bin/sh\necho 'QEMU emulator version {version}'\n"


def refusal(act: Callable[[], object]) -> str:
    try:
        return f"no refusal, but {act()}"
    except LabError as error:
        return str(error)


def no_network(directory: Path) -> None:
    programs(directory, {"apt-get": OFFLINE, "apt-cache": "#!/bin/sh\n", QEMU: qemu("7.2.0")})
    message = refusal(lambda: root.vfio_user_emulator(QUIET))
    check("no network: the newer QEMU is refused, with apt's reason", "Could not resolve host" in message, message)
    check("no network: a remedy is printed", "network" in message, message)
    message = refusal(lambda: stock.get("6.1", QUIET))
    check("no network: a stock kernel is refused for the same reason", "Could not resolve host" in message, message)
    check("no network: the next run tries again", not list(cache.root().glob("vm/apt/*/updated")))
    done = lab("run", "-q", "--vm", "--kernel", "6.1", "--out", str(directory / "out"), "--", "true")
    check("no network: lab run --vm is 125", done.returncode == 125 and "Could not resolve" in done.stderr, done)


def broken_packages(directory: Path) -> None:
    programs(directory, {"apt-get": LISTS_ONLY, "apt-cache": NAMES, QEMU: qemu("7.2.0")})
    message = refusal(lambda: root.vfio_user_emulator(QUIET))
    check("packages that are not there any more: refused, with apt's reason", "503 no longer here" in message, message)
    message = refusal(lambda: stock.get("6.1", QUIET))
    check(
        "a series that no mirror has: refused, others are named",
        "offers its package" in message and "7.2" in message,
        message,
    )
    entries = [path for path in cache.root().glob("vm/root-*") if path.is_dir()]
    check("a root that failed does not count as one", not any(map(cache.is_complete, entries)), entries)
    # apt brings a package that dpkg cannot unpack
    fetch = "#!/bin/sh\nfor w; do case $w in Dir::Cache=*) d=${w#*=} ;; esac; done\n"
    fetch += 'case "$*" in *install*) echo x >$d/archives/base-files_1_amd64.deb ;; esac\n'
    programs(directory, {"apt-get": fetch, "dpkg-deb": "#!/bin/sh\nexit 2\n"})
    message = refusal(lambda: root.vfio_user_emulator(QUIET))
    check("a package that cannot be unpacked: refused by name", "unpacking base-files_1_amd64.deb" in message, message)


def old_qemu(directory: Path) -> None:
    name = f"root-{cache.digest(name.encode() for name in (*root.SUITES, *root.PACKAGES))}"
    entry = cache.root() / "vm" / name
    loader = entry / "usr/lib64/ld-linux-x86-64.so.2"
    loader.parent.mkdir(parents=True, exist_ok=True)
    (entry / "complete").touch()
    programs(loader.parent, {loader.name: qemu("9.2.1")})
    programs(directory, {QEMU: qemu("7.2.0")})
    message = refusal(lambda: root.vfio_user_emulator(QUIET))
    check("a root whose QEMU is too old: refused with its version", "10.1" in message and "9.2" in message, message)
    programs(loader.parent, {loader.name: qemu("11.1.0")})
    check("a root whose QEMU is new enough is taken", root.vfio_user_emulator(QUIET).command[0] == str(loader))
    programs(directory, {QEMU: qemu("10.1.0")})
    check("the host's QEMU is taken if it is new enough", not root.vfio_user_emulator(QUIET).command)


def verbs(directory: Path) -> None:
    """Uses that a virtual machine does not support are refused before anything is fetched or built."""
    programs(directory, {"apt-get": OFFLINE, "apt-cache": "#!/bin/sh\n", QEMU: qemu("7.2.0")})
    out = ("-q", "--out", str(directory / "out"))
    two = ("--kernel", "6.1", "--kernel", "6.12")
    for name, words, message in (
        ("ab --repeat", ("ab", "--repeat", *two, "--", "true"), "no two runs are alike"),
        ("ab with a kernel tree", ("ab", *two, "--kernel", ".", "--", "true"), "without --vm"),
        ("a rate", ("expect", "mib_per_s >= 3 and seeks < 9", "--", "true"), "mib_per_s cannot be tested"),
        ("a direction's time", ("expect", "read_d2c_mean_ms < 3", "--", "true"), "read_d2c_mean_ms cannot be tested"),
        ("another build", ("run", "--variant", "sanitize", "--", "true"), "--variant"),
        ("a kernel tree", ("run", "--kernel", ".", "--", "true"), "without --vm"),
        ("a kernel tree in expect", ("expect", "--kernel", ".", "seeks < 3", "--", "true"), "without --vm"),
    ):
        first, *rest = words
        by_option = lab(first, *out, "--vm", *rest)
        check(
            f"--vm: {name} is refused with 125", by_option.returncode == 125 and message in by_option.stderr, by_option
        )
        by_name = lab(first, *out, *rest, LAB="vm")
        check(f"LAB=vm: {name} is refused alike", by_name.stderr == by_option.stderr, by_name)
    for words, message in ((("--kernel", "."), "without --vm"), (("--variant", "sanitize"), "--variant")):
        done = lab("build", "-q", "--vm", *words)
        check(f"--vm: build {words[0]} {words[1]} is refused", done.returncode == 1 and message in done.stderr, done)
    for name, done in (("build", lab("build", "-q", LAB="vm")), ("ab", lab("ab", *out, "--vm", *two, "--", "true"))):
        check(f"--vm: {name} is not", "Could not resolve host" in done.stderr, done)
    counts = lab("expect", *out, "--vm", "seeks < 3 and write_request_bytes_mode == 4096", "--", "true")
    check("--vm: counts may be expected", "Could not resolve host" in counts.stderr, counts)
    check("nothing was fetched or built for what is refused", not list(cache.root().glob("trees/*")))


def program(name: str) -> types.ModuleType:
    """A program of tests/vm, not run."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(TOP / "tests/vm" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader) or sys.exit(name))
    sys.modules[loader.name] = module  # dataclasses look it up
    loader.exec_module(module)
    return module


def hanging(_directory: Path) -> None:
    """Suites of check-vm that hang or break fail by name; an error in a guest leaves no program that the guest waits for."""
    vm, guest = program("run"), program("guest-exporter")
    for name, suite, message in (
        ("hangs", lambda: time.sleep(60), "TimeoutError: no end within 0.2 s"),
        ("breaks", lambda: {}["renamed"], "KeyError: 'renamed'"),
    ):
        results = vm.Results(quiet=True)
        vm.limited(f"suite that {name}", suite, results, seconds=0.2)
        check(f"a suite that {name} fails by name", results.texts == [f"not ok - suite that {name}: {message}"],
              results.texts)  # fmt: skip
    begin = time.monotonic()
    try:
        with guest.running("sleep", "60"):
            raise AttributeError("renamed")
    except AttributeError:
        check("an error in a guest ends the programs that it started", time.monotonic() - begin < 30)


def busy(_directory: Path) -> None:
    """Waiting for a processor of a busy host is not part of a guest's time. Sleeping is."""
    limit_s, others = 3.0, 5
    job = boot.Job(command=[], out=Path(), timeout_s=limit_s)
    work = f"import time\nend = time.monotonic() + {limit_s + 0.5}\nwhile time.monotonic() < end: pass"
    one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    spin = "(while :; do :; done) & " * others
    load = subprocess.Popen([*one, "sh", "-c", f"{spin} wait"], start_new_session=True)
    try:
        results = program("run").Results(quiet=True)
        program("run").limited("suite on a busy host", lambda: subprocess.run([*one, sys.executable, "-c", work], check=True),
                               results, seconds=limit_s)  # fmt: skip
        check("neither is it part of a suite's time", not results.texts, results.texts)
        for name, words, ends in (
            ("works", [*one, sys.executable, "-c", work], True),
            ("sleeps", ["sleep", "60"], False),
        ):
            begin = time.monotonic()
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as guest:
                try:
                    boot.wait(guest, job)
                    ended = True
                except subprocess.TimeoutExpired:
                    guest.kill()
                    ended = False
            took = time.monotonic() - begin
            check(f"a guest of {limit_s:g} s that {name} on a busy host {'ends' if ends else 'is stopped'}",
                  ended == ends and took >= limit_s, f"{ended} after {took:.1f} s")  # fmt: skip
    finally:
        os.killpg(load.pid, signal.SIGKILL)
        load.wait()


def of_host(directory: Path) -> None:
    """check-causes-vm: a recording during which QEMU waited for a processor is the host's."""
    battery = program("../battery/machine")
    rows = [(1000 + second, 0.5 * max(second - 20, 0)) for second in range(40)]
    (directory / battery.WAITED).write_text("".join(f"{when},{waited}\n" for when, waited in rows))
    for at, (begin, end) in enumerate(((1002, 1018), (1022, 1038))):
        for name, when in (("begin", begin), ("lost", end)):
            (directory / f"{at}.{name}").write_text("0\n0\n" if name == "lost" else "\n")
            os.utime(directory / f"{at}.{name}", (when, when))
    run = battery.Made("test", "sda", "true", ("direct",))
    answers = [battery.of_host(directory, at, run) for at in (0, 1)]
    check("causes-vm: a recording on a quiet host is judged", answers[0] == "", answers)
    check("causes-vm: one on a busy host is the host's", "for 50% of the time" in answers[1], answers)


def main() -> None:
    with scratch() as place:
        for step in (no_network, broken_packages, old_qemu, verbs, hanging, busy, of_host):
            directory = place / step.__name__
            directory.mkdir()
            before = dict(os.environ)
            os.environ.update(XDG_CACHE_HOME=str(directory / "cache"), PATH=f"{directory}:{before['PATH']}")
            step(directory)
            os.environ.update(before)
            for name in os.environ.keys() - before.keys():
                del os.environ[name]


main()
