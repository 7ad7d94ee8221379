# SPDX-License-Identifier: GPL-2.0-or-later
"""A wrong command line: argparse's words are raidctl's, with advice."""

import pytest
from conftest import call

from raidtrace.quantity import usage


def main(words):
    top = usage.Parser("raidctl x")
    top.add_argument("file")
    one = top.add_mutually_exclusive_group(required=True)
    one.add_argument("--way", choices=("up", "down"))
    one.add_argument("--wait", action="store_true")
    top.parse_args(words)


@pytest.mark.parametrize(("words", "message"), [
    ([], "the command line lacks: file"), (["f"], "the command line lacks one of: --way --wait"),
    (["--way", "x", "f"], "--way: 'x' is not possible; give one of: "), (["f", "--way"], "--way: its value is missing"),
    (["--wait", "--way", "up", "f"], "--way and --wait exclude each other; leave out one"),
    (["--wait=3", "f"], "--wait: it takes no value, but has '3'"),
    (["--wa", "up", "f"], "--wa: several options begin so; give one of: --way, --wait"),
    (["--wait", "f", "g", "h"], "not understood: g h"),
])  # fmt: skip
def test_each_message_of_argparse_has_our_words_and_advice(words, message):
    done = call(main, *words)
    *_, last = done.stderr.splitlines()
    assert last.startswith(f"raidctl x: error: {message}") and last.endswith(". See: raidctl x --help")
    assert done.returncode == 2


def test_a_message_of_a_verb_stays(capsys):
    with pytest.raises(SystemExit):
        usage.Parser("raidctl x").error("name a RECORDING")
    assert capsys.readouterr().err.endswith("raidctl x: error: name a RECORDING\n")
