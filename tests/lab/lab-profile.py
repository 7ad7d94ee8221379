#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own logic, without a guest: profiles, apt sources, the reading of kernel logs, where modules are built."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import TOP, check, finish, lab  # noqa: E402

sys.path.insert(0, str(TOP / "tools" / "lab"))
from raidlab.apt import sources_list  # noqa: E402
from raidlab.array import profile  # noqa: E402
from raidlab.base.failure import LabError  # noqa: E402
from raidlab.base.progress import Progress  # noqa: E402
from raidlab.uml import machine, verdict  # noqa: E402
from raidlab.uml.modules import build_programs  # noqa: E402
from raidlab.userland import root  # noqa: E402
from raidlab.vm import boot  # noqa: E402

GOOD = """# SPDX-License-Identifier: GPL-2.0-or-later
# A small array
store_mib = 16
[array]
# how blocks are laid out
level = "raid5"
drives = 0x4	# of 4
[controller]
product = "Two Words"
write_cache_reported = true
[fit]
array.drives = "raid5 2 write"
"""
# text, what must be in the refusal
BAD = (
    ("store_mib = " + "9" * 5000, "profile", "digits", "Correct the TOML"),
    ("a = " + "[" * 3000, "profile", "nested too deeply", "Correct the TOML"),
    ('[array]\n\nlevels = "raid0"\n', ":3: array.levels", "unknown key", "Did you mean array.level?"),
    ("[arrays]\ndrives = 3\n", ":2: arrays.drives", "Unknown table [arrays]", "array"),
    ('[array]\nlevel = "raid6"\n', ":2: array.level", "raid6", '"raid10"'),
    ("[array]\ndrives = 0\n", ":2: array.drives", "0 is not allowed", "from 1 to"),
    ('[array]\ndrives = "12"\n', ":2: array.drives", "'12' is not allowed", "whole number"),
    ("[drive]\nrpm = 7200.5\n", ":2: drive.rpm", "7200.5", "whole number"),
    ('[controller]\nproduct = "a,b"\n', ":2: controller.product", "'a,b'", "without comma"),
    ('[controller]\nfirmware = "much too long for the field"\n', ":2: controller.firmware", "at most 16"),
    ("stor_mib = 3\n", ":1: stor_mib", "Did you mean store_mib?"),
    (
        '[array]\ndrives = 3\n[fit]\ncontroller.part_us = "raid0 7 read"\n',
        ":4: fit.controller.part_us",
        "does not set this constant",
    ),
    (
        '[array]\ndrives = 3\n[fit]\narray.drives = "a guess"\n',
        ":4: fit.array.drives",
        "does not name a published figure",
    ),
    ("[array\n", ":1: [array: ", "TOML"),
    ("[array]\ndrives = 3\ndrives = 4\n", ":3: drives = 4: ", "overwrite"),
    ("[array]\ndrives =", ":2: drives =: ", "Invalid value"),
    ('array = { drives = 3, level = "raid6" }\n', ":1: array.level", "raid6"),
    ('[array]\n"level" = "raid6"\n', ":2: array.level", "raid6"),
    ("[[array]]\ndrives = 3\n", ":1: array", "unknown key"),
    ("[array]\n# \udcff\n", ":2", "0xff is not UTF-8"),
    # Values that are allowed each, and do not go together: the line of the one to be changed.
    ('[array]\nlevel = "raid10"\ndrives = 5\n', ":3: array.drives", "must be even"),
    ('[array]\ndrives = 8\nlevel = "raid1"\n', ":2: array.drives", "must be 2"),
    ("[array]\nstripe_kib = 48\n", ":2: array.stripe_kib", "power of two"),
    ('[array]\nlevel = "single"\ndrives = 1\nunits = 17\n', ":4: array.units", "more than 16"),
    ("[array]\nverify = 1\n", "array.level (not set)", "nothing to initialize or verify"),
    ("[drive]\nseek_track_us = 9000\n", "drive.seek_average_us (not set)", "must lie between"),
    ("[drive]\nmedia_inner_kib_s = 90000\n", ":2: drive.media_inner_kib_s", "media_outer_kib_s"),
    ("[fault]\nremove_member = 3\n", ":2: fault.remove_member", "remove_ms"),
    ("[fault]\nslow_ms = 3\nslow_member = 99\n", ":3: fault.slow_member", "from 0 to 32"),
    ("[fault]\ncontroller = 1\n", ":2: fault.controller", "not so many controllers"),
    ("[controller]\ncount = 5\n", ":2: controller.count", "from 1 to 4"),
)
PLATTERS = ("flash.channels=32", "flash.page_kib=16", "flash.read_ns=60000", "flash.program_ns=400000",
            "link.latency_ns=5000")  # fmt: skip
