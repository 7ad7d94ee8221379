# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl explain: each link and limit follows the counters, and says so when they do not show it."""

import dataclasses
import json
import os
import subprocess

import pytest
from conftest import TOP, Without, call, changed, fits
from made_phase import MIB, SECOND, phase, record, span_of

from raidtrace.cli import compare as cli_compare
from raidtrace.cli import explain as cli_explain
from raidtrace.explain import chain, evidence
from raidtrace.explain import runs as explain_runs
from raidtrace.explain import steps
from raidtrace.explain.evidence import LINKS, Chain, Verdict, lower_initial, opening
from raidtrace.quantity import trials
from raidtrace.recording import breakdown, columns, document, observation
from raidtrace.recording import quantities as q
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.quantities import Reading

EXPLAIN = TOP / "tools" / "bin" / "raidctl-explain"
COMPARE = TOP / "tools" / "bin" / "raidctl-compare"
APART = {"depth": 8, "order": 0.4}  # several at once, elsewhere
# a row of flow in which nothing but `issued` is more than 0
NAMES = [name for name in columns.COLUMNS["flow"] if name not in ("sample", "direction")]
WRITES = ", ".join(name if name == "issued" else "0" for name in NAMES)


def one(path, **more):
    return explain_runs.one(path, explain_runs.Choice(**more)).chains[0]


def test_the_untuned_chain_holds_and_readahead_limits_it(tmp_path):
    chain = one(record(tmp_path))
    assert chain.story is Verdict.INFERRED
    assert chain.limited_by() == ("readahead",)
    depth = chain.link("depth").values[0]
    assert (depth.value, depth.predicted, depth.unit) == (2.0, (1.0, 2.0), "reqs.")
    assert depth.source.counters == ("depth-time",)
    keys = [link.key for link in chain.links]
    assert keys == sorted(keys, key=LINKS.index)


@pytest.mark.parametrize(
    ("arguments", "settings", "more", "limit"),
    [
        ({"idle": 0.8}, {}, {"command": {"cpu": int(3.9 * SECOND)}}, "processor"),
        ({"idle": 0.8}, {}, {"command": {"cpu": int(0.4 * SECOND)}}, "program"),
        ({"depth": 1, "i2d_ms": 5.0}, {"queue_depth": "1", "readahead_sectors": "16384"}, {}, "queue depth"),
        ({"depth": 1}, {"readahead_sectors": "16384"},
         {"origin": {"direct": {"queued": 9, "bytes_queued": 9}}}, "direct"),
        ({"depth": 1, "order": 0.0, "sectors": 32, "seconds": 9.0}, {"readahead_sectors": "16384"}, {}, "seeks"),
        ({"depth": 4, "order": 0.9, "sectors": 256, "bios": 512}, {"readahead_sectors": "131072"}, {}, "pieces"),
        (APART, {"md_degraded": "1"}, {}, "degraded"),
        (APART, {"controller_events": "ERROR (0x04:0x0002): Degraded unit detected:unit=0"}, {}, "degraded"),
    ],
)  # fmt: skip
def test_where_readahead_is_not_why_the_cause_is_named(tmp_path, arguments, settings, more, limit):
    chain = one(record(tmp_path, (("read", arguments),), settings, **more))
    assert chain.limited_by()[:1] == (limit,), chain.limits
    assert chain.story in (Verdict.CONTRADICTED, Verdict.NOT_SHOWN)
    assert any(sentence.startswith("To do: ") for sentence in chain.summary)


def test_what_was_not_counted_is_not_available_and_never_zero(tmp_path):
    chain = one(
        changed(
            record(tmp_path),
            "UPDATE target SET groups='flow size depth'",
            "DELETE FROM setting WHERE name='readahead_sectors'",
            "UPDATE flow SET stream_queued=NULL, sequential_queued=NULL, bytes_ahead_queued=NULL",
        )
    )
    for key in ("setting", "window", "blame", "cache", "depth"):
        assert chain.link(key).verdict is Verdict.NOT_AVAILABLE, key
    assert chain.link("setting").values[0].value is None
    assert chain.story is Verdict.NOT_AVAILABLE


def test_without_windows_what_is_in_flight_is_still_compared_with_readahead(tmp_path):
    chain = one(
        changed(
            record(tmp_path),
            "UPDATE target SET groups='flow size depth latency'",
            "UPDATE flow SET bytes_ahead_queued=NULL, ahead_queued=NULL",
        )
    )
    assert chain.story is Verdict.NOT_AVAILABLE and not chain.limited_by()
    assert "the readahead windows were not counted" in " ".join(chain.summary)


