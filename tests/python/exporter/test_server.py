# SPDX-License-Identifier: GPL-2.0-or-later
"""The server of raidctl exporter, and its program with a counting program that fails or ends."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest
from conftest import TOP, program

pytest.importorskip(
    "prometheus_client", reason="prometheus_client is not installed: apt-get install python3-prometheus-client"
)

from raidtrace.cli import exporter  # noqa: E402
from raidtrace.exporter import server  # noqa: E402

START_S = 60


@contextlib.contextmanager
def serving(text):
    """A server; its port."""
    one = server.Server(socket.AF_INET, ("127.0.0.1", 0), text)
    thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield one.server_address[1]
    finally:
        one.shutdown()
        one.server_close()


def get(port, path="/metrics"):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=START_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def connected(port):
    client = socket.create_connection(("127.0.0.1", port), timeout=START_S)
    return client


def test_a_silent_client_is_closed_and_others_are_answered(monkeypatch):
    assert server.Handler.timeout == server.PATIENCE_S == 10
    monkeypatch.setattr(server.Handler, "timeout", 0.5)
    with serving(lambda: b"text") as port, connected(port) as silent, connected(port) as half:
        half.sendall(b"GET /metrics HTTP/1.1\r\nX")
        assert get(port) == (200, b"text")
        assert silent.recv(1) == half.recv(1) == b""  # closed


def test_more_clients_than_connections_wait(monkeypatch):
    """They are answered as soon as silent ones are closed."""
    monkeypatch.setattr(server.Handler, "timeout", 2.0)
    with serving(lambda: b"text") as port, contextlib.ExitStack() as clients:
        begin = time.monotonic()
        for _ in range(server.CONNECTIONS):
            clients.enter_context(connected(port))
        assert get(port) == (200, b"text")
        assert time.monotonic() - begin >= 2.0


def test_a_client_that_reads_nothing_is_closed_and_one_that_reads_slowly_is_not(monkeypatch):
    monkeypatch.setattr(server.Handler, "timeout", 1.5)
    large = b"x" * (16 << 20)
    with serving(lambda: large) as port, connected(port) as client, connected(port) as slow:
        for one in (client, slow):
            one.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        got, begin = 0, time.monotonic()
        while part := slow.recv(1 << 20):
            got += len(part)
            time.sleep(0.2)
        assert got > len(large) and time.monotonic() - begin > 1.5
        rest = 0
        with contextlib.suppress(ConnectionError):
            while part := client.recv(1 << 20):
                rest += len(part)
        assert rest < len(large)


def test_one_scrape_at_a_time():
    """The rows are one pipe."""
    busy, wrong = threading.Lock(), []

    def text():
        if not busy.acquire(blocking=False):
            wrong.append(1)
            return b""
        time.sleep(0.1)
        busy.release()
        return b"text"

    with serving(text) as port:
        threads = [threading.Thread(target=get, args=(port,)) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_an_error_of_ours_is_printed_and_the_next_scrape_is_answered(capsys):
    answers = [b"text", ZeroDivisionError("a defect"), server.Unavailable("no memory"), b"text"]

    def text():
        answer = answers.pop()
        if isinstance(answer, Exception):
            raise answer
        return answer

    with serving(text) as port:
        assert get(port) == (200, b"text")
        assert get(port) == (503, b"no memory\n")
        with pytest.raises(OSError):
            get(port)
        assert get(port, "/metrics?x=1") == (200, b"text")
    assert "a request failed: ZeroDivisionError: a defect" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("listen", "family", "host", "port"),
    [("127.0.0.1:9809", socket.AF_INET, "127.0.0.1", 9809), ("[::1]:1", socket.AF_INET6, "::1", 1),
     ("0.0.0.0:65535", socket.AF_INET, "0.0.0.0", 65535)],  # fmt: skip
)
def test_addresses(listen, family, host, port):
    kind, address = exporter._address(listen)
    assert (kind, *address[:2]) == (family, host, port)


@pytest.mark.parametrize("listen", ["", "1", ":1", "::1:1", "[::1]", "[::1]:", "localhost:1", "1.2.3.4:0", "1.2.3.4:65536",
                                    "[x]:1", "1.2.3.4:1x", "1.2.3:-1", "[1.2.3.4:1"])  # fmt: skip
def test_what_is_no_address(listen):
    assert exporter._address(listen) is None


@pytest.mark.parametrize(
    ("held", "may"), [("0000004000000000", True), ("0000000000200000", True), ("ffffffbfffdfffff", False)]
)
def test_privileges(held, may, tmp_path, monkeypatch):
    (tmp_path / "status").write_text(
        f"Name:\tx\nCapPrm:\tffffffffffffffff\nCapEff:\t{held}\nCapBnd:\tffffffffffffffff\n"
    )
    monkeypatch.setattr(exporter, "STATUS", tmp_path / "status")
    assert exporter._may_observe() is may


PROGRAM = """
import pathlib, sys
sys.path.insert(0, sys.argv.pop(1))
from raidtrace.recording import live
live.RAIDCTL = pathlib.Path(sys.argv.pop(1))
from raidtrace.cli import front
sys.exit(front.run("exporter"))
"""


@contextlib.contextmanager
def running(tmp_path, script):
    """The exporter with a program of ours that counts; its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-B", "-c", PROGRAM, TOP / "tools/python", program(tmp_path / "raidctl", script), "--listen",
             f"127.0.0.1:{port}"]  # fmt: skip
    with subprocess.Popen([*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, port
        finally:
            process.kill()


def test_a_sample_that_fails_is_reported_and_the_exporter_goes_on(tmp_path):
    with running(tmp_path, "while read -r kind; do echo failed the module: no $kind; done") as (process, port):
        assert process.stdout.readline() == f"http://127.0.0.1:{port}/metrics\n"
        for _ in range(2):
            assert get(port) == (503, b"the module: no total\n")
        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate(timeout=START_S)
        assert process.returncode == 0 and complaint == "raidctl exporter: the module: no total\n" * 2


def test_the_exporter_ends_with_the_program_that_counts(tmp_path):
    """A service is started again then."""
    with running(tmp_path, "read -r kind; echo failed; read -r kind; exit 7") as (process, port):
        process.stdout.readline()
        assert get(port) == (503, b"the exporter ends\n")
        process.communicate(timeout=START_S)
        assert process.returncode == 1


def test_a_failure_before_the_first_sample_is_its_status(tmp_path):
    with running(tmp_path, "echo vdz: no such disk >&2; exit 2") as (process, _):
        output, complaint = process.communicate(timeout=START_S)
        assert (process.returncode, output, complaint) == (2, "", "vdz: no such disk\n")


def test_without_its_package_the_error_names_it():
    code = "import sys; sys.modules['prometheus_client'] = None; from raidtrace.cli.front import run; sys.exit(run('exporter'))"
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(TOP / "tools/python")})  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.endswith(
        "prometheus_client, which is not installed: apt-get install python3-prometheus-client\n"
    )
