# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs that only read recordings, where raidctl is not installed: python3 -m raidtrace VERB ..."""

import sys

from raidtrace.cli import front

VERBS = ("compare", "explain", "export", "report")


def main() -> int:
    """Run the verb in the first argument. Exit status: that of the verb; 2: there is no such verb."""
    if len(sys.argv) < 2 or sys.argv[1] not in VERBS:
        usage = f"usage: python3 -m raidtrace {{{','.join(VERBS)}}} ... (--help after a verb prints its options)"
        print(usage, file=sys.stderr)
        return 2
    return front.run(sys.argv.pop(1)) or 0


if __name__ == "__main__":
    sys.exit(main())