FAST, WIDE = {"depth": 90, "seconds": 1.0}, {"readahead_sectors": "16384"}


def paths_of(tmp_path, b=FAST, settings=WIDE, commands=(None, None), a=None):
    """Two recordings: of reads as they are, and of those that readahead made four times as fast."""
    metas = [{"command": json.dumps(command)} if command else None for command in commands]
    low = record(tmp_path / "a", (("read", a or {}),), meta=metas[0])
    return low, record(tmp_path / "b", (("read", b),), settings, meta=metas[1])


# The growth of the command's counters of calls in each phase.
CALLS = {"rchar": 512 * MIB, "syscr": 4096}


def pair(tmp_path, **knobs):
    return explain_runs.two(*paths_of(tmp_path, **knobs)).chains[0]


# two recordings -> whether readahead is why, and words of the answer
PAIRS = {
    "more readahead and nothing else": ({}, Verdict.INFERRED, "Inferred cause: readahead."),
    "settings that changed together": (
        {"settings": {**WIDE, "queue_depth": "31", "fstype": "ext2"}}, Verdict.NOT_SHOWN, "queue_depth", "fstype"),
    "a command with other arguments": (
        {"commands": (["dd", "bs=1M", "count=96"], ["dd", "bs=1M", "count=384"])}, Verdict.INFERRED,
        "(count=96 -> count=384) changed, but the counters of both loads are similar"),
    "another program": ({"commands": (["dd", "bs=1M"], ["cat", "/dev/sda"])}, Verdict.NOT_SHOWN,
                        "do not show that readahead is the cause: command changed, too"),
    "the same readahead": ({"settings": {"nr_requests": "64"}}, Verdict.CONTRADICTED, "so it is not the cause"),
    "readahead that made no difference": ({"b": {"depth": 2}}, Verdict.CONTRADICTED, "changed, but the rate did not"),
    "faster without more in flight": ({"b": {"depth": 2, "seconds": 1.0}}, Verdict.CONTRADICTED,
                                      "Readahead is not the cause: the number in flight did not rise"),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_whether_readahead_is_why(tmp_path, name):
    knobs, story, *messages = PAIRS[name]
    chain = pair(tmp_path, **knobs)
    assert chain.story is story
    assert all(message in " ".join(chain.summary) for message in messages), chain.summary


def test_the_difference_is_a_ratio_and_the_one_that_is_predicted(tmp_path):
    ratio = pair(tmp_path).link("difference").values[0]
    assert ratio.value == pytest.approx(4.0) and ratio.predicted[0] == pytest.approx(4.0)


def test_the_largest_effect_comes_first_and_the_verdict_begins_it(tmp_path):
    names = ("a", "b", "c")
    low = record(tmp_path / "low", [(name, {}) for name in names], command=CALLS)
    times = {"a": 3.8, "b": 1.0, "c": 2.0}
    high = record(tmp_path / "high", [(name, {"depth": 90, "seconds": s}) for name, s in times.items()],
                  {"readahead_sectors": "16384"}, command=CALLS)  # fmt: skip
    explanation = explain_runs.two(low, high)
    assert [chain.phase for chain in explanation.chains] == ["b", "c", "a"]
    assert [round(chain.effect, 2) for chain in explanation.chains] == [4.0, 2.0, 1.05]
    assert [sentence.split("phase ")[1][0] for sentence in explanation.summary] == ["b", "c", "a"]
    assert explanation.chains[0].summary[0].startswith("B is faster by a factor of 4.00: the same work")
    assert explanation.chains[0].summary[2].startswith("Inferred cause: readahead.")


def test_of_one_recording_the_longest_phase_comes_first_and_what_limits_it_begins_it(tmp_path):
    explanation = explain_runs.one(
        record(tmp_path, [("short", {"seconds": 1.0}), ("long", {}), ("shorter", {"seconds": 0.5})])
    )
    assert [chain.phase for chain in explanation.chains] == ["long", "short", "shorter"]
    assert explanation.chains[0].effect == pytest.approx(4 / 5.5)
    assert explanation.chains[0].summary[0].startswith("Limited by readahead: 128.0 MiB/s with 2.00 reads in flight")


def test_phases_that_only_one_has_are_named(tmp_path):
    a = record(tmp_path / "a", (("read", {}), ("again", {})))
    explanation = explain_runs.two(a, record(tmp_path / "b"))
    assert [chain.phase for chain in explanation.chains] == ["read"]
    assert any("again" in note for note in explanation.notes)


def test_an_unknown_phase_or_disk_is_refused(tmp_path):
    path = record(tmp_path)
    for more in ({"phase": "seeks"}, {"disk": "sdz"}):
        with pytest.raises(RecordingError, match="it has: (read|sda)"):
            explain_runs.one(path, explain_runs.Choice(**more))


@pytest.mark.parametrize("columns", [80, 100])
def test_text_keeps_to_the_columns(tmp_path, columns):
    explanation = explain_runs.two(
        record(tmp_path / "a"), record(tmp_path / "b", settings={"readahead_sectors": "16384"})
    )
    lines = evidence.text(explanation, columns)
    below = lines[lines.index("") :]  # above it are paths, which are not cut
    assert all(len(line) <= columns for line in below), max(below, key=len)


def test_limits_that_are_ruled_out_are_one_row_unless_requested(tmp_path):
    explanation = explain_runs.one(record(tmp_path))
    (chain,) = explanation.chains
    ruled_out = [limit for limit in chain.limits if limit.verdict is Verdict.CONTRADICTED]
    short, full = (" ".join(" ".join(evidence.text(explanation, 80, verbose)).split()) for verbose in (False, True))
    names = ", ".join(lower_initial(limit.title) for limit in ruled_out)
    assert f"x Ruled out {names} (raidctl explain -v" in short and "Ruled out" not in full
    for limit in chain.limits:
        kept = limit.verdict not in (Verdict.CONTRADICTED, Verdict.NOT_AVAILABLE)
        assert (limit.title + " " + limit.statement in short) == kept
        assert (limit.title + " " + limit.statement in full) == (limit.verdict is not Verdict.NOT_AVAILABLE)
    assert len(ruled_out) > 5


def test_a_directory_of_a_run_is_no_sweep_and_words_are_no_seconds(tmp_path):
    path = record(tmp_path / "run")
    path.rename(path.parent / "run.rtdb")
    done = call(cli_explain.main, path.parent)
    assert done.returncode == 2 and f"To explain the run: raidctl explain {path.parent}/run.rtdb" in done.stderr
    for text in ("x", "-1", "inf"):
        done = call(cli_explain.main, "--from", text, path.parent / "run.rtdb")
        assert done.returncode == 2 and f"{text} is not a time in seconds" in done.stderr


def test_readahead_that_changes_during_a_phase_is_not_called_the_same(tmp_path):
    a, b = paths_of(tmp_path, {"seconds": 4.0}, {}, a={"seconds": 8.0})
    assert "Readahead changed" not in " ".join(explain_runs.two(a, b).chains[0].summary)
    changed(a, "INSERT INTO setting(time_ns, target, name, value) VALUES(2000000000,1,'readahead_sectors','16384')")
    chain = explain_runs.two(a, b).chains[0]
    text = " ".join(chain.summary)
    assert "Readahead changed during A, so its part is open." in text and "the same in both" not in text
    assert chain.story is Verdict.NOT_AVAILABLE


def test_several_chains_are_answered_first_and_once(tmp_path):
    phases = [("write", {}), ("read", {"depth": 1})]
    explanation = explain_runs.two(record(tmp_path / "a", phases), record(tmp_path / "b", phases))
    lines = evidence.text(explanation, 120)
    titles = [lines.index(chain.title) for chain in explanation.chains]
    assert len(titles) == 2
    for sentence in explanation.summary:
        assert lines.index(evidence.wrap(sentence, 120)[0]) < min(titles)
    first = [line for chain in explanation.chains for line in evidence.wrap(chain.summary[0], 120)]
    assert not [line for line in first if lines.count(line) > 1]


def test_json_has_what_the_text_has(tmp_path):
    path = record(tmp_path)
    text = json.loads(call(cli_explain.main, "--json", path).stdout)
    assert text["version"] == 2 and text["kind"] == "recording"
    chain = one(path)
    assert [link["statement"] for link in text["chains"][0]["links"]] == [link.statement for link in chain.links]


def test_times_that_are_real_are_not_called_simulated(tmp_path):
    lab = {"simulated": "yes", "lab_profile": "9500s-12-raid0"}
    own = record(tmp_path / "own", meta={**lab, "lab_time": "simulated"})
    host = record(tmp_path / "host", meta={**lab, "lab_time": "real"})
    assert any("simulated time" in note for note in explain_runs.one(own).notes)
    notes = " ".join(explain_runs.one(host).notes)
    assert "simulated time" not in notes and "in the real time of the host" in notes
    assert f"{host}: Simulated: real Linux" in " ".join(explain_runs.two(own, host).notes)


def test_arrays_of_one_name_that_were_set_otherwise_are_distinguished(tmp_path):
    array = "name=a,array.drives={},drive.rpm=10000,fault.lose_command={}"
    first, second, third = (
        record(tmp_path / str(at), meta={"lab_config": array.format(*values), "lab_profile": "ab"[at == 1]})
        for at, values in enumerate(((12, 0), (3, 0), (12, 9)))
    )
    (chain,) = explain_runs.two(first, second).chains
    assert chain.link("changed").statement == "array.drives 12 -> 3"
    (chain,) = explain_runs.two(first, third).chains
    assert chain.link("changed").statement == "nothing that was recorded"
    (chain,) = explain_runs.two(first, record(tmp_path / "without", meta={"lab_profile": "a"})).chains
    assert chain.link("changed").statement == "nothing that was recorded"


def test_what_limits_the_slower_one_alone_comes_next(tmp_path):
    wide = {"readahead_sectors": "16384"}
    fast = record(tmp_path / "a", (("read", {"depth": 90, "seconds": 1.0}),), wide, command=CALLS)
    slow = record(tmp_path / "b", (("read", {"depth": 1, "i2d_ms": 5.0}),), {**wide, "queue_depth": "1"}, command=CALLS)
    (chain,) = explain_runs.two(fast, slow).chains
    assert chain.summary[0].startswith("B took 4.00 times as long as A for the same work (512 MiB in 4,096 calls)")
    assert chain.summary[2] == "Inferred limit of B, not of A: queue depth."


# arguments of record(), a link of the chain, its verdict, and words that it has
LINKED = {
    "the throughput of Little's law": ({"phases": (("read", {"d2c_ms": 9.0}),)}, "throughput", Verdict.CONTRADICTED, ""),
    "half of the time next to the mean": (
        {"phases": (("read", {"depth": 8, "idle": 0.6}),)}, "depth", Verdict.NOT_SHOWN,
        "3.20 in flight on average, none for half of the time, at most 8"),
    "bytes of calls": ({"command": {"rchar": 488 << 20}}, "cache", Verdict.SHOWN, "%"),
    "bytes of libaio are not known": ({"command": {"rchar": 487 << 20}}, "cache", Verdict.NOT_AVAILABLE, Without("%")),
    "a readahead smaller than a request": (
        {"settings": {"readahead_sectors": "64"}}, "bios", Verdict.SHOWN,
        "128 KiB on average, more than the readahead"),
    "a readahead of a request": ({}, "bios", Verdict.SHOWN, Without("more than the readahead")),
}  # fmt: skip


@pytest.mark.parametrize("name", LINKED)
def test_a_link_says(tmp_path, name):
    arguments, key, expected, words = LINKED[name]
    link = one(record(tmp_path, **arguments)).link(key)
    assert link.verdict is expected and fits(words, link.statement), link


def test_a_readahead_smaller_than_a_request_is_not_taken_for_the_window(tmp_path):
    link = one(record(tmp_path, settings={"readahead_sectors": "64"})).link("bios")
    mean = next(value for value in link.values if value.name == "bio-mean")
    assert mean.value == 256 and mean.predicted == (64.0, 256.0)


@pytest.mark.slow
def test_json_is_the_same_each_time(tmp_path):
    both = record(tmp_path / "a"), record(tmp_path / "b", (("read", {"depth": 90, "seconds": 1.0}), ("again", {})))
    for program in (EXPLAIN, COMPARE):
        knobs = {
            subprocess.run(
                [program, "--json", *both], capture_output=True, check=True, env={"PYTHONHASHSEED": seed}
            ).stdout
            for seed in ("1", "2")
        }
        assert len(knobs) == 1


def test_one_line_says_why_there_is_nothing(tmp_path):
    (tmp_path / "no.rtdb").write_text("no")
    for name, words in (("explain", [tmp_path / "no.rtdb"]), ("compare", [tmp_path / "no.rtdb"] * 2)):
        done = call({"explain": cli_explain.main, "compare": cli_compare.main}[name], *words)
        assert done.returncode == 1 and not done.stdout
        assert done.stderr.startswith(f"raidctl {name}: {tmp_path}/no.rtdb: ") and done.stderr.count("\n") == 1


def test_a_drive_that_is_lost_while_a_phase_runs_counts_for_that_phase(tmp_path):
    path = record(tmp_path, (("before", APART), ("read", APART)))
    changed(
        path,
        "INSERT INTO setting(time_ns, target, name, value) "
        f"VALUES({8 * SECOND},1,'controller_events','ERROR (0x04:0x0002): Degraded unit')",
    )
    before, after = explain_runs.one(path).chains
    assert "degraded" not in before.limited_by()
    assert after.limited_by()[:1] == ("degraded",)


def mixed(tmp_path):
    """A command that reads, and others' writes."""
    path = record(tmp_path, (("read", {}),), command={"read_bytes": 512 << 20, "write_bytes": 0})
    values = {"sample": "sample", "direction": "'write'", **{name: name for name in NAMES}}
    values |= {"bytes_completed": "bytes_completed / 2", "d2c_sum_ns": str(9 * SECOND)}
    return changed(path, f"INSERT INTO flow({', '.join(values)}) SELECT {', '.join(values.values())} FROM flow")


def test_both_directions_are_explained_and_one_can_be_chosen(tmp_path):
    path = mixed(tmp_path)
    assert [chain.direction for chain in explain_runs.one(path).chains] == ["read", "write"]
    (chain,) = explain_runs.one(path, explain_runs.Choice(direction="write")).chains
    assert chain.direction == "write" and "writes" in chain.title
    assert explain_runs.one(path).chains[0].limited_by()[0] == "competing"


def test_a_window_hides_all_samples_that_are_not_in_it_whole(tmp_path):
    path = record(tmp_path, [("early", {}), ("late", {"depth": 1})])
    for window, phases in (((None, 4.0), ["early"]), ((4.0, None), ["late"]), ((0.0, 8.0), ["early", "late"])):
        explanation = explain_runs.one(path, explain_runs.Choice(window=window))
        assert sorted(chain.phase for chain in explanation.chains) == phases
    with pytest.raises(RecordingError, match="between --from and --to"):
        explain_runs.one(path, explain_runs.Choice(window=(1.0, 3.0)))


@pytest.mark.parametrize(("window", "message"), [
    ((4.0, None), ""), ((0.0, 4.0), ""), ((0.0, 99.0), ""),
    ((0.5, None), "those from 4.000 to 8.000 s."), ((None, 7.0), "those from 0.000 to 4.000 s."),
])  # fmt: skip
def test_a_window_that_cuts_samples_says_which_are_looked_at(tmp_path, window, message):
    path = record(tmp_path, (("early", {}), ("late", {})))
    notes = [
        note for note in explain_runs.one(path, explain_runs.Choice(window=window)).notes if "whole samples" in note
    ]
    assert [note.partition(": ")[2] for note in notes] == ([message] if message else [])


def test_a_window_in_a_phase_counts_what_is_in_it(tmp_path):
    path = record(tmp_path, (("run", {}), ("run", {})), command={"rchar": 512 << 20, "cpu": SECOND})
    changed(path, f"UPDATE phase SET end_ns={8 * SECOND} WHERE phase=1", "DELETE FROM phase WHERE phase=2",
            "UPDATE sample SET phase=1")  # fmt: skip

    def explained(*window):
        explanation = explain_runs.one(path, explain_runs.Choice(window=window))
        cache = next(link for link in explanation.chains[0].links if link.key == "cache")
        return explanation, cache.verdict, " ".join(note for note in explanation.notes if "calls" in note)

    explanation, verdict, note = explained(4.0, None)
    assert "completed 8.00 s into the phase" in explanation.chains[0].summary[0]
    assert (verdict, note) == (Verdict.SHOWN, "")
    (observed,) = observation.load(path, (4.0, None)).observations
    assert q.processors_used(observed) == 0.25
    changed(path, f"UPDATE host SET end_ns={3 * SECOND} WHERE end_ns={4 * SECOND}",
            f"UPDATE host SET start_ns={3 * SECOND} WHERE start_ns={4 * SECOND}")  # fmt: skip
    for window, advice in (((4.0, None), "a longer window."), ((None, 4.0), "--from 0.000 --to 3.000.")):
        _, verdict, note = explained(*window)
        assert verdict is Verdict.NOT_AVAILABLE and note.endswith(f"To include them: {advice}"), note
    (observed,) = observation.load(path, (4.0, None)).observations
    assert q.processors_used(observed) == 0.0  # all of it may have been used before
    assert explained(None, None)[1:] == (Verdict.SHOWN, "")


def test_options_choose_direction_and_window(tmp_path):
    path = mixed(tmp_path)
    for words, directions in ((["--direction", "write"], ["write"]), (["--to", "4"], ["read", "write"])):
        text = json.loads(call(cli_explain.main, "--json", *words, path).stdout)
        assert [chain["direction"] for chain in text["chains"]] == directions


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("direct", "UPDATE origin SET class='direct'"),
        ("in order", "UPDATE flow SET stream_queued = stream_queued / 2"),
        ("writes", f"INSERT INTO flow (sample, direction, {', '.join(NAMES)}) SELECT sample, 'write', {WRITES} FROM flow"),
        ("errors", "UPDATE flow SET errors = 1"),
        ("streams", "UPDATE sample SET streams_alive_queued = 4; UPDATE flow SET sequential_queued = queued / 2"),
        ("kernel", "INSERT OR REPLACE INTO meta VALUES('kernel', '6.12')"),
        ("nr_requests", "UPDATE setting SET value='64' WHERE name='nr_requests'"),
    ],
)  # fmt: skip
def test_readahead_is_not_called_why_when_the_load_or_the_machine_is_another(tmp_path, name, statement):
    low, high = paths_of(tmp_path)
    changed(high, statement)
    chain = explain_runs.two(low, high).chains[0]
    assert chain.story is not Verdict.INFERRED
    assert name in chain.link("changed").statement


