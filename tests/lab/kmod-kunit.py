#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Load the KUnit suites and print their results; a suite without a result has failed."""

import os
import pathlib
import re
import subprocess
import sys

SUITES = (
    "raidtrace_histogram", "raidtrace_account", "raidtrace_bio", "raidtrace_depth", "raidtrace_engine", "raidtrace_hwq",
)  # fmt: skip
CASES = 37 + 11 + 12 + 11 + 37 + 8  # a suite that loses cases has failed


def kernel_log() -> list[str]:
    """Lines of the log without their times."""
    text = subprocess.run(["dmesg"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    return [re.sub(r"^\[ *[0-9.]+\] ", "", line) for line in text.splitlines()]


def main() -> int:
    """Exit status."""
    suites = pathlib.Path(os.environ["RAIDTRACE_KO"]).parent / "tests/raidtrace_kunit.ko"
    # Without these Debian's configuration loads the suites and runs none; autorun came with 6.17 or so.
    subprocess.run(["modprobe", "kunit", "enable=1", "autorun=1"], check=True)
    begin = len(kernel_log())
    subprocess.run(["insmod", suites], check=True)
    log = kernel_log()[begin:]
    passed = failed = 0
    for line in log:
        match = re.match(r"( *)(not ok|ok) \d+ (.*)", line)
        if match and match[1] and match[3] != "value_falls_in_its_bin":
            passed += match[2] == "ok"
            failed += match[2] == "not ok"
        if not match or match[2] == "not ok" or not match[1]:
            print(line)
    for suite in SUITES:
        if not any(re.match(rf"ok \d+ {suite}$", line) for line in log):
            print(f"not ok - suite {suite} did not pass")
            failed += 1
    if passed + failed < CASES:
        print(f"not ok - {passed + failed} cases have a result, {CASES} expected")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
