# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/misconceptions.rst: made of what the runs counted, every number of it."""

import textwrap
from collections.abc import Mapping
from typing import Any

from paper2004.misconceptions import EXPERIMENTS, MACHINE, Experiment
from paper2004.plot_misconceptions import label
from paper2004.reproduction_text import heading, table

WIDTH = 120
TITLE = """\
.. SPDX-License-Identifier: GPL-2.0-or-later
.. Made by "make misconceptions"; do not edit.

====================
Eight misconceptions
====================
"""
ABOUT = """The white paper of AMCC (:doc:`reproduction`) names eight things that are often believed of measuring
disks. Each is an experiment here: ``make misconceptions`` runs it, and the verdict is computed from what raidtrace
counted. What the lab cannot show, because processor time is free there, runs in a virtual machine (:doc:`vm`); what
neither can show is said to be out of reach."""
HOW = """In the lab times are simulated: real Linux {kernel} and driver, a model of controller and drives (profile
9500s-12-raid0), so a second run gives the same bits. In the virtual machine, Linux {machine}, times are real and of
an emulated machine, with whatever else the host had to do in them. So all of its runs are made in rounds, in one guest and in
turned order; numbers are the medians of the rounds, and a verdict holds only if each round alone comes to it. Look at
ratios alone, and expect others from another run. The runs are those of
``tools/paper-2004/guest/misconceptions-cell``, what they counted is in ``misconceptions.json``."""


def page(state: Mapping[str, Any]) -> str:
    """The whole page from misconceptions.json."""
    lines = [TITLE, *wrap(ABOUT), "", *wrap(HOW.format(kernel=state["kernel"], machine=state["machine"])), ""]
    lines += heading("In short")
    judged = [(one, one.judge(state["runs"])) for one in EXPERIMENTS]
    lines += table(("", "misconception", "verdict", "where"),
                   [(str(one.number), one.claim, found.verdict, one.where) for one, found in judged])  # fmt: skip
    for one, _ in judged:
        lines += section(one, state)
    return "\n".join(lines).rstrip() + "\n"


def section(one: Experiment, state: Mapping[str, Any]) -> list[str]:
    """One misconception: what was found, the table, the figure, and what it cannot show."""
    found = one.judge(state["runs"])
    lines = heading(f'{one.number}. "{one.claim}"')
    lines += [*wrap(f"**{found.verdict.capitalize()}.** {' '.join(found.sentences)}"), ""]
    lines += [f".. figure:: figures/misconception-{one.number}.svg", f"   :alt: {alt(one, state)}", ""]
    lines += table(found.header, found.rows)
    if one.where == MACHINE:
        lines += ["Measured in the virtual machine.", ""]
    if one.limits:
        lines += [*wrap(one.limits), ""]
    return lines


def alt(one: Experiment, state: Mapping[str, Any]) -> str:
    """What the figure shows, for who does not see it."""
    found = one.judge(state["runs"])
    said = ", ".join(f"{name} {label(value)}" for name, value in found.bars)
    return f"{found.axis}: {said}"


def wrap(text: str) -> list[str]:
    """Lines of a paragraph."""
    return textwrap.wrap(" ".join(text.split()), WIDTH, break_on_hyphens=False, break_long_words=False)