SETTINGS = {
    "array.drives": "not KEY=VALUE",
    "array.drivs=4": "Did you mean array.drives?",
    "array.drives=four": "whole number",
    "fault.lose_command=-1": "from 0 to",
    "array.level=raid6": "raid10",
}
SOURCES = """# a comment
Types: deb deb-src
URIs: ftp://mirror.example/debian file:/srv/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By:
 /usr/share/keyrings/one.gpg

Types: deb
URIs: ftp://mirror.example/security
Suites: bookworm-security
Components: main

Types: deb-src
URIs: ftp://sources.example/debian
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: ftp://off.example/debian
Suites: bookworm
Components: main
"""
ONE_LINE = """
deb [arch=amd64 signed-by=/k.gpg] ftp://old.example/debian bookworm main non-free # why
# deb ftp://commented.example/debian bookworm main
deb-src ftp://sources.example/debian bookworm main
"""
COMPLAINTS = (
    "[    1.0] WARNING: CPU: 0 PID: 7 at mm/page_alloc.c:1",
    "[    1.0] BUG: kernel NULL pointer dereference",
    "[    1.0] kernel BUG at fs/inode.c:1!",
    "[    1.0] Oops: 0000 [#1]",
    "[    1.0] Kernel panic - not syncing: test",
    "[    1.0] INFO: possible circular locking dependency detected",
    "[    1.0] INFO: rcu_preempt self-detected stall on CPU",
    "[    1.0] BUG: KASAN: slab-out-of-bounds in test",
    "[    1.0] UBSAN: shift-out-of-bounds",
    "[    1.0] refcount_t: underflow; use-after-free.",
    "[    1.0] Out of memory: Killed process 12 (dd)",
    "[    1.0] raidlab: store exhausted: raise store_mib",
)
CALM = (
    "[    0.0] Warning: unable to open an initial console.",
    "[    0.0] DEBUG: nothing",
    "[    0.0] sd 0:0:0:0: [sda] Write cache: disabled",
    "[    0.0] 3w-9xxx: scsi0: WARNING: (0x06:0x002C): Command (0x28) timed out, resetting card.",
    "[    0.0] 3w-9xxx: scsi0: AEN: WARNING (0x04:0x0001): Controller reset occurred:resets=1.",
)
VM_COMPLAINTS = (
    "[    1.0] INFO: task fio:123 blocked for more than 120 seconds.",
    "[    1.0] watchdog: soft lockup - CPU#1 stuck for 22s!",
    "[    1.0] list_del corruption. prev->next should be ffff",
    "[    1.0] BUG: Bad page state in process dd",
)
# Messages of Debian's kernels under QEMU.
VM_CALM = (
    "[    0.0] \tRCU CPU stall warnings timeout set to 300 (rcu_cpu_stall_timeout).",
    "[    0.0] LSM: initializing lsm=lockdown,capability,landlock,yama,selinux,tomoyo,bpf,ipe,ima,evm",
    "[    0.0] Spectre V1 : Vulnerable: __user pointer sanitization and usercopy barriers only; no swapgs barriers",
    "[    0.0] Speculative Store Bypass: Vulnerable",
    "[    9.0] perf: interrupt took too long (2508 > 2500), lowering kernel.perf_event_max_sample_rate to 79750",
    "[    9.0] clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable",
)


def check_settings(path: Path, model: profile.Model) -> None:
    """--set KEY=VALUE takes the place of the file's key, or is refused as a line of the file would be."""
    settings = ("array.drives=0x6", "controller.product=A B", "array.level=raid10")
    changed = profile.load(str(path), model, settings=settings)
    expected = {"array.drives": "6", "controller.product": "A_B", "array.level": "raid10"}
    check("--set takes the place of keys", changed.values.items() >= expected.items(), changed.values)
    for setting, reason in SETTINGS.items():
        try:
            profile.load(str(path), model, settings=(setting,))
            check(f"--set {setting} is refused", False)
        except LabError as error:
            check(f"--set {setting} is refused with its reason", reason in str(error), error)