@pytest.mark.parametrize(("of_ten_windows", "same"), [(1.4, True), (1.6, False)])
def test_a_reader_that_looks_something_up_now_and_then_is_one_stream(tmp_path, of_ten_windows, same):
    """Reads of metadata between the data count as a stream of their own, but do not alternate with the data."""
    low, high = paths_of(tmp_path)
    elsewhere = f"{of_ten_windows} * bytes_queued / (10 * 16384 * 512)"
    changed(
        high,
        "UPDATE sample SET streams_alive_queued = 2",
        f"UPDATE flow SET sequential_queued = CAST(queued - {elsewhere} AS INTEGER) WHERE direction = 'read'",
    )
    chain = explain_runs.two(low, high).chains[0]
    assert (chain.story is Verdict.INFERRED) == same
    assert ("streams" in chain.link("changed").statement) != same


@pytest.mark.parametrize(("seconds", "message"), [
    (1.0, "Inferred limit of both: readahead. It is the same in both, so it is not the cause of the difference."),
    (3.7, "Inferred limit of both: readahead."),
])  # fmt: skip
def test_what_limits_both_is_reported_of_both_and_why_they_differ_is_not_it(tmp_path, seconds, message):
    result = " ".join(pair(tmp_path, b={"seconds": seconds}, settings={"nr_requests": "64"}).summary)
    assert message in result and "Readahead is the same in both" not in result
    assert ("differ in nr_requests alone." in result) == (seconds < 3)


