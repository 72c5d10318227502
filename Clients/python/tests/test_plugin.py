"""Tests of the pytest plugin: HELIOGRAPH_RELAY is a relay with a library, HELIOGRAPH_RELAY_WITHOUT_LIBRARY one without."""

import os
import pathlib
import subprocess

import pytest

from heliograph import Relay, RelayError, _movies


@pytest.fixture(autouse=True)
def clean():
    """Checks that a test leaves no session and no recording of the plugin, and deletes them if it does."""

    def left():
        sessions = [item for item in relay.sessions() if item["label"] == "pytest"]
        return sessions, list(relay.library.all(label="label=pytest"))

    relay = Relay()
    assert left() == ([], [])
    yield
    (sessions, items) = left()
    for session in sessions:
        relay.call("DELETE", f"/v1/sessions/{session['id']}")
    for item in items:
        relay.library.item(item["id"]).delete()
    assert (sessions, items) == ([], [])


def run(pytester: pytest.Pytester, **outcomes: int) -> pytest.RunResult:
    result = pytester.runpytest_subprocess("-p", "heliograph.pytest_plugin")
    result.assert_outcomes(**outcomes)
    return result


def kept(pytester: pytest.Pytester):
    return sorted(path.name for path in (pytester.path / "heliograph-artifacts").iterdir())


def length(movie: pathlib.Path) -> float:
    words = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(movie)]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def pictures(movie: pathlib.Path) -> int:
    """Decodes a movie, and returns how many pictures it shows."""
    words = ["ffmpeg", "-v", "error", "-i", str(movie), "-vsync", "passthrough", "-f", "framemd5", "-"]
    shown = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    return sum(not line.startswith("#") for line in shown)


A_PASS_AND_A_FAILURE = """
def test_passes(screen): screen.wait("changed", region=(0, 0, 1280, 720))
def test_fails(screen):
    screen.wait("changed", region=(0, 0, 1280, 720))
    assert False
"""


def test_the_plugin_keeps_the_last_snapshot_and_the_movie_of_what_fails(pytester: pytest.Pytester):
    pytester.makepyfile(A_PASS_AND_A_FAILURE)
    result = run(pytester, passed=1, failed=1)
    result.stdout.fnmatch_lines(["last snapshot: *test_fails.png", "movie: heliograph-artifacts/test_fails.mp4"])
    result.stdout.no_fnmatch_line("*pytest recorded*")
    assert kept(pytester) == ["test_fails.mp4", "test_fails.png", "test_passes.png"]


def test_a_movie_lasts_from_the_tests_beginning_to_its_end(pytester: pytest.Pytester):
    pytester.makepyfile(
        """
        import time, pytest

        @pytest.fixture
        def application(screen):
            time.sleep(1.2)
            yield
            time.sleep(1.2)

        def test_fails(screen, application):
            begin = time.monotonic()
            time.sleep(0.7)
            print("lasted", time.monotonic() - begin)
            assert False

        def test_resizes(screen, application):
            time.sleep(0.8)
            screen.device.session(screen.name, record=True, label="pytest", width=320, height=180)
            time.sleep(1.5)
            assert False
        """
    )
    result = run(pytester, failed=2)
    (lasted,) = [float(line.split()[1]) for line in result.outlines if line.startswith("lasted ")]
    artifacts = pytester.path / "heliograph-artifacts"
    assert abs(length(artifacts / "test_fails.mp4") - lasted) < 0.02
    # A size has a file of its own. So the first one's length shows that the movie begins with the test.
    result.stdout.fnmatch_lines(["movie: *test_resizes.mp4", "movie: *test_resizes.2.mp4"])
    lengths = [length(artifacts / name) for name in ("test_resizes.mp4", "test_resizes.2.mp4")]
    assert 0.75 < lengths[0] < 1.2 and abs(sum(lengths) - 2.3) < 0.1, lengths
    assert kept(pytester) == [
        "test_fails.mp4", "test_fails.png", "test_resizes.2.mp4", "test_resizes.mp4", "test_resizes.png",
    ]