def profiles(directory: Path) -> None:
    model = build_programs(Progress(quiet=True)).model()
    check(
        "the model's keys are known",
        {"array.level", "store_mib", "drive.rpm"} <= model.keys[profile.DRIVER].keys(),
        model,
    )
    pages(model)
    path = directory / "good.toml"
    path.write_text(GOOD)
    good = profile.load(str(path), model)
    expected = {"store_mib": "16", "array.level": "raid5", "array.drives": "4"}
    expected |= {"controller.product": "Two_Words", "controller.write_cache_reported": "1"}
    check("a profile is flattened for the model", good.values == expected, good.values)
    check("its title is its first comment", good.title == "A small array", good.title)
    check_settings(path, model)
    check("--store takes the place of store_mib", profile.load(str(path), model, 99).values["store_mib"] == "99")
    more = profile.load(str(path), model, 1016).pool_mib - profile.load(str(path), model, 16).pool_mib
    check("the store's size is added to the guest's memory", more == 1000, more)
    chunks = [profile.load("sata-ssd", model, settings=(f"ata.media={media}", *more)).pool_mib
              for media, more in (("flash", ()), ("platters", PLATTERS))]  # fmt: skip
    check("flash behind ahci takes a chunk of 4 MiB more", chunks[0] - chunks[1] == 4, chunks)
    rows = profile.explain(path, model)
    check("a comment above explains a key", ("array.level", '"raid5"', "how blocks are laid out") in rows, rows)
    check("a comment behind explains a key", ("array.drives", "0x4", "of 4") in rows, rows)
    for text, *parts in BAD:
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        try:
            profile.load(str(path), model)
            message = "accepted"
        except LabError as error:
            message = str(error)
        check(
            f"refused with place and remedy: {text.splitlines()[-1][:60]!a}",
            all(part in message for part in parts),
            message,
        )
    for name in profile.names():
        shown = lab("show", name)
        keys = [line for line in shown.stdout.splitlines() if "." in line.split(" ")[0] or line.startswith("  ")]
        check(f"{name} can be shown", shown.returncode == 0 and len(keys) > 10, shown)
        check(f"{name} is listed", name in lab("profiles").stdout)
        missing = [key for key, _, text in profile.explain(profile.find(name), model) if not text]
        check(f"{name}: each constant has its source or what it is for", not missing, missing)
        fits = all(len(line) <= 100 for line in shown.stdout.splitlines())
        check(f"{name} is shown in 100 columns", fits, shown.stdout)


# Driver -> the page with its keys, and the heading that they are below.
PAGES = {
    "ahci": ("devices", "ahci\n----\n"),
    "virtio-blk": ("devices", "virtio-blk\n----------\n"),
    "nvme": ("devices", "nvme\n----\n"),
}


def pages(model: profile.Model) -> None:
    """Every key of a device is in the documentation, with its preset."""
    common = (TOP / "Documentation/devices.rst").read_text(encoding="utf-8").partition("All devices\n")[2]
    for driver, (name, heading) in PAGES.items():
        page = (TOP / f"Documentation/{name}.rst").read_text(encoding="utf-8").partition(heading)[2]
        for key in model.keys[driver].values():
            row = re.search(rf"^``{re.escape(key.name)}``.*", page, re.MULTILINE)
            row = row or re.search(rf"^``{re.escape(key.name)}``.*", common, re.MULTILINE)
            if key.name.startswith("fault."):
                kind = key.name.split("_")[0].removeprefix("fault.")
                check(f"{driver}: {key.name} is documented", row or f"``{kind}``" in page or f"``{key.name}``" in page)
                continue
            presets = set(row[0].split()) if row else set()
            expected = {"text", "text)", "empty", "unnamed"} if key.kind == "text" else {key.preset}
            expected |= {"none"} if key.preset == "0" else set()
            check(f"{driver}: {key.name} is documented with its preset", presets & expected, row)


