# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes that are tried first."""

import pathlib

from explain_phase import phase

from raidtrace.explain import limits
from raidtrace.recording.quantities import Reading
from raidtrace.why import changes, experiment


def test_the_names_on_both_sides_exist() -> None:
    """A key that explain renames, or a cause that changes renames, would put nothing first."""
    keys = {
        limit.key
        for direction in ("read", "write")
        for limit in limits.limits(Reading("A", phase(direction=direction)), direction, {})
    }
    few = limits.limits(Reading("A", phase(settings={"nr_requests": "4"})), "read", {})
    assert set(experiment.CHANGES) <= keys | {limit.key for limit in few}
    causes = set(changes.CAUSES.values()) | {cause for cause, _, _ in changes.PROGRAM.values()}
    causes |= {changes.ALONE.cause, changes.unlimited({"/x/io.max": "rbps=1"}).cause}
    assert {cause for named in experiment.CHANGES.values() for cause in named} <= causes


def test_changes_against_the_causes_come_first_and_the_others_stay() -> None:
    """In the order of the causes; none is lost."""
    up, depth, slots = (changes.setting(*text) for text in (
        ("read_ahead_kb", "8192"), ("queue_depth", "32"), ("nr_requests", "256")))  # fmt: skip
    direct, *_ = changes.program(frozenset({"direct"}))
    expected = [direct, up, depth, slots]
    assert experiment.most_likely_first(expected, ()) == expected
    assert experiment.most_likely_first(expected, ("request slots", "readahead")) == [slots, up, direct, depth]
    assert experiment.most_likely_first(expected, ("device", "queue depth")) == [depth, direct, up, slots]


def test_a_recording_that_cannot_be_read_puts_nothing_first(tmp_path: pathlib.Path) -> None:
    """Nor one that is not there."""
    broken = tmp_path / "broken.rtdb"
    broken.write_text("no recording", encoding="utf-8")
    assert (
        experiment.inferred("") == experiment.inferred(str(broken)) == experiment.inferred(str(tmp_path / "none")) == ()
    )
