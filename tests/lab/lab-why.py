#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1
# lab-long: half a minute of processor a scenario; tests/lab/ctl-why has the way that it goes
"""raidctl why in the lab on scenarios whose cause is known: tests/lab/lab-why.py [all | NAME...], a sample without words.

Right is: the cause, within 25 guests and 60 s of two processors, and the gain that it predicts, measured by a fresh pair of
runs with another seed, within 15 %.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tools/python"), str(TOP / "tests/lab")]

import why_scenarios  # noqa: E402

from raidtrace.why import changes, lab  # noqa: E402

RAIDCTL = TOP / "tools/bin/raidctl"
MOST_RUNS, MOST_SECONDS = 25, 120.0
FRESH_SEED, WITHIN = 77, 0.15


def used() -> float:
    """Seconds of processor of all children so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def again(scenario: why_scenarios.Scenario, found: dict, out: pathlib.Path) -> float:
    """What the change of the verdict gains with a seed that the experiment did not use."""
    row = next(row for row in found["rows"] if row["change"] == found["verdict"]["change"])
    change = changes.Change(row["change"], row["cause"], changes.Kind(row["kind"]), tuple(row["settings"].items()),
                            tuple(row["lab"].items()), row["program"] or "", row["kernel"] or "", row["alone"])  # fmt: skip
    options: dict[str, list[str]] = {}
    for name, value in zip(scenario.options[::2], scenario.options[1::2]):
        options.setdefault(name, []).append(value)
    sets = dict(word.split("=") for word in options.get("--set", ()))
    wanted = lab.Wanted(RAIDCTL, out, options.get("--lab", ["9500s-12-raid0"])[0], scenario.command,
                        prepare=options.get("--prepare", [""])[0], beside=options.get("--beside", [""])[0],
                        sets=sets)  # fmt: skip
    ((before, after),) = lab.Lab(wanted).pairs([(change, FRESH_SEED)], 0)
    if before.failure or after.failure:
        print(f"# the fresh pair: {before.failure or after.failure}", flush=True)
        return 0.0
    return before.seconds / after.seconds


def judge(scenario: why_scenarios.Scenario, out: pathlib.Path) -> tuple[list[str], str]:
    """What is wrong, and what was found in a line."""
    begin = used()
    words = [str(RAIDCTL), "why", "--json", "--quiet", "--out", str(out)]
    words += [] if "--lab" in scenario.options else ["--lab", "9500s-12-raid0"]
    done = subprocess.run([*words, *scenario.options, "--", *scenario.command], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)  # fmt: skip
    seconds = used() - begin
    if done.returncode:
        return [f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"], ""
    found = json.loads(done.stdout)
    verdict = found["verdict"]
    wrong = []
    if frozenset(verdict["causes"]) not in scenario.right:
        wrong.append(f"causes {verdict['causes']}, right is one of {[sorted(answer) for answer in scenario.right]}")
    if not verdict["shown"]:
        wrong.append("it is not shown")
    if found["runs"] > MOST_RUNS:
        wrong.append(f"{found['runs']} runs, at most {MOST_RUNS}")
    if seconds > MOST_SECONDS:
        wrong.append(f"{seconds:.0f} s of processor, at most {MOST_SECONDS:.0f}")
    fresh = again(scenario, found, out / "again") if verdict["change"] else 1.0
    if not fresh or abs(verdict["factor"] / fresh - 1) > WITHIN:
        wrong.append(f"predicted {verdict['factor']:.2f}x, measured {fresh:.2f}x")
    what = " + ".join(verdict["causes"]) or "nothing"
    return wrong, (f"{what} {verdict['factor']:.2f}x (again {fresh:.2f}x), {found['runs']} runs, {seconds:.0f} s of processor\n"
                   f"#   {verdict['sentence']}")  # fmt: skip


def main(words: list[str]) -> int:
    """Exit status 1 if one is wrong."""
    names = words or list(why_scenarios.SAMPLE)
    chosen = [one for one in why_scenarios.SCENARIOS if words == ["all"] or one.name in names]
    failed = 0
    kept = os.environ.get("WHY_OUT")
    for scenario in chosen:
        with tempfile.TemporaryDirectory(prefix="raidtrace-why-", dir="/var/tmp") as temporary:
            out = pathlib.Path(kept or temporary) / scenario.name
            wrong, said = judge(scenario, out)
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} - {scenario.name}: {said}", flush=True)
        for line in wrong:
            print(f"#   WRONG {line}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
