# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Prometheus for tests: Debian's package unpacked in the cache, not installed, and questions to it.

PROMETHEUS=DIRECTORY in the environment names another one's programs: one of version 3 makes native histograms.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

TOP = pathlib.Path(__file__).resolve().parents[2]
BOARD = TOP / "Documentation/examples/raidtrace-board.json"
RULES = TOP / "Documentation/examples/raidtrace-alerts.yml"
START_S = 60.0  # a busy machine


def programs() -> pathlib.Path:
    """Where prometheus and promtool are."""
    if "PROMETHEUS" in os.environ:
        return pathlib.Path(os.environ["PROMETHEUS"])
    sys.path.insert(0, str(TOP / "tools/lab"))
    from raidlab.apt import debs  # pylint: disable=import-outside-toplevel
    from raidlab.base import cache
    from raidlab.base.progress import Progress

    entry = cache.root() / "vm" / "prometheus"
    with cache.entry(entry, Progress(quiet=True)) as is_new:
        if is_new:
            entry.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["apt-get", "-q", "download", "prometheus"], cwd=entry, check=True, stdout=subprocess.DEVNULL
            )
            for file in entry.glob("*.deb"):
                debs.unpack(file, entry)
                file.unlink()
    return entry / "usr/bin"


class Server:
    """One that scrapes a port; a scrape that takes longer than @interval_s has failed."""

    def __init__(
        self,
        where: pathlib.Path,
        place: pathlib.Path,
        port: int,
        scraped: int,
        interval_s: int = 1,
        patience_s: float = START_S,
    ) -> None:
        self.port, self.log, self.patience_s = port, place / "log", patience_s
        version = subprocess.run([where / "prometheus", "--version"], capture_output=True, text=True, check=True)
        found = re.search(r"version ([0-9]+)", version.stdout + version.stderr)
        self.is_native = bool(found) and int(found[1]) >= 3
        native = (
            "convert_classic_histograms_to_nhcb: true, always_scrape_classic_histograms: true, "
            if self.is_native
            else ""
        )
        (place / "prometheus.yml").write_text(
            f"global: {{scrape_interval: {interval_s}s}}\n"
            f"rule_files: ['{RULES}']\n"
            f"scrape_configs: [{{job_name: raidtrace, {native}static_configs: [{{targets: ['127.0.0.1:{scraped}']}}]}}]\n",
            encoding="utf-8",
        )
        command = [where / "prometheus", f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/tsdb",
                   f"--web.listen-address=127.0.0.1:{port}"]  # fmt: skip
        command += ["--enable-feature=native-histograms"] if self.is_native else []
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)

    def answer(self, query: str) -> list[Any]:
        """The answer to a query now."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
        with urllib.request.urlopen(url, timeout=self.patience_s) as answer:
            return list(json.load(answer)["data"]["result"])

    def query_result(self, query: str) -> list[Any]:
        """The answer to a query, as soon as there is one."""
        end = time.monotonic() + self.patience_s
        while time.monotonic() < end:
            try:
                if found := self.answer(query):
                    return found
            except OSError:
                pass
            time.sleep(0.5)
        return []

    def board(self, without: str = "") -> tuple[int, list[str]]:
        """How many queries the board has, and which it cannot answer; metrics that begin with @without need not be there."""
        panels = json.loads(BOARD.read_text(encoding="utf-8"))["panels"]
        queries = [target["expr"] for panel in panels for target in panel.get("targets", ())]
        bad = []
        for query in queries:
            query = query.replace("$__rate_interval", "1m").replace("$disk", ".*").replace("$instance", ".*")
            try:
                self.answer(query)
            except urllib.error.HTTPError as error:
                bad.append(f"{query}: {error.read().decode()}")
                continue
            named = [name for name in re.findall(r"raidtrace_\w+", query) if not (without and name.startswith(without))]
            bad += [name for name in named if not self.query_result(name)]
        return len(queries), bad

    def end(self) -> None:
        """It goes."""
        self.process.terminate()
        self.process.wait(self.patience_s)