@pytest.mark.parametrize(("config", "events", "together"), [
    ("drive.slow_member=3,drive.slow_factor=10", "", False),
    ("drive.slow_member=3,drive.rpm=7200", "", True),
    ("array.initialize=1", "(0x04:0x000C): Initialize started", False),
    ("array.initialize=1,array.drives=4", "(0x04:0x000C): Initialize started", True),
])  # fmt: skip
def test_one_thing_that_has_two_names_did_not_change_together(tmp_path, config, events, together):
    """A slow drive has two keys (its number and factor); an initialising array has a key and a state."""
    low = record(tmp_path / "a", meta={"lab_config": "drive.command_us=100"})
    high = record(tmp_path / "b", (("read", {"seconds": 9.0}),), {"controller_events": events} if events else None,
                  meta={"lab_config": f"drive.command_us=100,{config}"})  # fmt: skip
    chain = explain_runs.two(low, high).chains[0]
    text = " ".join(chain.summary)
    assert ("changed together" in text) == together and (" alone." in text) == (not together)
    assert ("array whole -> initialisation" in chain.link("changed").statement) == bool(events)


def test_a_rate_of_data_alone_far_beyond_any_that_was_observed_is_not_claimed(tmp_path, monkeypatch):
    reading = Reading("A", observation.load(record(tmp_path)).observations[0])
    assert (best := steps._best(reading)) == pytest.approx(128.0)
    for rate, message in ((1.2 * best, True), (1.3 * best, False)):
        result = trials.SeekCost(4.0, 3.0, 5.0, 0.5, rate, 100, 1)
        monkeypatch.setattr(trials, "seek_cost", lambda _, result=result: result)
        assert ("without seeks" in steps.cost(reading).statement) is message


