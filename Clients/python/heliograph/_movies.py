"""Movies of tests, for the pytest plugin."""

from __future__ import annotations

import datetime
import pathlib
import time
from typing import List, Optional, Tuple, Union

from . import Device, LibraryItem, RelayError, Session, WaitError

#: The label of the plugin's sessions and recordings: finds those of runs that were killed.
LABEL = "pytest"
#: How long a test's first picture may take, s.
PATIENCE = 10.0

Span = Tuple[float, float]
"""A test's beginning and end, on `time.monotonic`."""


class RelayMovie:
    """The movie of a test: a clip of the relay's recording of the test's session.

    `end` deletes the recording, unless it is pinned or the download fails.
    """

    def __init__(self, session: Session, path: pathlib.Path) -> None:
        self.session = session
        self.note = ""
        self._path = path
        state = session.status()["recording"]
        self._recording: Optional[str] = state and state["recording"]
        self._offset = _clock_offset(session)

    def end(self, span: Optional[Span]) -> List[pathlib.Path]:
        """Ends the session and its recording, and returns the files with the movie of that time. Without a time there are
        none.

        If there is no movie of that time, `note` says why.
        """
        problem = self._problem()
        self.session.stop()
        try:
            items = self._items()
        except RelayError as error:
            self.note = f"no movie: {error}"
            return []
        try:
            paths = self._fetch(items, span) if span else []
        except (RelayError, OSError) as error:
            self._keep(items, f"{error}")
            return []
        if span and not paths:
            self.note = f"no movie: {problem or 'the relay recorded no picture in the time of the test.'}"
        elif span and problem:
            self.note = f"the movie may lack a part: {problem}"
        self._delete(items)
        return paths

    def _problem(self) -> Optional[str]:
        """Returns why the relay cannot record at the moment, for people."""
        try:
            state = self.session.status()["recording"]
        except RelayError:
            return None  # The test has ended its session.
        problem: Optional[str] = state and state["problem"]
        return problem

    def _items(self) -> List[LibraryItem]:
        if self._recording is None:
            return []
        items = self.session.relay.library.all(recording=self._recording, order="oldest")
        return [item for item in items if item["state"] != "missing"]

    def _fetch(self, items: List[LibraryItem], span: Span) -> List[pathlib.Path]:
        (library, path) = (self.session.relay.library, self._path)
        parts = []
        for item in items:
            begin, end = (0.0, item["seconds"])
            if self._offset is not None:
                # From the test's clock to the file's.
                change = self._offset - _seconds(item["start"])
                # A picture's time may be a little after the relay had it. The shortest test gets a picture, too.
                over = max(span[1], span[0] + 2 / max(item["fps"], 1))
                begin = max(begin, span[0] + change)
                end = min(end, over + change)
            if begin < end:
                parts.append((item, begin, end))
        if not parts:
            return []
        (first, begin, _), (last, _, end) = (parts[0], parts[-1])
        if last["id"] != first["id"]:
            end += _seconds(last["start"]) - _seconds(first["start"])
        try:
            library.item(first["id"]).clip(path, begin, end)
            return [path]
        except RelayError as error:
            if error.code != "out_of_range" or len(parts) == 1:
                raise
        # The picture's size or encoding changes. No test's name has a dot, so these names belong to no other one.
        paths = [path] + [path.with_suffix(f".{number}{path.suffix}") for number in range(2, len(parts) + 1)]
        for place, (item, begin, end) in zip(paths, parts):
            library.item(item["id"]).clip(place, begin, end)
        return paths

    def _keep(self, items: List[LibraryItem], reason: str) -> None:
        (name, ids) = (self._path.stem, " ".join(str(item["id"]) for item in items))
        self.note = f"no movie: {reason}. The relay keeps the recording, with the label test={name}: {ids}"
        try:
            for item in items:
                self.session.relay.library.item(item["id"]).change(labels={"test": name})
        except RelayError as error:
            self.note = f"no movie: {reason}. The relay keeps the recording, without a label ({error}): {ids}"

    def _delete(self, items: List[LibraryItem]) -> None:
        for item in items:
            if item["pinned"]:
                continue
            try:
                self.session.relay.library.item(item["id"]).delete()
            except RelayError as error:
                if error.code != "unknown_item":
                    self.note = f"{self.note}\nthe recording {item['id']} could not be deleted: {error}".strip()


class LocalMovie:
    """The movie of a test that this process records, because the relay has no library."""

    def __init__(self, session: Session, path: pathlib.Path, reason: str) -> None:
        self.session = session
        self.note = f"pytest recorded this movie itself, because the relay's library cannot be used: {reason}"
        self._path = path
        self._recording = session.record(path)
        self._recording.start()

    def end(self, span: Optional[Span]) -> List[pathlib.Path]:
        """Ends the session and the movie, and returns its file. Without a time the file is deleted."""
        try:
            self._recording.stop()
        finally:
            self.session.stop()
        if span:
            return [self._path]
        self._path.unlink()
        return []


def begin(device: Device, name: str, path: pathlib.Path) -> Union[RelayMovie, LocalMovie]:
    """Starts a test's session and its recording. Movies of an earlier run are deleted."""
    for old in path.parent.glob(f"{path.stem}.*mp4"):
        if old.is_file():
            old.unlink()
    try:
        session = device.session(name, record=True, label=LABEL)
    except RelayError as error:
        if error.code != "library_unavailable":
            raise
        (session, reason) = (device.session(name, label=LABEL), f"{error}")
    else:
        reason = ""
    try:
        return LocalMovie(session, path, reason) if reason else RelayMovie(session, path)
    except BaseException:
        session.stop()
        raise


def _clock_offset(session: Session) -> Optional[float]:
    """Returns what to add to `time.monotonic` for the relay's time. Waits for the first picture; `None` without one."""
    try:
        answer = session.wait("static", seconds=0, timeout=PATIENCE)
    except (RelayError, WaitError):
        return None
    now: float = _seconds(answer["at"]) + answer["staticMs"] / 1000
    return now - time.monotonic()


def _seconds(text: str) -> float:
    """Returns a time of the API in seconds since 1970."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