def sources() -> None:
    entries = list(sources_list.deb822_entries(SOURCES))
    uris = [entry.uri for entry in entries]
    check("deb822: every binary source that is enabled", uris == [
        "ftp://mirror.example/debian", "file:/srv/debian", "ftp://mirror.example/security"], uris)  # fmt: skip
    check("deb822: the key goes along", entries[0].options == ("signed-by=/usr/share/keyrings/one.gpg",), entries[0])
    lines = list(sources_list.one_line_entries(ONE_LINE))
    expected = sources_list.Entry(
        ("arch=amd64", "signed-by=/k.gpg"), "ftp://old.example/debian", ("bookworm",), ("main", "non-free")
    )
    check("one-line syntax is read", lines == [expected], lines)
    derived = sources_list.derive(entries + lines)
    check("other suites come from mirrors of the base suite only",
          not any("security" in line for line in derived) and len(derived) == 12, derived)  # fmt: skip
    first = "deb [signed-by=/usr/share/keyrings/one.gpg] ftp://mirror.example/debian bookworm-backports main"
    check("with the same key and address", derived[0] == first, derived)
    trixie = [sources_list.Entry((), "ftp://m.example/debian", ("trixie", "sid"), ("main",))]
    added = [line.split()[2] for line in sources_list.derive(trixie)]
    check("suites that are configured are not added again",
          added == ["bookworm", "bookworm-backports", "trixie-backports"], added)  # fmt: skip
    for suite in ("sid", "stable", "testing", "forky"):
        mirror = [sources_list.Entry((), "ftp://m.example/debian", (suite,), ("main",))]
        check(f"a source of {suite} leads to the release that has 6.1",
              "deb ftp://m.example/debian bookworm main" in sources_list.derive(mirror))  # fmt: skip
    security = [sources_list.Entry((), "ftp://m.example/security", ("trixie-security",), ("main",))]
    check("and its security fixes come from the release's own mirror", sources_list.derive(security) ==
          ["deb ftp://m.example/security bookworm-security main"])  # fmt: skip
    ubuntu = [sources_list.Entry((), "ftp://m.example/ubuntu", ("noble", "noble-updates"), ("main", "universe"))]
    check("Debian's suites are not requested from another archive", sources_list.derive(ubuntu) == [])


def own_root() -> None:
    """The lock of the guest's root, the checkout as a guest has it, and seeds."""
    suite, packages = root.read(root.LOCK.read_text(encoding="utf-8"))
    names = [package.name for package in packages]
    check("the lock has a suite and each package once, in order", suite and names == sorted(set(names)), names)
    check("each with a digest", all(re.fullmatch("[0-9a-f]{64}", package.digest) for package in packages))
    top = str(TOP)
    check("a path of the checkout is at /raidtrace", machine.in_guest(f"{top}/tests/run") == "/raidtrace/tests/run")
    check("so is the checkout", machine.in_guest(top) == "/raidtrace")
    check("what begins like it is not", machine.in_guest(f"{top}-2/x") == f"{top}-2/x")
    check("nor is what holds it", machine.in_guest(f"a {top}/x") == f"a {top}/x")
    chances = [machine.chance_of(seed) for seed in range(50)]
    check("a seed is repeatable", chances == [machine.chance_of(seed) for seed in range(50)])
    check("no two are alike", len(set(chances)) == 50)
    check("0 moves nothing", chances[0] == machine.Chance())
    parts = ("randomness", "start_ns", "less_memory_kib", "pad")
    moved = all(any(getattr(one, name) for one in chances[1:]) for name in parts)
    check("the others move something of each", moved)


# Reports of lockdep on 6.1's own User Mode Linux, which are excused, and on other callers there, which are not.
OF_6_1 = """[    0.070000] =============================
[    0.070000] WARNING: suspicious RCU usage
[    0.070000] 6.1.192-lab-sanitize #1 Tainted: G           O
[    0.070000] -----------------------------
[    0.070000] lib/maple_tree.c:860 suspicious rcu_dereference_check() usage!
[    0.070000] Call Trace:
[    0.070000]  [<607ff650>] ? mas_find+0x0/0x120
[    0.070000]  [<600355af>] ? force_flush_all+0xef/0x1a0
[    0.070000]  [<600354c0>] ? force_flush_all+0x0/0x1a0
[    0.070000]  [<6002f27e>] ? {}+0x5e/0x150
"""
# And of 7.2's with two processors.
OF_7_2 = """[    0.590000] =============================
[    0.590000] WARNING: suspicious RCU usage
[    0.590000] 7.2.13-lab-sanitize-smp #1 Not tainted
[    0.590000] -----------------------------
[    0.590000] kernel/rcu/tree.c:3163 Callback enqueued on offline CPU!!
[    0.590000] stack backtrace:
[    0.590000] Call Trace:
[    0.590000]  [<60279d6f>] ? __call_rcu_common.constprop.0+0x2bf/0xae0
[    0.590000]  [<6045889f>] ? kfree+0x43f/0x960
[    0.590000]  [<60107c3e>] ? os_futex_wait+0x5e/0x90
[    0.590000]  [<6010c506>] ? {}+0x66/0xd0
[    0.590000]  [<6010c12a>] ? cpu_thread+0x1a/0x30
"""


