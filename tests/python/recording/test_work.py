# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether two programs did the same work, and which took longer."""

import dataclasses

import pytest

from raidtrace.recording import work
from raidtrace.recording.work import Kind, Work

MIB = 1 << 20
A = Work(2.0, 100 * MIB, 1000, 0, '["cat", "a"]')

# change of B -> relation, and the start of the sentence
COMPARED = {
    "less time": ({"seconds": 1.0}, Kind.SAME, "B is faster by a factor of 2.00: the same work (100 MiB in 1,000 calls)"),
    "more time": ({"seconds": 9.0}, Kind.SAME, "B took 4.50 times as long as A for the same work"),
    "the same time": ({"seconds": 2.1}, Kind.SAME, "A and B took the same time within 10 %"),
    "other start-up": ({"octets": 101 * MIB, "calls": 1060}, Kind.SAME, "A and B took the same time"),
    "more bytes": ({"octets": 106 * MIB, "seconds": 1.0}, Kind.DIFFERENT, "The work of A and B differs (A: 100 MiB in"),
    "more bytes of another command": ({"octets": 102 * MIB, "command": "b"}, Kind.DIFFERENT, "The work of A and B differs"),
    "the start of a first run": ({"octets": 104 * MIB, "calls": 1250}, Kind.SAME, "A and B took the same time"),
    "more calls of another command": ({"calls": 1070, "command": "b"}, Kind.DIFFERENT, "The work of A and B differs"),
    "more calls": ({"calls": 1300, "seconds": 1.0}, Kind.DIFFERENT, "The work of A and B differs"),
    "a failed command": ({"complete": False, "seconds": 1.0}, Kind.DIFFERENT, "The work of A and B differs (the command of B"),
    "no calls recorded": ({"octets": None, "calls": None}, Kind.UNKNOWN, "The work of A and B is not known to be the same"),
    "no calls made": ({"octets": 0, "calls": 0}, Kind.UNKNOWN, "The work of A and B is not known to be the same (B made no"),
    "direct I/O without calls": ({"direct": 200 * MIB}, Kind.DIFFERENT, "The work of A and B differs (A: 100 MiB in 1,000 "
                                 "calls; B: 200 MiB of direct I/O)"),
    "another command": ({"command": '["cat", "b"]', "seconds": 1.0}, Kind.SAME, "B is faster"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARED)
def test_only_the_time_of_the_same_work_compares_programs(name):
    change, kind, sentence = COMPARED[name]
    compared = work.compare(A, dataclasses.replace(A, **change))
    assert compared.kind is kind and compared.sentence().startswith(sentence), compared.sentence()
    assert (compared.factor is None) is (kind is not Kind.SAME)
    assert ("neither is called faster" in compared.sentence()) is (kind is not Kind.SAME)


@pytest.mark.parametrize(("command", "kind"), [(A.command, Kind.SAME), ('["cat", "b"]', Kind.UNKNOWN)])
def test_a_mapping_needs_the_same_command(command, kind):
    mapped = dataclasses.replace(A, octets=4 * MIB, faults=2000)
    assert work.compare(mapped, dataclasses.replace(mapped, faults=300, command=command)).kind is kind


ASIDE = dataclasses.replace(A, octets=63 << 10, calls=105, direct=200 * MIB)


@pytest.mark.parametrize(
    ("change", "kind"),
    [({"calls": 500, "octets": 90 << 10, "command": "b"}, Kind.SAME), ({"direct": 210 * MIB, "command": "b"}, Kind.DIFFERENT),
     ({"foreign": 11 * MIB}, Kind.UNKNOWN), ({"foreign": 9 * MIB}, Kind.SAME)],
)  # fmt: skip
def test_bytes_of_libaio_are_those_of_direct_io_at_the_disk(change, kind):
    compared = work.compare(ASIDE, dataclasses.replace(ASIDE, seconds=1.0, **change))
    assert compared.kind is kind
    assert "200 MiB of direct I/O" in compared.sentence() or kind is Kind.UNKNOWN
