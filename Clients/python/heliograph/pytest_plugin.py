"""A pytest plugin: the fixture `screen` is a session of a device, with pictures of what happened.

    def test_dialog_opens(screen):
        press_the_button()
        screen.wait("matches", template="dialog", at=(412, 300))

The last snapshot of each test is kept, and the movie of each test that fails. Options: `--heliograph-device`,
`--heliograph-artifacts`. The relay and its key come from the environment, as for `heliograph.Relay`.
"""

from __future__ import annotations

import pathlib
import re
from typing import Dict, Iterator

import pytest

from . import Device, Relay, RelayError, Session

_reports = pytest.StashKey[Dict[str, pytest.TestReport]]()


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
    (snapshot, movie) = (folder / f"{name}.png", folder / f"{name}.mp4")
    with device.session(name) as session:
        with session.record(movie):
            yield session
            try:
                session.snapshot(snapshot)
                request.node.add_report_section("call", "heliograph", f"last snapshot: {snapshot}")
            except RelayError as error:
                request.node.add_report_section("call", "heliograph", f"no snapshot: {error}")
    report = request.node.stash.get(_reports, {}).get("call")
    if report is not None and report.failed:
        report.sections.append(("heliograph", f"snapshot: {snapshot}\nmovie: {movie}"))
    else:
        movie.unlink()
