"""Tests of the library: HELIOGRAPH_RELAY is a relay that has one, HELIOGRAPH_RELAY_WITHOUT_LIBRARY one that has none."""

import datetime
import http.server
import os
import pathlib
import subprocess
import threading
import time

import pytest

from heliograph import Library, Recorded, Relay, RelayError, Session


@pytest.fixture(scope="module")
def device():
    device = Relay().device()
    device.start()
    return device


@pytest.fixture
def library(device):
    """The library, which has nothing more at the end of a test than at its beginning."""
    library = device.relay.library
    former = {item["id"] for item in library.all()}
    yield library
    for item in list(library.all()):
        if item["id"] not in former:
            library.item(item["id"]).delete()


def wait_until_recorded(session: Session):
    """Returns the session's state when the library has its recording."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        state = session.status()
        if state["recording"]["item"] is not None:
            return state
        time.sleep(0.05)
    raise AssertionError("nothing was recorded within 10 s")


def record(device, name: str, seconds: float = 0.0, **settings):
    """Records a session of this name, and returns its only item."""
    with device.session(name, record=True, **settings) as session:
        recording = wait_until_recorded(session)["recording"]["recording"]
        time.sleep(seconds)
    (item,) = device.relay.library.all(recording=recording)
    return item


def length(movie: pathlib.Path) -> float:
    words = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(movie)]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def play(movie: pathlib.Path):
    """Decodes a movie, which must not have errors."""
    # Not to "null", which complains about a first picture that is shown for less than a frame's time.
    words = ["ffmpeg", "-v", "warning", "-i", str(movie), "-y", "-f", "rawvideo", os.devnull]
    assert subprocess.run(words, check=True, capture_output=True, text=True).stderr == ""


def code(call) -> str:
    with pytest.raises(RelayError) as caught:
        call()
    return caught.value.code


def test_a_session_is_recorded_from_start_to_stop(device, library, tmp_path: pathlib.Path):
    with device.session("door") as door:
        assert door.status()["recording"] is None
        assert door.start_recording()["record"] is True
        state = wait_until_recorded(door)
        stopped = door.stop_recording()
        assert stopped["record"] is False and stopped["recording"] is None
        (item,) = library.all(recording=state["recording"]["recording"])
        assert item["id"] == state["recording"]["item"] and item["state"] == "complete"
        assert (item["device"], item["session"], item["name"]) == (device.name, state["id"], "door")
        assert (item["width"], item["height"], item["number"]) == (1280, 720, 0) and item["seconds"] > 0
        assert [track["kind"] for track in item["tracks"]] == ["video"] and item["gaps"] == []
        library.item(item["id"]).file(tmp_path / "door.mp4")
        assert (tmp_path / "door.mp4").stat().st_size == item["bytes"]
        play(tmp_path / "door.mp4")
        assert abs(length(tmp_path / "door.mp4") - item["seconds"]) < 0.001
        # Without a recording there is nothing to stop.
        door.stop_recording()


def test_a_recording_that_goes_on_can_be_downloaded_but_not_deleted(device, library, tmp_path: pathlib.Path):
    with device.session("door", record=True) as door:
        item = library.item(wait_until_recorded(door)["recording"]["item"])
        assert item.get()["state"] == "recording"
        item.file(tmp_path / "door.mp4")
        play(tmp_path / "door.mp4")
        assert code(item.delete) == "item_in_use"
    # The session's end completes its file.
    assert item.get()["state"] == "complete"


def test_items_are_listed_by_what_they_are(device, library):
    before = datetime.datetime.now()
    first = record(device, "hall", label="alpha")
    between = datetime.datetime.now(datetime.timezone.utc)
    second = record(device, "yard")
    library.item(second["id"]).change(pinned=True)

    def found(**query):
        ids = {first["id"]: "first", second["id"]: "second"}
        return [ids[item["id"]] for item in library.all(**query) if item["id"] in ids]

    assert found() == ["second", "first"]
    assert found(order="oldest") == ["first", "second"]
    assert found(device=device.name, order="oldest", limit=1) == ["first", "second"]
    assert found(device="nowhere") == []
    assert found(session=second["session"]) == ["second"]
    assert found(recording=first["recording"]) == ["first"]
    assert found(label="label=alpha") == ["first"]
    assert found(state="complete") == ["second", "first"] and found(state="missing") == []
    assert found(since=between) == ["second"]
    assert found(until=between) == ["first"]
    assert found(since=before) == ["second", "first"] and found(until=before) == []
    assert found(since=second["start"]) == ["second"]
    assert found(pinned=True) == ["second"] and found(pinned=False) == ["first"]
    assert found(text="yar") == ["second"] and found(text="alph") == ["first"]
    page = library.list(limit=1)
    assert [item["id"] for item in page["items"]] == [second["id"]]
    assert found(cursor=page["next"]) == ["first"]
    assert code(lambda: library.list(state="lost")) == "unknown_value"
    assert code(lambda: library.list(colour="red")) == "unknown_field"


def test_an_item_is_pinned_labelled_deleted_and_restored(device, library):
    mark = library.changes()["mark"]
    id = record(device, "door", label="alpha")["id"]
    item = library.item(id)
    changes = library.changes(mark)
    assert id in changes["changed"] and changes["removed"] == [] and changes["listAgain"] is False
    changed = item.change(pinned=True, labels={"build": "42", "by": "me = you"})
    assert changed["pinned"] and changed["labels"] == {"label": "alpha", "build": "42", "by": "me = you"}
    assert item.change(labels={"label": None})["labels"] == {"build": "42", "by": "me = you"}
    assert item.change(pinned=False)["pinned"] is False
    assert item.get()["labels"] == {"build": "42", "by": "me = you"}

    mark = library.changes(mark)["mark"]
    assert item.delete()["id"] == id
    assert library.changes(mark)["removed"] == [id]
    assert [code(item.get), code(item.delete), code(lambda: item.change(pinned=True))] == ["unknown_item"] * 3
    assert item.restore()["id"] == id and item.get()["labels"]["build"] == "42"
    assert code(library.item(7).restore) == "unknown_item"


def test_a_clip_has_exactly_the_asked_time(device, library, tmp_path: pathlib.Path):
    found = record(device, "door", 1.0)
    (item, clip) = (library.item(found["id"]), tmp_path / "clip.mp4")
    for given, expected in [
        ({"start": 0.25, "end": 0.75}, 0.5),
        ({"start": 0.4}, found["seconds"] - 0.4),
        ({"end": 0.3}, 0.3),
        ({}, found["seconds"]),
    ]:
        item.clip(clip, **given)
        play(clip)
        assert abs(length(clip) - expected) < 0.002, given
    former = clip.read_bytes()
    assert code(lambda: item.clip(clip, 3600)) == "out_of_range"
    assert code(lambda: library.item(7).file(clip)) == "unknown_item"
    assert clip.read_bytes() == former and os.listdir(tmp_path) == ["clip.mp4"]


class Halves(http.server.BaseHTTPRequestHandler):
    """Answers with half of what it announces."""

    def do_GET(self):
        self.send_response(200)
        if self.path.endswith("/file"):
            self.send_header("Content-Length", "2000")
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"400\r\n" + bytes(994))

    def log_message(self, *words):
        pass


def test_a_download_that_breaks_off_leaves_what_was_there(tmp_path: pathlib.Path):
    with http.server.HTTPServer(("127.0.0.1", 0), Halves) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        item = Relay(f"http://127.0.0.1:{server.server_port}").library.item(7)
        for download, name in [(item.file, "file.mp4"), (item.clip, "clip.mp4")]:
            place = tmp_path / name
            assert code(lambda: download(place)) == "unreachable"
            assert os.listdir(tmp_path) == []
            place.write_bytes(b"old")
            assert code(lambda: download(place)) == "unreachable"
            assert place.read_bytes() == b"old" and os.listdir(tmp_path) == [name]
            place.unlink()
        server.shutdown()


def test_a_file_that_cannot_be_written_is_an_error_of_the_system(device, library, tmp_path: pathlib.Path):
    item = library.item(record(device, "door")["id"])
    (tmp_path / "folder").mkdir()
    for place in [tmp_path / "folder", tmp_path / "missing" / "door.mp4"]:
        with pytest.raises(OSError):
            item.file(place)
    assert os.listdir(tmp_path) == ["folder"] and os.listdir(tmp_path / "folder") == []


def test_a_relay_without_a_library_says_so(tmp_path: pathlib.Path):
    relay = Relay(os.environ["HELIOGRAPH_RELAY_WITHOUT_LIBRARY"])
    device = relay.device()
    device.start()
    item = relay.library.item(7)
    with device.session("door") as door:
        for call in [
            lambda: device.session("other", record=True),
            door.start_recording,
            relay.library.list,
            lambda: list(relay.library.all()),
            relay.library.changes,
            item.get,
            lambda: item.change(pinned=True),
            item.delete,
            item.restore,
            lambda: item.file(tmp_path / "door.mp4"),
            lambda: item.clip(tmp_path / "door.mp4"),
        ]:
            assert code(call) == "library_unavailable"
        assert [session["name"] for session in relay.sessions()] == ["door"]
    assert os.listdir(tmp_path) == []


class PagedRelay:
    """Keeps the calls that it gets, and answers with pages."""

    def __init__(self, *pages):
        self.calls = []
        self.pages = list(pages)

    def call(self, method, path, body=None, query=None):
        self.calls.append((method, path, body, query))
        return self.pages.pop(0) if self.pages else {}


@pytest.fixture
def time_zone(monkeypatch: pytest.MonkeyPatch):
    """A time zone five hours behind UTC."""
    monkeypatch.setenv("TZ", "EST5")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_librarys_calls_are_those_that_the_api_has(time_zone):
    relay = PagedRelay()
    library = Library(relay)
    library.list(device="left", pinned=True, limit=5)
    library.list(since=datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc), until="2026-02-01T00:00:00Z")
    # A time without a zone is local.
    library.list(until=datetime.datetime(2026, 1, 31, 12, 0, 0, 500_000))
    library.changes("a.7")
    item = Recorded(relay, 7)
    item.change(pinned=False, labels={"build": "42", "old": None})
    item.change()
    item.restore()
    assert relay.calls == [
        ("GET", "/v1/library", None, {"device": "left", "pinned": "true", "limit": 5}),
        ("GET", "/v1/library", None, {"since": "2026-01-31T12:00:00.000Z", "until": "2026-02-01T00:00:00Z"}),
        ("GET", "/v1/library", None, {"until": "2026-01-31T17:00:00.500Z"}),
        ("GET", "/v1/library/changes", None, {"since": "a.7"}),
        ("PATCH", "/v1/library/7", {"pinned": False, "labels": ["build=42", "old="]}, None),
        ("PATCH", "/v1/library/7", {}, None),
        ("POST", "/v1/library/7/restore", None, None),
    ]


def test_all_items_are_listed_page_after_page_also_after_an_empty_page():
    relay = PagedRelay(
        {"items": [{"id": 3}, {"id": 2}], "next": "x"},
        {"items": [], "next": "y"},
        {"items": [{"id": 1}], "next": None},
    )
    assert [item["id"] for item in Library(relay).all(device="left")] == [3, 2, 1]
    assert [query for (_, _, _, query) in relay.calls] == [
        {"device": "left"},
        {"device": "left", "cursor": "x"},
        {"device": "left", "cursor": "y"},
    ]
