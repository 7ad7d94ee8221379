# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs that only read recordings, where raidctl is not installed: python3 -m raidtrace VERB ..."""

import sys

from raidtrace.cli import front

VERBS = ("compare", "explain", "export", "report")

if len(sys.argv) < 2 or sys.argv[1] not in VERBS:
    print(
        f"usage: python3 -m raidtrace {{{','.join(VERBS)}}} ... (--help after a verb prints its options)",
        file=sys.stderr,
    )
    sys.exit(2)
sys.exit(front.run(sys.argv.pop(1)))
