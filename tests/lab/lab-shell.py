#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab shell on a terminal: keys, job control, the terminal's settings, the exit status."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import lab_terminal  # noqa: E402
from lab_checks import LAB, check, finish, lab  # noqa: E402

WAIT_S = 30.0


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="lab-test-", dir="/var/tmp") as directory:
        lab_terminal.session(lab_terminal.Terminal(LAB, Path(directory), WAIT_S), "lab:/run/lab/out# ", check)
    none = lab("shell")
    check("without a terminal it is refused", none.returncode == 125 and "raidctl lab run" in none.stderr, none)
    virtual = lab("shell", "--vm")
    check("so it is in a virtual machine", virtual.returncode == 125 and "no terminal" in virtual.stderr, virtual)
    finish()


main()