@pytest.mark.parametrize(
    ("direction", "message"), [("write", {}), ("read", {"direct": 1.0, "ahead": 0.0, "depth": 20.0})]
)
def test_of_writes_and_of_what_passes_the_cache_nothing_is_predicted(direction, message):
    result = chain.single(Reading("A", phase(direction=direction, **message)), direction, {})
    assert "readahead" not in result.link("depth").statement + " ".join(result.summary)
    assert result.link("depth").verdict is Verdict.SHOWN and result.link("depth").values[0].predicted is None


@pytest.mark.parametrize(
    ("depth", "streams", "verdict"), [(4, 2, Verdict.SHOWN), (4, 1, Verdict.NOT_SHOWN), (5, 1, Verdict.CONTRADICTED)]
)
def test_two_streams_have_twice_as_much_in_flight(depth, streams, verdict):
    result = steps.depth([Reading("A", phase(depth=float(depth), streams=streams))], "read")
    assert result.verdict is verdict
    knobs = {
        Verdict.SHOWN: "as readahead predicts (1 to 4 for 2 streams)",
        Verdict.NOT_SHOWN: "up to twice the predicted 1 to 2, as with POSIX_FADV_SEQUENTIAL",
        Verdict.CONTRADICTED: "NOT the predicted 1 to 2",
    }
    assert result.statement.endswith(knobs[verdict])


