# SPDX-License-Identifier: GPL-2.0-or-later
"""The parser of the verbs in Python. It reports a wrong command line in raidctl's words."""

import argparse
import re
import sys
from typing import NoReturn

from raidtrace.quantity import units

WRONG = 2  # exit status
# Patterns of argparse's messages, and ours.
WORDS = (
    (r"argument (.+?): invalid choice: (.*) \(choose from (.*)\)", r"\1: \2 is not possible; give one of: \3"),
    (r"argument (.+?): expected (?:one|at least one) argument", r"\1: its value is missing"),
    (r"argument (.+?): ignored explicit argument (.*)", r"\1: it takes no value, but has \2"),
    (r"argument (.+?): not allowed with argument (.*)", r"\1 and \2 exclude each other; leave out one"),
    (r"ambiguous option: (\S+) could match (.*)", r"\1: several options begin so; give one of: \2"),
    (r"the following arguments are required: (.*)", r"the command line lacks: \1"),
    (r"one of the arguments (.*) is required", r"the command line lacks one of: \1"),
    (r"unrecognized arguments: (.*)", r"not understood: \1"),
)


SOURCES = ("module", "bpf")


def duration(word: str) -> float:
    """The seconds of an argument such as 500ms, 2s or 1m. Raises ArgumentTypeError, for an option's `type`."""
    try:
        return units.parse_duration(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_source(group: argparse._ActionsContainer) -> None:
    """Add the option that chooses the source of counters."""
    group.add_argument(
        "--source",
        choices=SOURCES,
        help="count by the module or by BPF programs (default: the module if it is loaded, otherwise bpf)",
    )


def source_words(source: str | None) -> tuple[str, ...]:
    """The words of raidctl that choose the source of counters."""
    return ("--source", source) if source else ()


class Parser(argparse.ArgumentParser):
    """A parser that ends with `usage_status` if the command line is wrong."""

    usage_status = WRONG

    def error(self, message: str) -> NoReturn:
        for pattern, words in WORDS:
            if found := re.fullmatch(pattern, message, re.DOTALL):
                message = f"{found.expand(words)}. See: {self.prog} --help"
        self.print_usage(sys.stderr)
        self.exit(self.usage_status, f"{self.prog}: error: {message}\n")
