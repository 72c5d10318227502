"""Tests of the client against a relay whose default device shows the test pattern: HELIOGRAPH_RELAY says where it is."""

import math
import pathlib
import random
import struct
import zlib

import pytest

from heliograph import Device, Relay, RelayError, Session, WaitError, _tone


@pytest.fixture(scope="module")
def device():
    device = Relay().device()
    device.start()
    return device


def png(pixel: bytes) -> bytes:
    """A picture of one pixel of red, green, blue and alpha."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 6, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" + pixel)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def test_a_session_is_started_changed_and_ended_by_name(device):
    with device.session("door", fps=10) as door:
        assert door.status()["fps"] == 10
        assert device.session("door", fps=5).status()["id"] == door.status()["id"]
        assert [item["name"] for item in device.relay.sessions(device=device.name)] == ["door"]
    assert device.relay.sessions() == []
    door.stop()


def test_a_snapshot_is_a_png_file(device, tmp_path: pathlib.Path):
    with device.session("door") as door:
        door.wait("static", seconds=0)
        png = door.snapshot(tmp_path / "door.png")
        assert png.startswith(b"\x89PNG") and (tmp_path / "door.png").read_bytes() == png
        assert door.image().size == (1280, 720)


def test_a_wait_tells_what_changed_and_raises_what_did_not_happen(device):
    with device.session("door") as door:
        answer = door.wait("changed", region=(0, 0, 1280, 720))
        assert answer["outcome"] == "happened" and answer["box"]["width"] > 0
        with pytest.raises(WaitError) as caught:
            door.wait("static", seconds=5, timeout=0.5, tolerance=1)
        assert caught.value.outcome == "timeout"
        door.wait("static", seconds=0.5, ignore=[(0, 0, 1280, 720)])


def test_a_template_is_found_where_it_is(device):
    device.template("dot", png(b"\xff\x00\x80\xff"))
    with device.session("door") as door:
        door.wait("gone", template="dot", at=(0, 0), tolerance=0)
        door.wait("matches", template="dot", at=(0, 0), tolerance=255)
        with pytest.raises(RelayError) as caught:
            door.wait("matches", template="nothing", at=(0, 0))
        assert caught.value.code == "unknown_template"


def test_a_movie_and_events_go_on_beside_a_test(device, tmp_path: pathlib.Path):
    with device.session("door") as door:
        seen = [event.type for event in device.relay.events(types=["session"], after="00-0", timeout=0.5)]
        assert "session.started" in seen
        with door.record(tmp_path / "door.mp4"):
            door.wait("changed", region=(0, 0, 1280, 720))
            door.wait("changed", region=(0, 0, 1280, 720))
        movie = (tmp_path / "door.mp4").read_bytes()
        assert movie[4:8] == b"ftyp" and b"moof" in movie


def test_actions_on_a_device_without_a_desktop_are_refused(device):
    with device.session("door") as door:
        door.snapshot()
        assert door.geometry is not None
        for act in [
            lambda: device.click(1, 2),
            lambda: door.double_click(1, 2),
            lambda: door.tap(1, 2),
            lambda: door.drag((1, 2), (3, 4), duration=0),
            lambda: door.swipe((1, 2), (3, 4), duration=0),
            lambda: door.scroll(1, 2, dy=120),
            lambda: door.type("text"),
            lambda: door.press("ctrl+a"),
            lambda: door.actions([{"type": "key", "id": "k", "actions": [{"type": "keyDown", "value": "a"}]}]),
        ]:
            with pytest.raises(RelayError) as caught:
                act()
            assert caught.value.code == "no_input" and caught.value.status == 409, caught.value
        with pytest.raises(RelayError) as caught:
            door.press("ctrl+nokey")
        assert caught.value.status == 400
        door.release()


class FakeRelay:
    """Keeps the calls that it gets."""

    def __init__(self):
        self.calls = []

    def call(self, method, path, body=None, **others):
        self.calls.append((method, path, body))
        return {"steps": 1, "id": "8d1f60c2b7a94e35", "name": "terminal"}


def test_actions_are_the_calls_that_the_api_has():
    relay = FakeRelay()
    device = Device(relay, "left")
    door = Session(device, "door")
    device.click(1, 2)
    door.click(1.5, 2, "right", 2, geometry=7, take=True)
    door.swipe((1, 2), (3, 4))
    door.press("ctrl+a", "delete")
    door.release()
    path = "/v1/devices/left/actions"
    assert relay.calls == [
        ("POST", path, {"click": {"x": 1, "y": 2, "button": "left", "count": 1}}),
        (
            "POST",
            path,
            {"session": "door", "geometry": 7, "take": True, "click": {"x": 1.5, "y": 2, "button": "right", "count": 2}},
        ),
        ("POST", path, {"session": "door", "swipe": {"from": [1, 2], "to": [3, 4], "duration": 0.3}}),
        ("POST", path, {"session": "door", "press": "ctrl+a delete"}),
        ("DELETE", path, None),
    ]


def test_a_clipboard_that_is_not_there_is_refused(device):
    for use in [
        device.clipboard,
        lambda: device.clipboard_image(take=True),
        lambda: device.set_clipboard("é"),
        lambda: device.set_clipboard(b"\x89PNG\r\n\x1a\n", take=True),
    ]:
        with pytest.raises(RelayError) as caught:
            use()
        assert caught.value.code == "no_input" and caught.value.status == 409, caught.value
    with pytest.raises(RelayError) as caught:
        device.set_clipboard(b"no image")
    assert caught.value.code == "bad_content", caught.value


def test_applications_are_the_calls_that_the_api_has():
    relay = FakeRelay()
    device = Device(relay, "left")
    with device.launch("terminal", "-e", "top", wait=True) as terminal:
        terminal.focus()
    device.launch(desktop_file="org.gnome.Calculator", timeout=5)
    device.applications()
    path = "/v1/devices/left/applications"
    beside = {"take": False}
    assert relay.calls == [
        ("POST", path, {"wait": True, "timeout": 10.0, **beside, "name": "terminal", "arguments": ["-e", "top"]}),
        ("POST", f"{path}/8d1f60c2b7a94e35/focus", beside),
        ("DELETE", f"{path}/8d1f60c2b7a94e35", None),
        ("POST", path, {"wait": False, "timeout": 5, **beside, "desktopFile": "org.gnome.Calculator"}),
        ("GET", path, None),
    ]


def test_an_application_that_the_configuration_lacks_is_refused(device):
    assert device.applications() == {"applications": [], "launchable": [], "desktopFiles": False}
    for launch in [lambda: device.launch("terminal"), lambda: device.launch(desktop_file="org.gnome.Calculator")]:
        with pytest.raises(RelayError) as caught:
            launch()
        assert caught.value.code == "unknown_application" and caught.value.status == 404, caught.value


def test_errors_say_what_is_wrong(device):
    with pytest.raises(RelayError) as caught:
        device.session("door", fps=1000)
    assert caught.value.code == "out_of_range" and caught.value.status == 400
    with pytest.raises(RelayError) as caught:
        Relay("http://127.0.0.1:9").devices()
    assert caught.value.code == "unreachable"


def test_a_key_is_kept_from_others(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
    for url in ["http://192.0.2.1:8420", "http://127.example:8420"]:
        with pytest.raises(RelayError) as caught:
            Relay(url, key="secret")
        assert caught.value.code == "insecure" and "secret" not in str(caught.value)
    for url in ["http://localhost:1", "http://[::1]:1", "http://127.0.0.1:1", "https://wall:8420"]:
        Relay(url, key="secret")
    file = tmp_path / "key"
    file.write_text("secret\n")
    file.chmod(0o644)
    monkeypatch.delenv("HELIOGRAPH_KEY", raising=False)
    monkeypatch.setenv("HELIOGRAPH_KEY_FILE", str(file))
    with pytest.raises(RelayError, match="chmod 600"):
        Relay()
    file.chmod(0o600)
    Relay()


def test_a_tone_is_told_from_others_and_from_noise():
    def sine(frequency: float):
        return [round(8000 * math.sin(2 * math.pi * frequency * index / _tone.RATE)) for index in range(_tone.RATE)]

    tone = sine(1000)
    assert _tone.share(tone, 1000) > 0.999
    assert _tone.share(tone, 1010) < 0.001
    assert 0.49 < _tone.share([one + other for one, other in zip(tone, sine(440))], 1000) < 0.51
    noise = [round(random.Random(index).uniform(-8000, 8000)) for index in range(_tone.RATE)]
    assert _tone.share(noise, 1000) < 0.01
    assert _tone.share([0] * 100, 1000) == 0
    assert _tone.share([], 1000) == 0
