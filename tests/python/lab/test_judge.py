# SPDX-License-Identifier: GPL-2.0-or-later
"""Two kernels over a set of workloads: what is called faster, slower, chance, equal, identical; expressions; the board."""

import argparse
import dataclasses
import json
import re
import subprocess

import pytest
import tomllib
from conftest import TOP, script
from raidlab.base.failure import LabError
from raidlab.kernel import coverage
from raidlab.kernel.patched import Pair
from raidlab.verbs import ab, ab_text, judge, measures, workloads
from raidlab.verbs.measures import Recorded

from raidtrace.quantity.expression import BadExpression, Expression, NotKnown
from raidtrace.recording.work import Work

ONE = workloads.Workload("one", "something", "true")
NOISE = (1.0, 1.003, 0.998, 1.001, 0.997, 1.002, 0.999, 1.004)
SAME = {"request_bytes_mean": 4096.0, "in_flight_mean": 2.0, "bytes": 1 << 24, "sequential_share": 0.9,
        "d2c_mean_ns": 2e6, "mib_per_s": 8.0, "requests": 4096}  # fmt: skip


def run(seconds, truth, calls=4096, **more):
    direction = {**SAME, "d2c_p99_ns_high": 1, "flow": {"back_merges": 5, "splits": 0}, "histograms": {}, **more}
    both = {"read": direction, "write": {**direction, "bytes": 0}}
    span = measures.Span("run", "sda", seconds, both, Work(seconds, 1 << 24, calls))
    return Recorded(None, [span], truth, {})


class Lab:
    """Times of each kernel with each seed; counts the calls."""

    def __init__(self, *seconds, identical=False, **more):
        self.seconds, self.identical, self.more, self.count = seconds, identical, more, 0

    def __call__(self, jobs):
        got = []
        for _, kernel, seed in jobs:
            self.count += 1
            truth = f"{seed}" if self.identical else f"{kernel} {seed}"
            got.append(run(self.seconds[kernel](seed), truth, **(self.more if kernel else {})))
        return got


def noisy(base):
    return lambda seed: base * NOISE[(seed * 3 + int(base * 7)) % len(NOISE)]


def verdict(lab, seeds=4):
    (one,) = judge.judged([ONE], seeds, lab)
    return one


def drifting(base):
    return lambda seed: base + seed * 1e-5


def then(first, fresh):
    """Times of the first four seeds and of fresh ones."""
    return lambda seed: noisy(first if seed < 4 else fresh)(seed)


# the times of both kernels, the verdict, and the runs that it took
JUDGED = {
    "the same commands at the same times need one seed": (noisy(2.0), noisy(2.0), judge.IDENTICAL, 2),
    "noise needs no second round": (
        lambda seed: (2.0, 2.3, 1.8, 2.1)[seed % 4], lambda seed: (2.2, 1.9, 2.05, 1.95)[seed % 4], judge.CHANCE, 8),
    "what fresh seeds do not confirm": (noisy(2.0), then(1.9, 2.0), judge.CHANCE, 16),
    "what fresh seeds turn round": (noisy(2.0), then(1.9, 2.1), judge.CHANCE, 16),
    "less than half a percent": (drifting(2.0), drifting(2.006), judge.EQUAL, 16),
    "more than half a percent": (drifting(2.0), drifting(2.014), judge.SLOWER, 16),
}  # fmt: skip


@pytest.mark.parametrize("name", JUDGED)
def test_two_kernels_are_judged(name):
    before, after, expected, runs = JUDGED[name]
    lab = Lab(before, after, identical=expected == judge.IDENTICAL)
    assert (verdict(lab).verdict, lab.count) == (expected, runs)


@pytest.mark.parametrize(
    "after, expected", [(1.5, judge.FASTER), (2.5, judge.SLOWER), (2.04, judge.SLOWER), (1.96, judge.FASTER)]
)
def test_a_difference_is_confirmed_by_fresh_seeds(after, expected):
    lab = Lab(noisy(2.0), noisy(after))
    one = verdict(lab)
    assert one.verdict == expected and lab.count == 16 and one.seeds == 8
    assert one.between[0] < 2.0 / after * 1.003 and one.between[1] > 2.0 / after * 0.997


@pytest.mark.parametrize("calls", [2048, None])
def test_no_kernel_is_faster_at_other_work(calls):
    one = verdict(Lab(noisy(2.0), noisy(1.5), calls=calls))
    assert one.verdict == judge.OTHER and ab_text.summary([one]) == "1 workload: 1 other work"


def test_a_workload_that_moves_nothing_is_refused():
    with pytest.raises(LabError, match="no request reached a disk"):
        verdict(Lab(noisy(2.0), noisy(2.0), requests=0))


