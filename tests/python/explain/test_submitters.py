# SPDX-License-Identifier: GPL-2.0-or-later
"""A direction that others than the recorded command used is neither its headline nor what its figures are compared by."""

import json

import pytest
from conftest import call, changed
from made_phase import MIB, record

from raidtrace.cli import compare as cli_compare
from raidtrace.explain import runs as explain_runs
from raidtrace.recording import observation
from raidtrace.recording import quantities as q

READ = 512 * MIB  # what a phase of record() reads


def with_others(directory, written=0, by_command=None, who=(("w", 0),), program="cat", pid=70):
    """A command that reads, and so many bytes written meanwhile. by_command: the kernel's account of the command; who:
    (name, bytes) of processes that queued more than the reads."""
    command = {"read_bytes": READ} if by_command is None else by_command
    path = record(directory, (("run", {}),), command=command, meta={"command": json.dumps([program, "f"])})
    requests = written // (64 << 10)
    columns = {name: requests for name in ("queued", "got", "issued", "completed")}
    columns |= {f"bytes_{name}": written for name in ("queued", "issued", "completed")}
    values = ", ".join(map(str, columns.values()))
    flow = f"INSERT INTO flow(sample, direction, {', '.join(columns)}) VALUES(1, 'write', {values})"
    submitter = "INSERT INTO submitter(sample, submitter, pid, comm, queued, bytes_queued) VALUES(1,?,?,?,?,?)"
    rows = ((at, pid + at, name, max(size // 4096, 1), size) for at, (name, size) in enumerate((("cat", READ), *who)))
    return changed(path, flow, *((submitter, row) for row in rows))


def directions(path):
    return [chain.direction for chain in explain_runs.one(path).chains]


def test_the_direction_of_the_command_comes_first_and_the_other_names_its_processes(tmp_path):
    path = with_others(tmp_path, 4 * READ, who=(("w", 4 * READ),))
    first, second = explain_runs.one(path).chains
    assert (first.direction, second.direction) == ("read", "write")
    assert first.title == "sda, phase run (reads, cat on xfs)" and not any("account" in text for text in first.summary)
    assert second.title == "sda, phase run (writes of w, next to cat on xfs)"
    assert "cat wrote none of these 2 GiB by the kernel's account of processes; most are of w." in second.summary


@pytest.mark.parametrize(
    ("more", "first"),
    [
        ({"by_command": {}}, "write"),  # the kernel does not account the command
        ({"by_command": {"read_bytes": READ, "write_bytes": int(0.41 * READ)}}, "write"),  # more than a tenth
        ({"by_command": {"read_bytes": READ, "write_bytes": int(0.39 * READ)}}, "read"),
        ({"by_command": {"rchar": 1}}, "write"),  # neither direction is the command's own
        ({"program": "w"}, "write"),  # zeroing is not in that account, but its bios are of the process
    ],
)
def test_the_larger_is_first_where_it_may_be_the_commands(tmp_path, more, first):
    path = with_others(tmp_path, 4 * READ, who=(("w", 4 * READ),), **more)
    assert directions(path)[0] == first


def test_who_queued_it_is_reported_where_one_process_must_have(tmp_path):
    for at, (size, text) in enumerate(((int(3.01 * READ), "w"), (int(2.99 * READ), ""))):
        (observed,) = observation.load(with_others(tmp_path / str(at), 4 * READ, who=(("w", size),))).observations
        assert q.movers(observed, "write") == text, size
        assert q.foreign(observed, "write")


def test_what_was_written_before_is_the_commands_when_it_is_written_back(tmp_path):
    path = record(tmp_path, (("write", {}), ("read", {})), command={"write_bytes": READ})
    for observed in observation.load(path).observations:
        assert observed.by_command["write"] == READ * (1 if observed.phase == "write" else 2)


def compared(a, b, *words):
    return call(cli_compare.main, *words, a, b).stdout


@pytest.mark.parametrize("turned", [False, True])
def test_compare_sets_each_direction_against_the_same(tmp_path, turned):
    paths = [with_others(tmp_path / "a", 4 * READ, who=(("w", 4 * READ),)), with_others(tmp_path / "b")]
    result = json.loads(compared(*(reversed(paths) if turned else paths), "--json"))
    rows = {(row["key"]["place"], row["key"]["direction"]): row for row in result["rows"]}
    assert rows["counted: throughput", "read"]["ratio"] == 1.0
    with_writes, without = ("b", "a") if turned else ("a", "b")
    written = rows["counted: throughput", "write"]
    assert (written[with_writes]["median"], written[without]["median"]) == (4 * READ / 1024 / 4, 0)
    assert {direction for place, direction in rows if "size" in place} == {"read"}
    (note,) = [note for note in result["notes"] if "an invariant" not in note]  # these recordings are made up
    assert note.startswith(f"{with_writes.upper()}, phase run: cat wrote none of these")


def test_compare_names_the_direction(tmp_path):
    a, b = with_others(tmp_path / "a"), with_others(tmp_path / "b")
    text = compared(a, b)
    assert "counted: throughput read " in text and "write" not in text
