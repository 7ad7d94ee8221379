# SPDX-License-Identifier: GPL-2.0-or-later
"""Headless Chromium: pages, screenshots, prints; and axe-core."""

import base64
import os
import pathlib
import subprocess
import tarfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

AXE_VERSION = "4.14.1"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "raidtrace" / "axe"
DRIVER = "/usr/bin/chromedriver"
INK_SHARE = 0.002  # a sheet with less of it that is not white has nothing on it
MOST_INK = 0.5


def _axe() -> str | None:
    """The source of axe-core, fetched once with npm, which compares it with the registry's digest. None: not to be had."""
    archive = CACHE / f"axe-core-{AXE_VERSION}.tgz"
    if not archive.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(["npm", "pack", "--silent", f"axe-core@{AXE_VERSION}"], cwd=CACHE, check=True, timeout=120,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return None
    with tarfile.open(archive) as files:
        member = files.extractfile("package/axe.min.js")
        return member.read().decode("utf-8") if member else None


AXE = _axe()


def open_browser() -> webdriver.Chrome:
    """A browser without a window; closed with quit()."""
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-dev-shm-usage"):
        options.add_argument(word)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium's own does not work for root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service(DRIVER), options=options)
    browser.set_script_timeout(120)
    return browser


def screenshot(browser: webdriver.Chrome, path: pathlib.Path) -> None:
    """The whole page, however long."""
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    path.write_bytes(base64.b64decode(shot["data"]))


def print_to(browser: webdriver.Chrome, directory: pathlib.Path, name: str) -> list[bool]:
    """Print to NAME.pdf and its sheets to PNG; whether each has something on it, and is mostly white for all that."""
    from PIL import Image

    pdf = directory / f"{name}.pdf"
    printed = browser.execute_cdp_cmd(
        "Page.printToPDF", {"preferCSSPageSize": True, "paperWidth": 8.27, "paperHeight": 11.69}
    )
    pdf.write_bytes(base64.b64decode(printed["data"]))
    subprocess.run(["pdftoppm", "-r", "60", "-png", pdf, directory / f"{name}-print"], check=True)
    sheets = []
    for path in sorted(directory.glob(f"{name}-print-*.png")):
        histogram = Image.open(path).convert("L").histogram()
        sheets.append(INK_SHARE < sum(histogram[:200]) / sum(histogram) < MOST_INK)
    return sheets