@pytest.mark.parametrize(("words", "message"), [
    (["--bogus"], "not understood: --bogus. See: raidctl explain --help"), ([], "name a RECORDING"),
    (["a.rtdb", "--from", "2", "--to", "1"], "--from 2 is not before --to 1"),
    (["a.rtdb", "--from", "2", "--to", "2"], "--from 2 is not before --to 2"),
])  # fmt: skip
def test_usage_says_what_is_wrong(words, message):
    done = call(cli_explain.main, *words)
    assert done.returncode == 2 and message in done.stderr, done.stderr


def test_a_reader_that_left_ends_it_as_a_signal_would(tmp_path):
    path = record(tmp_path)
    for words in ([], ["--json"]):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as output:
            done = subprocess.run([EXPLAIN, *words, path], stdout=output, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (141, "")


def test_a_recording_of_several_phases_opens_with_a_row_each_in_order_of_time(tmp_path):
    """The longest phase is in the middle. Each row has the phase's name and its sentence."""
    explanation = explain_runs.one(
        record(tmp_path, [("write", {}), ("rewrite", {"seconds": 40.0}), ("read", {"depth": 1})])
    )
    assert [name for name, _ in explanation.opening] == ["write", "rewrite", "read"]
    assert explanation.chains[0].phase == "rewrite"
    knobs = {chain.phase: chain.summary[0].partition(" Open: ")[0] for chain in explanation.chains}
    assert dict(explanation.opening) == knobs and len(set(knobs.values())) > 1
    lines = evidence.text(explanation, 80)
    names = [line.split()[0] for line in lines if line.startswith(("write ", "rewrite ", "read "))]
    assert names == ["write", "rewrite", "read"]
    assert json.loads(explanation.to_json())["opening"] == [list(row) for row in explanation.opening]


def test_a_recording_of_one_phase_and_a_pair_have_no_such_rows(tmp_path):
    one, two = (record(tmp_path / name, phases) for name, phases in
                (("a", [("read", {})]), ("b", [("write", {}), ("read", {})])))  # fmt: skip
    assert explain_runs.one(one).opening == () and explain_runs.two(two, two).opening == ()
    assert explain_runs.one(two, explain_runs.Choice(phase="read")).opening == ()


def test_the_rows_name_the_disk_where_there_are_several():
    chains = [
        Chain("t", disk, phase, direction, Verdict.SHOWN, (), (), (f"{phase} of {disk}: {direction}. Open: much.",))
        for phase in ("late", "early") for disk in ("sda", "sdb") for direction in ("write", "read")
    ]  # fmt: skip
    assert opening(("early", "between", "late"), chains) == tuple(
        (f"{phase} {disk}", f"{phase} of {disk}: write.") for phase in ("early", "late") for disk in ("sda", "sdb")
    )


def test_no_rate_of_the_disk_decides_who_is_faster(tmp_path):
    """More readahead moves eight times the bytes for the same calls: the rate doubles, and the program takes longer."""
    few = record(tmp_path / "a", (("read", {"requests": 512, "seconds": 1.0}),), command=CALLS)
    many = record(tmp_path / "b", (("read", {"depth": 8}),), {"readahead_sectors": "16384"}, command=CALLS)
    (chain,) = explain_runs.two(few, many).chains
    text = " ".join(chain.summary)
    assert chain.summary[0].startswith("B took 4.00 times as long as A for the same work") and "faster" not in text
    assert "It moved x8.00 the bytes: 64 MiB -> 512 MiB." in text
    assert chain.story is Verdict.INFERRED and "Inferred cause: readahead." in text
    assert (chain.effect, chain.link("work").verdict) == (4.0, Verdict.SHOWN)


@pytest.mark.parametrize("calls", [None, {**CALLS, "rchar": 500 * MIB}, {**CALLS, "syscr": 4000}])
def test_nobody_is_faster_where_the_work_differs_or_is_not_known(tmp_path, calls):
    slow = record(tmp_path / "a", command=CALLS)
    fast = record(tmp_path / "b", (("read", {"depth": 8, "seconds": 1.0}),), {"nr_requests": "64"}, command=calls)
    (chain,) = explain_runs.two(slow, fast).chains
    assert "neither is called faster" in chain.summary[0] and "is faster by" not in " ".join(chain.summary)
    assert chain.link("work").verdict is (Verdict.NOT_AVAILABLE if calls is None else Verdict.CONTRADICTED)


def test_the_breakdown_comes_before_any_cause_and_changes_nothing_else(tmp_path):
    path = record(tmp_path, (("first", {}), ("second", {"depth": 8})))
    explanation = explain_runs.one(path)
    bare = dataclasses.replace(explanation, breakdowns=())
    lines, before = evidence.text(explanation, 80), evidence.text(bare, 80)
    first = lines.index("sda, first, 4.00 s: 1,024 reads a second of 128 KiB, 128.0 MiB/s")
    assert lines[:2] == before[:2] and lines[first - 1] == ""
    added = len(lines) - len(before)
    assert [*lines[:1], *lines[1 + added :]] == before
    assert [(one.disk, one.phase) for one in explanation.breakdowns] == [("sda", "first"), ("sda", "second")]
    now, then = (json.loads(one.to_json()) for one in (explanation, bare))
    times = now.pop("breakdowns")
    assert then.pop("breakdowns") == [] and now == then
    assert [(one["subject"], one["phase"], one["busy_depth"]) for one in times] == [
        ("A", "first", 2.0),
        ("A", "second", 8.0),
    ]
    assert [one.phase for one in explain_runs.one(path, explain_runs.Choice("second")).breakdowns] == ["second"]


def test_the_long_text_has_the_reasons_of_the_breakdown(tmp_path):
    flushes = breakdown.of(span_of({"flush": {"issued": 100, "completed": 100}}, {}, 0, 10**9))
    explanation = dataclasses.replace(explain_runs.one(record(tmp_path)), breakdowns=(flushes,))
    lines = [evidence.text(explanation, 120, verbose) for verbose in (False, True)]
    assert ["only reads and writes have it" in " ".join(some) for some in lines] == [False, True]


def test_the_time_without_requests_is_of_the_command_in_report_and_explain(tmp_path):
    path = record(
        tmp_path, (("run", {"idle": 0.5}),), command={"cpu": 10**9}, meta={"host_available": "cpu command-cpu"}
    )
    explained = json.loads(explain_runs.one(path).to_json())["breakdowns"][0]
    reported = document.load(path)["spans"][0]["breakdown"]
    assert reported == {name: value for name, value in explained.items() if name in reported}
    assert (reported["computing_share_high"], reported["asleep_share_low"]) == (0.25, 0.25)


def test_the_breakdowns_of_two_recordings_have_their_letters(tmp_path):
    a, b = (record(tmp_path / name, (("run", {"depth": depth}),)) for name, depth in (("a", 2), ("b", 8)))
    explanation = explain_runs.two(a, b)
    assert [(one.subject, one.depth) for one in explanation.breakdowns] == [("A", 2.0), ("B", 8.0)]
    lines = evidence.text(explanation, 80)
    assert [line[:9] for line in lines if ", run, " in line] == ["A: sda, r", "B: sda, r"]