def test_the_shortest_tests_have_movies(pytester: pytest.Pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(20))
        def test_fails(screen, number): assert False
        """
    )
    run(pytester, failed=20)
    movies = [name for name in kept(pytester) if name.endswith(".mp4")]
    assert movies == sorted(f"test_fails-{number}.mp4" for number in range(20))
    for name in movies:
        assert pictures(pytester.path / "heliograph-artifacts" / name) >= 1, name


def test_movies_of_an_earlier_run_are_deleted(pytester: pytest.Pytester):
    pytester.makepyfile("def test_one(screen): pass")
    artifacts = pytester.path / "heliograph-artifacts"
    artifacts.mkdir()
    others = ["test_one-2.mp4", "test_one-2.png", "test_on.mp4"]
    for name in ["test_one.mp4", "test_one.2.mp4"] + others:
        (artifacts / name).touch()
    run(pytester, passed=1)
    assert kept(pytester) == sorted(["test_one.png"] + others)


def test_a_test_may_end_its_session(pytester: pytest.Pytester):
    pytester.makepyfile(
        """
        import time

        def test_fails(screen):
            time.sleep(0.7)
            screen.stop()
            assert False
        """
    )
    result = run(pytester, failed=1)
    result.stdout.fnmatch_lines(["no snapshot: *", "movie: heliograph-artifacts/test_fails.mp4"])
    assert 0.65 < length(pytester.path / "heliograph-artifacts/test_fails.mp4") < 0.8


def test_a_relay_without_a_library_leaves_the_movie_to_pytest(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HELIOGRAPH_RELAY", os.environ["HELIOGRAPH_RELAY_WITHOUT_LIBRARY"])
    pytester.makepyfile(A_PASS_AND_A_FAILURE)
    result = run(pytester, passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["movie: heliograph-artifacts/test_fails.mp4", "pytest recorded this movie itself, because *has no library*"]
    )
    assert kept(pytester) == ["test_fails.mp4", "test_fails.png", "test_passes.png"]
    assert length(pytester.path / "heliograph-artifacts/test_fails.mp4") > 0
    assert Relay().sessions() == []


def test_a_recording_whose_download_fails_is_kept_with_a_label(pytester: pytest.Pytester):
    pytester.makepyfile("def test_fails(screen): assert False")
    (pytester.path / "heliograph-artifacts/test_fails.mp4").mkdir(parents=True)
    result = run(pytester, failed=1)
    library = Relay().library
    (item,) = library.all(label="test=test_fails")
    library.item(item["id"]).delete()
    assert item["name"] == "test_fails" and item["state"] == "complete"
    result.stdout.fnmatch_lines([f"no movie: *directory*The relay keeps the recording*test=test_fails: {item['id']}"])


class FakeLibrary:
    """A library of two items, which notes the clips that it gives."""

    def __init__(self, changes: bool):
        self.changes = changes
        self.clips = []
        self.deleted = []
        self.pinned = []

    def all(self, **query):
        assert query == {"recording": "r", "order": "oldest"}
        for id, start, state in [(1, "00.000", "complete"), (3, "05.000", "missing"), (2, "10.500", "interrupted")]:
            start = f"2026-03-01T12:00:{start}Z"
            pinned = id in self.pinned
            yield {"id": id, "start": start, "seconds": 10.0, "state": state, "fps": 20, "pinned": pinned}

    def item(self, id):
        return FakeItem(self, id)


class FakeItem:
    def __init__(self, library, id):
        self.library = library
        self.id = id

    def clip(self, path, start, end):
        if self.library.changes and end > 10:
            raise RelayError("out_of_range", "the size or encoding changes in that time", 400)
        self.library.clips.append((path.name, self.id, round(start, 3), round(end, 3)))

    def delete(self):
        self.library.deleted.append(self.id)


class FakeSession:
    """A session whose recording began at noon. `relay` is the session itself."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, changes: bool = False):
        self.relay = self
        self.library = FakeLibrary(changes)
        self.problem = None
        # The test's clock is at 1000 when the relay's is a second after noon.
        monkeypatch.setattr(_movies.time, "monotonic", lambda: 1000.0)

    def status(self):
        return {"recording": {"recording": "r", "problem": self.problem}}

    def wait(self, until, seconds, timeout):
        return {"at": "2026-03-01T12:00:00.900Z", "staticMs": 100.0}

    def stop(self):
        pass


@pytest.mark.parametrize(
    "changes, span, clips",
    [
        (False, (1001.0, 1003.5), [("test.mp4", 1, 2.0, 4.5)]),
        # The second file begins half a second after the first one's end.
        (False, (1005.0, 1014.0), [("test.mp4", 1, 6.0, 15.0)]),
        (False, (1010.0, 1014.0), [("test.mp4", 2, 0.5, 4.5)]),
        (False, (990.0, 1100.0), [("test.mp4", 1, 0.0, 20.5)]),
        (False, (1009.1, 1009.4), []),
        # A test that is shorter than two pictures.
        (False, (998.98, 998.981), [("test.mp4", 1, 0.0, 0.08)]),
        (True, (1005.0, 1014.0), [("test.mp4", 1, 6.0, 10.0), ("test.2.mp4", 2, 0.0, 4.5)]),
    ],
)
def test_the_clip_is_the_tests_part_of_the_recordings_files(monkeypatch: pytest.MonkeyPatch, changes, span, clips):
    session = FakeSession(monkeypatch, changes)
    movie = _movies.RelayMovie(session, pathlib.Path("test.mp4"))
    session.problem = None if clips else "The disk is full."
    assert [path.name for path in movie.end(span)] == [name for (name, _, _, _) in clips]
    assert session.library.clips == clips and session.library.deleted == [1, 2]
    assert movie.note == ("" if clips else "no movie: The disk is full.")


def test_a_pinned_recording_is_kept_and_a_full_disk_reported(monkeypatch: pytest.MonkeyPatch):
    session = FakeSession(monkeypatch)
    movie = _movies.RelayMovie(session, pathlib.Path("test.mp4"))
    session.problem = "The disk is full."
    session.library.pinned = [2]
    assert movie.end((1001.0, 1003.5)) == [pathlib.Path("test.mp4")]
    assert movie.note == "the movie may lack a part: The disk is full."
    assert session.library.deleted == [1]
