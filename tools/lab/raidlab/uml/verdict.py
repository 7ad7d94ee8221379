# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict on a run: exit status, report, and lab.json."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raidlab.kernel.linux import Kernel
from raidlab.uml.guest import STORE_FULL, Ending

TIMEOUT = 124
LAB_FAILED = 125
GUEST_COMPLAINED = 126

_SHOWN = 20
_NO_PTRACE = "ptrace: Operation not permitted"  # printed before any other message
_COMPLAINTS = re.compile(
    # Match the beginning of a line: a driver's own message may contain WARNING later.
    r"^\[[^]]*\] WARNING: |\bOops\b|\bBUG\b|Kernel panic|KASAN|KCSAN|UBSAN|Call Trace|general protection"
    r"|INFO: (possible|suspicious|inconsistent|trying|rcu|task|lockdep)|possible (recursive|circular)"
    r"|DEBUG_LOCKS_WARN_ON|refcount_t: |unable to handle|Out of memory|kmemleak: [1-9]"
    r"|raidlab: .*(exhausted|lost|bounds|refused)"
)
# Known reports of lockdep on User Mode Linux itself, before any module is loaded. Only these are allowed.
_ITS_OWN = (
    # 6.1 walks the memory of a new process without a lock at the first fork; lockdep reports this twice.
    r"^\[[^]]*\] WARNING: suspicious RCU usage\n\[[^]]*\] 6\.1\..*\n.*\n\[[^]]*\] lib/maple_tree\.c:.*\n"
    r"(?:.*\n){1,60}?.*\bforce_flush_all\+.*\n.*\bforce_flush_all\+.*\n.*\bfork_handler\+.*$",
    # 7.2: a second processor frees its start-up data, and kmemleak the record of it, before RCU watches that processor.
    r"^\[[^]]*\] WARNING: suspicious RCU usage\n\[[^]]*\] 7\..*\n.*\n"
    r"\[[^]]*\] kernel/rcu/tree\.c:\d+ Callback enqueued on offline CPU!!\n"
    r"(?:.*\n){1,60}?.*\bkfree\+.*\n(?:.*\n){1,5}?.*\bos_start_secondary\+.*\n.*\bcpu_thread\+.*$",
)
_EXCUSED = re.compile("|".join(_ITS_OWN), re.MULTILINE)


@dataclass(frozen=True)
class Exit:
    status: int
    messages: tuple[str, ...]


def complaints(log: str) -> list[str]:
    """Lines of a kernel log that report a fault."""
    return [line for line in _EXCUSED.sub("", log).splitlines() if _COMPLAINTS.search(line)]


def model_status(text: str) -> dict[str, str]:
    """The contents of /proc/raidlab/status when the command ended."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs if key.strip()}


def judge(ending: Ending, log: str, timeout_s: float, log_path: Path) -> Exit:
    """The exit status of `raidctl lab run`, and the reason if it is not the command's."""
    model = model_status(ending.model_status)
    bad = complaints(log)
    if _number(model, "log_lost"):
        bad.append(f"the ground-truth log lost {model['log_lost']} commands: raise log_entries in the profile")
    if model.get("store_exhausted", "0") not in ("0", "no") or STORE_FULL.decode() in log:
        bad.append("the simulated disks' contents did not fit; to give them more memory: --store SIZE")
    if bad:
        more = [f"... and {len(bad) - _SHOWN} more"] if len(bad) > _SHOWN else []
        lines = [f"the guest's kernel complained, see {log_path}:"]
        return Exit(GUEST_COMPLAINED, tuple(lines + [f"  {line}" for line in bad[:_SHOWN] + more]))
    if ending.timed_out:
        return Exit(
            TIMEOUT,
            (
                f"no end after {timeout_s:g} s of real time, so the guest was stopped; to allow more time: --timeout SECONDS",
                "  For a program that waits by reading the clock instead of sleeping, time passes very slowly.",
            ),
        )
    if ending.code is not None:
        return Exit(ending.code, ())
    if _NO_PTRACE in log:
        return Exit(
            LAB_FAILED,
            (
                "this machine forbids ptrace(2), which a guest needs to run its processes",
                "  In a container allow it: --cap-add=SYS_PTRACE --security-opt seccomp=unconfined (docker, podman).",
                "  Elsewhere see /proc/sys/kernel/yama/ptrace_scope, which must be less than 3.",
            ),
        )
    why = ending.failure or f"the guest ended without a message (status {ending.process_code})"
    last = [line for line in log.splitlines() if line.strip()][-3:]
    return Exit(LAB_FAILED, (f"{why}; the end of {log_path}:", *(f"  {line}" for line in last)))


def _number(model: dict[str, str], key: str) -> int | None:
    value = model.get(key, "")
    return int(value) if value.isdigit() else None


def write_json(
    path: Path,
    status: int,
    ending: Ending,
    profile: str | None,
    kernel: Kernel,
    how: dict[str, object],
) -> None:
    """Write lab.json. Unknown numbers are null. `how` has all other inputs that determine the run."""
    model = model_status(ending.model_status)
    facts: dict[str, Any] = {
        "profile": profile,
        "kernel": kernel.version,
        "kernel_source": str(kernel.tree) if kernel.tree else None,
        "kernel_described": kernel.described,
        **how,
        "exit_status": status,
        "simulated_seconds": round(ending.simulated_s, 9) if ending.code is not None else None,
        "wall_seconds": round(ending.wall_s, 3),
    }
    for key in ("commands", "log_lost", "store_bytes_used", "store_bytes_limit"):
        facts[key] = _number(model, key)
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