def logs() -> None:
    check("a report of 6.1 on itself is no complaint", not verdict.complaints(OF_6_1.format("fork_handler") * 2))
    check("one on others is", len(verdict.complaints(OF_6_1.format("raidtrace_on_rq_issue"))) == 2)
    later = OF_6_1.format("fork_handler") + "[    1.000000] WARNING: suspicious RCU usage"
    check("and what comes later, too", len(verdict.complaints(later)) == 1)
    check("nor one of 7.2 with two processors on itself", not verdict.complaints(OF_7_2.format("os_start_secondary")))
    check("and not of others", len(verdict.complaints(OF_7_2.format("raidtrace_bank_free"))) == 2)
    for line in COMPLAINTS:
        check(f"a complaint: {line[11:]}", verdict.complaints(f"calm\n{line}\ncalm") == [line])
        excused = f"{line} lockdown clocksource spectre"
        check("in a virtual machine, too, whatever else is in the line", boot.complaints(excused) == [excused])
    for line in VM_COMPLAINTS:
        check(f"a complaint of a virtual machine: {line[11:]}", boot.complaints(line) == [line])
    for line in (*CALM, *VM_CALM):
        check(f"no complaint of a virtual machine: {line[11:]}", not boot.complaints(line))
    for line in CALM:
        check(f"no complaint: {line[11:]}", not verdict.complaints(line))


def builds() -> None:
    def untracked() -> str:
        command = ["git", "-C", str(TOP), "status", "--porcelain", "--ignored", "kmod", "tools/models", "Kbuild"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def objects() -> list[str]:
        return [line for line in untracked().splitlines() if line.endswith((".o", ".ko", ".cmd", ".mod"))]

    before = objects()
    built = lab("build", "-q", "--werror")
    check("modules build without a warning", built.returncode == 0, built.stdout + built.stderr)
    check("and leave no object in the checkout", objects() == before, objects())
    kernel = lab("build", "-q", "--kernel", "5.99")
    check(
        "a kernel nobody offers is refused as such", kernel.returncode == 1 and "not offered" in kernel.stderr, kernel
    )


def words() -> None:
    """The options of --help are in the manual and completed."""
    verbs = re.findall(r"^    ([a-z]+) ", lab("--help").stdout, re.MULTILINE)
    check("there are verbs", len(verbs) >= 7, verbs)
    manual = (TOP / "Documentation/man/raidctl-lab.8").read_text()
    zsh = (TOP / "tools/completion/_raidctl").read_text()
    for verb in verbs:
        options = {word for word in re.findall(r"--[a-z-]+", lab(verb, "--help").stdout) if word != "--help"}
        script = f". tools/completion/raidctl.bash && _raidctl_lab_words {verb}"
        done = subprocess.run(["bash", "-c", script], cwd=TOP, capture_output=True, text=True, check=True)
        completed = set(done.stdout.split()) - {"--help"}
        check(f"{verb}: bash completes its options", completed == options, (completed, options))
        missing = [word for word in options if not re.search(rf"Fl -{word[2:]}\b", manual)]
        check(f"{verb}: the manual has its options", f"lab {verb}" in manual and not missing, missing)
        missing = [word for word in options if f"{word}[" not in zsh and f"{word}}}" not in zsh]
        check(f"{verb}: zsh knows it and its options", f"'{verb}:" in zsh and not missing, missing)


def main() -> None:
    words()
    with tempfile.TemporaryDirectory(prefix="lab-test-", dir="/var/tmp") as directory:
        profiles(Path(directory))
    sources()
    own_root()
    logs()
    builds()
    finish()


main()
