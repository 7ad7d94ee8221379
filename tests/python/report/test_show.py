# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl show: the live rows of disks with all that they can hold, as text and JSON."""

import json
import os
import re
import subprocess
import sys

import jsonschema
import pytest
from conftest import BY_BPF, TOP, call

from raidtrace.cli import show
from raidtrace.quantity import units
from raidtrace.recording import live

GOLDEN = TOP / "tests/python/report/golden"
SCHEMA = json.loads((TOP / "Documentation/raidctl.schema.json").read_text(encoding="utf-8"))


def golden(name, text):
    path = GOLDEN / name
    if "UPDATE_GOLDEN" in os.environ:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "if this change is meant: UPDATE_GOLDEN=1"


def of_json(*words):
    done = call(show.main, "--json", *words)
    assert not done.returncode, done.stderr
    disks = json.loads(done.stdout)
    jsonschema.validate(disks, SCHEMA | {"$ref": "#/$defs/show"})
    return {one["disk"]: one for one in disks}


def tables_of(disk):
    """All tables of a disk in phase write, in the golden text of report -v."""
    lines = (GOLDEN / "full.txt").read_text(encoding="utf-8").splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith(f"phase write  {disk}")) + 1
    return [line for line in lines[begin : lines.index("", begin)] if not line.startswith("  then readahead")]


def test_text_of_all_that_a_disk_can_hold(sampled):
    """The golden text has the lines that are not those of report -v, and all of a disk with a hidden group."""
    sampled(
        "INSERT INTO setting VALUES(0, 3, 'gone', '1')", "INSERT INTO setting VALUES(0, 4, 'groups_hidden', 'depth')"
    )
    lines = call(show.main).stdout.splitlines()
    for disk in ("sda", "sdb", "sdc"):
        tables = tables_of(disk)
        at = lines.index(tables[0], next(at for at, line in enumerate(lines) if line.startswith(f"{disk} ")))
        assert len(tables) > 30 and lines[at : at + len(tables)] == tables
        lines[at : at + len(tables)] = [f"  the tables of {disk}"]
    golden("show.txt", "\n".join(lines) + "\n")


def test_losses_are_printed_by_kind(sampled):
    sampled(*BY_BPF)
    text = call(show.main, "--duration", "1ms", "sda", "sdb").stdout
    assert "by bpf," in text and text.count("LOST") == 1
    assert re.search(r"LOST 12,350 .* 3 queue, 12,345 end", " ".join(text.split()))


def test_json(sampled):
    asked = sampled("INSERT INTO setting VALUES(0, 3, 'gone', '1')", *BY_BPF)
    disks = of_json("--duration", "1ms")
    assert list(disks) == ["sda", "sdb", "sdc", "md0"]
    sda, sdb, sdc, md0 = disks.values()
    assert sda["seconds"] == pytest.approx(1.000001) and sda["source"] == "bpf" and not sda["simulated"]
    assert sda["readahead_sectors"] == 256 and sda["readahead_kib"] == 128
    assert sdb["lost_records"] == {"queue": 3, "end": 12345} and sdb["undelivered_ends"] == 2
    assert not sda["lost_records"] and not sda["missed_events"]
    assert sdc["gone"] and sdc["target"]["gone"] and sdc["target"]["max_sectors"] is None
    assert not sda["gone"] and sda["target"]["max_sectors"] and md0["target"]["bio_based"]
    assert md0["directions"]["read"]["requests"] is None and sda["breakdown"]
    assert "phase" not in sda
    assert asked.read_text().splitlines() == ["rows show --", "difference", "total"]


@pytest.mark.parametrize(
    ("words", "statements", "requests"),
    [
        ((), (), ["rows show --", "difference", "total"]),
        (("--source", "module", "sda"), (), ["rows --source module show -- sda", "difference", "total"]),
        (("--duration", "1ms"), (), ["rows show --", "difference", "difference"]),
        (("--duration", "1ms"), BY_BPF, ["rows show --", "difference", "total"]),
    ],
)
def test_requests(sampled, words, statements, requests):
    """Counters since attach or reset; with a duration those from now on, which BPF programs have counted since attach."""
    asked = sampled(*statements)
    assert not call(show.main, *words).returncode
    assert asked.read_text().splitlines() == requests


def test_a_signal_before_the_duration_ends_it(sampled):
    """The first rows are late here, as those of BPF programs that are loaded. A process of its own: threads of other tests
    do not block the signal."""
    asked = sampled(*BY_BPF)
    live.RAIDCTL.write_text(live.RAIDCTL.read_text().replace("while", "kill -INT $PPID\nwhile", 1))
    code = (f"import pathlib, sys; from raidtrace.recording import live; live.RAIDCTL = pathlib.Path({str(live.RAIDCTL)!r});"
            "from raidtrace.cli import show; sys.exit(show.main(['--duration', '1h']))")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env=os.environ | {"PYTHONPATH": str(TOP / "tools/python")})  # fmt: skip
    assert (
        not done.returncode
        and "by bpf," in done.stdout
        and asked.read_text().splitlines()[1:] == ["difference", "total"]
    )


def test_no_disk_is_attached(sampled):
    nothing = ("DELETE FROM sample", "DELETE FROM target")
    sampled(*nothing)
    done = call(show.main)
    assert (done.returncode, done.stdout) == (0, "") and "no disk is attached; attach one" in done.stderr
    sampled(*nothing)
    assert of_json() == {}


def test_a_disk_without_a_sample_is_named(sampled):
    sampled("DELETE FROM sample WHERE target=2")
    done = call(show.main)
    assert done.returncode == 1 and "sdb: no counters: another process detached it" in done.stderr


@pytest.mark.parametrize("word", ["", "0", "1x", "x", "-1s", "1e9", "nan", "99999999h", "1 s"])
def test_wrong_durations(sampled, word):
    sampled()
    done = call(show.main, f"--duration={word}")
    assert done.returncode == 2 and "is not a time; give one such as 500ms, 2s or 1m" in done.stderr


def test_durations():
    texts = {"100ms": 0.1, "2s": 2, "1.5m": 90, "1h": 3600, "3": 3, ".5s": 0.5}
    assert {text: units.parse_duration(text) for text in texts} == pytest.approx(texts)
