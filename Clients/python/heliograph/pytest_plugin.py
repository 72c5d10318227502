"""A pytest plugin: the fixture `screen` is a session of a device, with pictures of what happened.

    def test_dialog_opens(screen):
        press_the_button()
        screen.wait("matches", template="dialog", at=(412, 300))

The last snapshot of each test is kept, and the movie of each test that fails. The relay records the movies into its
library; each lasts from the test's beginning to its end. Options: `--heliograph-device`, `--heliograph-artifacts`. The
relay and its key come from the environment, as for `heliograph.Relay`.
"""

from __future__ import annotations

import pathlib
import re
import time
from typing import Dict, Iterator

import pytest

from . import Device, Relay, RelayError, Session, _movies

_reports = pytest.StashKey[Dict[str, pytest.TestReport]]()
_span = pytest.StashKey[_movies.Span]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("heliograph")
    group.addoption("--heliograph-device", default="default", help="The device whose screen tests see.")
    group.addoption(
        "--heliograph-artifacts", default="heliograph-artifacts", help="The folder for snapshots and movies."
    )


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    item.stash.setdefault(_reports, {})[report.when] = report


# The innermost wrapper: the time is that of the test alone.
@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    begin = time.monotonic()
    yield
    item.stash[_span] = (begin, time.monotonic())


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> Device:
    """The device of the option `--heliograph-device`, with its broadcast started."""
    device = Relay().device(request.config.getoption("--heliograph-device"))
    device.start()
    return device


@pytest.fixture
def screen(request: pytest.FixtureRequest, device: Device) -> Iterator[Session]:
    """A session of the device for one test, which keeps its last snapshot and, if the test fails, its movie."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", request.node.name)[:64].strip("-") or "test"
    folder = pathlib.Path(request.config.getoption("--heliograph-artifacts"))
    folder.mkdir(parents=True, exist_ok=True)
    snapshot = folder / f"{name}.png"
    movie = _movies.begin(device, name, folder / f"{name}.mp4")
    failure = None
    try:
        yield movie.session
        report = request.node.stash.get(_reports, {}).get("call")
        failure = report if report is not None and report.failed else None
        try:
            movie.session.snapshot(snapshot)
            said = [f"last snapshot: {snapshot}"]
        except RelayError as error:
            said = [f"no snapshot: {error}"]
        request.node.add_report_section("call", "heliograph", said[0])
    finally:
        files = movie.end(request.node.stash.get(_span, None) if failure else None)
    if failure:
        said += [f"movie: {file}" for file in files] + ([movie.note] if movie.note else [])
        failure.sections.append(("heliograph", "\n".join(said)))