@pytest.mark.parametrize("disk", ["/dev/sda", "/dev/nvme0n1", "/dev/vda"])
def test_a_workload_uses_the_first_disk_whichever_driver_it_has(disk, tmp_path):
    head = ONE.words()[2].partition(" MNT=")[0]
    test = tmp_path / "sh"
    test.write_text(
        f'test() {{ [ "$2" = {disk} ]; }}\n{head.partition("exec 3>&2; ")[2]}; echo $DISK', encoding="ascii"
    )
    done = subprocess.run(["sh", str(test)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == disk


@pytest.mark.parametrize(
    "more, mechanism",
    [
        # the largest change; it is not an effect
        ({"request_bytes_mean": 65536.0, "in_flight_mean": 2.2, "d2c_mean_ns": 9e6},
         ("size 4 -> 64 KiB", "in flight 2.00 -> 2.20")),
        ({"d2c_mean_ns": 1e6}, ("only the time of a request 2.00 -> 1.00 ms",)),  # nothing else changed
        ({"in_flight_mean": 2.019}, ()),  # less than a hundredth
        ({"in_flight_mean": 2.021}, ("in flight 2.00 -> 2.02",)),
    ],
)  # fmt: skip
def test_the_mechanism_is_what_changed(more, mechanism):
    assert verdict(Lab(noisy(3.0), noisy(1.0), **more)).mechanism == mechanism


def options(**more):
    plain = {"json": False, "mail": False, "profile": "p", "kernels": ["6.12"], "range": None, "series": [], "set": [],
             "config": [], "tree": None, "variant": "", "seeds": 4, "mem": 256, "workload": "queue", "patch": [],
             "coverage": False}  # fmt: skip
    return argparse.Namespace(**plain | more)


def report(results, names=("A", "B"), pair=None, lacking=None, real_time=False, **more):
    return ab_text.text(options(**more), ab_text.Judged(names, pair, results, lacking or {}, real_time))


PAIR = Pair(None, None, (), (), ("drivers/nvme/host/core.c",))


@pytest.fixture
def results():
    lab = Lab(noisy(2.0), noisy(2.5), in_flight_mean=1.0)
    return judge.judged([ONE, workloads.Workload("two", "more", "true")], 4, lab)


def test_text_begins_with_the_answer_and_fits(results):
    expected = report(results, ("A kernel", "another"), PAIR).splitlines()
    assert expected[0] == "2 workloads: 2 slower."
    assert "NOTHING of the patch is compiled" in expected[1] and "nvme" in expected[2]
    assert any("in flight 2.00 -> 1.00" in line for line in expected)
    assert max(len(line) for line in expected[9:]) <= 80


def test_a_mail_has_72_columns_and_the_command(results):
    expected = report(results, ("A kernel", "another " * 20), PAIR, mail=True, patch=["a.patch"]).splitlines()
    assert max(map(len, expected)) <= 72
    assert any("--kernel 6.12 --patch a.patch" in line for line in expected)


@pytest.mark.parametrize(("given", "used"), [(1, 2), (2, 2), (3, 3)])
def test_the_command_in_a_mail_has_the_seeds_that_were_used(monkeypatch, capsys, given, used):
    seeds = set()

    def ran(places, *_):
        seeds.update(seed for *_, seed, _ in places)
        return [run(noisy(2.0)(seed), f"{at} {seed}") for at, (*_, seed, _) in enumerate(places)]

    for module, name in ((ab.measures, "require_tools"), (ab.runner, "profiles_of"), (ab.tree, "pick")):
        monkeypatch.setattr(module, name, lambda *_, **__: None)
    monkeypatch.setattr(ab, "_simulated", lambda *_: ab.Contender("k", None, None, None))
    monkeypatch.setattr(ab, "_all", ran)
    more = {"vm": False, "repeat": False, "quiet": True, "out": "x"}
    ab.act(options(mail=True, kernels=["6.1", "7.2"], seeds=given, **more))
    assert f"--seeds {used} " in capsys.readouterr().out and seeds == set(range(used))


def test_which_changed_lines_ran_stands_below(results):
    rows = [coverage.Ran("mm/readahead.c", 5, 7, {"one": 12})]
    changed = {"patch": ["a.patch"], "coverage": True}
    for more in ({}, {"mail": True}):
        expected = ab_text.text(options(**changed | more), ab_text.Judged(("A", "B"), PAIR, results, {}, False, rows))
        assert "of 3 changed lines of code 3 ran" in expected and "mm/readahead.c:5-7 " in expected
    assert "--coverage" in expected, "in the command of the mail"
    assert max(map(len, expected.splitlines())) <= 72
    expected = ab_text.text(options(json=True), ab_text.Judged(("A", "B"), PAIR, results, {}, False, rows))
    assert json.loads(expected)["coverage"] == [{"file": "mm/readahead.c", "first": 5, "last": 7, "times": {"one": 12}}]


def test_json_has_it_all(results):
    expected = json.loads(report(results, pair=PAIR, json=True))
    assert expected["workloads"][0]["verdict"] == "slower"
    assert expected["patch"]["elsewhere"] == ["drivers/nvme/host/core.c"]


def test_what_a_kernel_cannot_run_is_reported_and_skipped(results):
    lacking = {"crypt": ["DM_CRYPT"], "more": ["DM_CRYPT"]}
    assert "Skipped, because a kernel lacks CONFIG_DM_CRYPT: crypt more." in report(results, lacking=lacking)
    assert json.loads(report(results, lacking=lacking, json=True))["left_out"] == lacking


@pytest.mark.parametrize("low, high, wide", [(0.901, 1.099, False), (0.899, 1.05, True), (0.95, 1.101, True)])
def test_what_chance_leaves_wide_open_is_undecided(results, low, high, wide):
    chance = [dataclasses.replace(results[0], verdict=judge.CHANCE, between=(low, high)), results[1]]
    assert ("Undecided" in report(chance)) == wide and "Undecided" not in report(results)


def test_identical_runs_are_no_proof_beyond_themselves(results):
    same = [dataclasses.replace(one, verdict=judge.IDENTICAL, mechanism=()) for one in results]
    assert "does not run the patched code" in report(same) and "the patched code" not in report([same[0], results[1]])


def test_real_time_shows_how_far_a_is_from_itself(results):
    assert "Real time" not in report(results)
    assert "took 0.7% to 0.7% longer than its fastest" in " ".join(report(results, real_time=True).split())


MINE = """[[workload]]
name = "mine"
does = "something"
command = "true"
"""


def test_a_file_of_workloads_is_a_set(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MINE + MINE.replace("mine", "other") + 'needs = ["X"]\nfilesystem = "ext4"\n')
    assert [one.name for one in workloads.of_set(str(path))] == ["mine", "other"]
    (one,) = workloads.of_set(f"{path}:other")
    assert one.needs == ("X",) and "mkfs.ext4" in one.words()[2]


@pytest.mark.parametrize(
    "text, why",
    [
        ("no toml", "The form"),
        (MINE.replace("does", "dose"), "mine: dose, does"),
        (MINE + "needs = 'X'\n", "mine: needs"),
        (MINE + "filesystem = 'fat'\n", "filesystem fat"),
        (MINE.replace("mine", "other"), "no such set or workload"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, text, why):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(Exception, match=why):
        workloads.of_set(f"{path}:mine")


def test_every_workload_has_a_name_of_its_own_and_can_be_chosen():
    every = workloads.of_set(workloads.ALL)
    assert len({one.name for one in every}) == len(every)
    for one in every:
        assert workloads.of_set(one.name) == (one,)
    with pytest.raises(Exception, match="no such set"):
        workloads.of_set("none")


def test_what_a_killed_run_left_is_no_obstacle(tmp_path):
    """Its recording and that one's journal go; what else lies there stays."""
    for name in ("lab.rtdb", "lab.rtdb-journal", "mine.rtdb.xz"):
        (tmp_path / name).touch()
    names = []

    def boot(_command, directory):
        names.extend(path.name for path in directory.iterdir())
        return argparse.Namespace(status=1, messages=[])

    with pytest.raises(LabError, match="exit status 1"):
        measures.run(argparse.Namespace(command=["true"], disk=None), "6.1", boot, tmp_path)
    assert names == ["mine.rtdb.xz"]


VALUES = {"mib_per_s": 100.0, "seeks": 3.0, "request_bytes_mode": None}
HOLDS = {
    "mib_per_s >= 100": True,
    "mib_per_s > 100": False,
    "mib_per_s < 100 or seeks == 3": True,
    "mib_per_s >= 100 and seeks != 3": False,
    "not seeks > 3": True,
    "90 <= mib_per_s <= 110": True,
    "mib_per_s / seeks > 33.3": True,
    "-seeks + 3 == 0": True,
    "mib_per_s >= 100 or request_bytes_mode > 3": True,
}
BAD = {
    "mib_per_s": "is not a comparison",
    "mib_per_s >": "not an expression",
    "mib_per_s >= 'fast'": "neither a number nor a measure",
    "mib_per_s >= True": "neither a number nor a measure",
    "mib_per_sec >= 3": "Did you mean mib_per_s?",
    "__import__('os').system('false') > 0": "neither a number nor a measure",
    "seeks in (1, 2)": "is not a comparison",
    "mib_per_s ** 2 > 3": "neither a number",
    "": "not an expression",
}


def parsed(text):
    return Expression(text, measures.unknown, truth=True)


@pytest.mark.parametrize(("text", "expected"), HOLDS.items())
def test_what_holds(text, expected):
    assert parsed(text).holds(VALUES) is expected


@pytest.mark.parametrize(("text", "expected"), BAD.items())
def test_what_is_refused_has_a_reason(text, expected):
    with pytest.raises(BadExpression, match=re.escape(expected)):
        parsed(text)


@pytest.mark.parametrize(
    "text", ["seeks < 1" + " or seeks < 1" * 99, "(" * 150 + "seeks < 1", "not " * 300 + "seeks < 1"]
)
def test_what_is_long_is_refused(text):
    with pytest.raises(BadExpression):
        parsed(text)


@pytest.mark.parametrize("text", ["request_bytes_mode > 3", "seeks / 0 > 1"])
def test_there_is_no_verdict_without_a_value(text):
    with pytest.raises(NotKnown):
        parsed(text).holds(VALUES)


def test_names_in_their_order():
    assert parsed("seeks > 1 and mib_per_s > seeks").names() == ["seeks", "mib_per_s"]


def test_every_measure_is_known_and_documented():
    every = [name for name in measures.names() if name != "seconds" and not name.startswith("inflight")]
    known = [*measures.names(), *(f"{direction}_{name}" for direction in measures.DIRECTIONS for name in every)]
    assert all(measures.is_known(name) for name in known)
    assert set(measures.names()) <= set(re.findall(r"\w+", (TOP / "Documentation/man/raidctl-lab.8").read_text()))


BOARD = TOP / "tests" / "board"
ENTRIES = tomllib.loads((BOARD / "board.toml").read_text())["entry"]
FACTS = {"name", "commit", "title", "source", "published", "change", "undone", "kernel", "workload"}


def test_every_entry_has_a_source_a_patch_and_a_workload():
    own = {one.name for one in workloads.read(BOARD / "workloads.toml")}
    for entry in ENTRIES:
        assert FACTS <= set(entry) and entry["source"], entry
        assert entry["change"] in ("faster", "slower") or (
            entry["change"] in ("larger", "smaller") and "measure" in entry
        )
        assert entry["commit"] == "" or len(entry["commit"]) == 40, entry
        assert entry["workload"] in own or workloads.of_set(entry["workload"])
        assert "unseen" in entry or entry["mechanism"]
        assert "measure" in entry or "ratio" not in entry
        assert entry.get("measure", "speed") in {"speed", *measures.MEASURES}
    assert len({entry["name"] for entry in ENTRIES}) == len(ENTRIES) >= 20
    assert set(script(BOARD / "run").PATCHES) == {entry.get("patch", entry["name"]) for entry in ENTRIES}


ENTRY = {"change": "faster", "undone": True, "mechanism": "size", "measure": "requests", "ratio": 0.25}
RESULT = {
    "verdict": "slower",
    "speed": 0.5,
    "mechanism": ["size 16 -> 4 KiB"],
    "measures": {"requests": [100.0, 400.0]},
}


@pytest.mark.parametrize(
    "entry, changes, wrong",
    [
        ({}, {}, ""),
        ({}, {"verdict": "faster"}, "sign: slower"),
        ({}, {"verdict": "equal"}, "sign: equal"),
        ({"undone": False}, {"verdict": "faster", "measures": {"requests": [400.0, 100.0]}}, ""),
        ({}, {"mechanism": ["in flight 2.0 -> 1.0"]}, "mechanism: in flight"),
        ({}, {"measures": {"requests": [100.0, 330.0]}}, "figure: 0.30"),
        ({}, {"measures": {"requests": [100.0, 340.0]}}, ""),
        ({"measure": "speed", "ratio": 2.0}, {}, ""),
        ({"measure": "speed", "ratio": 2.0}, {"speed": 0.8}, "figure: 1.25"),
        ({"change": "smaller"}, {}, ""),
        ({"change": "larger"}, {}, "sign: smaller"),
        ({"change": "larger"}, {"mechanism": ["merges 3 -> 4"]}, "mechanism: merges"),
        ({"unseen": "free"}, {"verdict": "identical", "mechanism": []}, ""),
        ({"unseen": "free"}, {}, "seen: slower"),
    ],
)
def test_what_is_not_as_published_is_reported(entry, changes, wrong):
    expected, passed = script(BOARD / "run").verdict_of(ENTRY | entry, RESULT | changes)
    assert passed == (not wrong) and wrong in expected
