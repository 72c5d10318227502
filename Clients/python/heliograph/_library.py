"""The relay's library of recordings."""

from __future__ import annotations

import datetime
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import Relay

Time = Union[str, datetime.datetime]
"""Such as `2026-01-31T12:00:00Z`. A `datetime` without a time zone is local time."""


class LibraryQuery(TypedDict, total=False):
    """Which items to list. An item must meet all conditions.

    - `device`, `session`: of this device; of the session with this id.
    - `recording`: only the items of this recording.
    - `label`: with this label, as `NAME=VALUE`.
    - `state`: `recording`, `complete`, `interrupted` or `missing`.
    - `since`, `until`: items that began at this time or later; items that began before it. Texts such as
      `2026-01-31T12:00:00Z`, or `datetime`s. One without a time zone is local time.
    - `pinned`: only pinned items, or only others.
    - `text`: words, or beginnings of words, of the device, the session's name and the labels.
    - `order`: `newest` or `oldest` first. Default: `newest`.
    - `cursor`: the `next` of the page before.
    - `limit`: the most items of a page, 1 to 1000. Default: 100.
    """

    device: str
    session: int
    recording: str
    label: str
    state: str
    since: Time
    until: Time
    pinned: bool
    text: str
    order: str
    cursor: str
    limit: int


class Track(TypedDict):
    """A track of an item. `kind` is `video` or `audio`. `codec` is as in RFC 6381, such as `avc1.42C029`."""

    kind: str
    codec: str


class Gap(TypedDict):
    """A time without new pictures because something was lost. The last picture before it stays.

    - `start`: the time in the file, s.
    - `seconds`: how long it lasts.
    - `reason`: `source_lost`, or `queue_full` if the disk was too slow.
    """

    start: float
    seconds: float
    reason: str


class LibraryItem(TypedDict):
    """What the library knows about an item, which is one file of a recording.

    - `id`: for `Library.item`; in the order of time.
    - `recording`, `number`: the recording that it belongs to, and its place in it, from 0.
    - `device`, `session`, `name`: the device, the session's id and its name, or `None`.
    - `labels`: texts by name.
    - `state`: `recording`, `complete`, `interrupted` if it broke off and could not be completed, `missing` if it is gone.
    - `start`: when its first picture was taken. `seconds`: its length.
    - `bytes`, `width`, `height`, `fps`, `tracks`, `keyframes`: the file.
    - `gaps`: times without new pictures.
    - `pinned`: whether it is never deleted to make room.
    - `thumbnail`: whether it has a thumbnail.
    """

    id: int
    recording: str
    number: int
    device: str
    session: int
    name: Optional[str]
    labels: Dict[str, str]
    state: str
    start: str
    seconds: float
    bytes: int
    width: int
    height: int
    fps: float
    tracks: List[Track]
    gaps: List[Gap]
    keyframes: int
    pinned: bool
    thumbnail: bool


class LibraryPage(TypedDict):
    """A page of the library: its `items`, and the `cursor` of the next page (`next`), or `None` at the end."""

    items: List[LibraryItem]
    next: Optional[str]


class LibraryChanges(TypedDict):
    """What has changed in the library.

    - `changed`: the ids of items that are new or have changed. `removed`: those of deleted ones.
    - `mark`: for the next call of `Library.changes`.
    - `listAgain`: whether the mark was too old, so that the library has to be listed again.
    """

    changed: List[int]
    removed: List[int]
    mark: str
    listAgain: bool


class Library:
    """The library of a relay: `Relay.library`.

        for item in relay.library.all(device="left"):
            print(item["id"], item["start"])
        relay.library.item(id).change(pinned=True)

    Its calls raise `RelayError` with the code `library_unavailable` if the relay has none, or cannot use it.
    """

    def __init__(self, relay: "Relay") -> None:
        self.relay = relay

    def list(self, **query: Unpack[LibraryQuery]) -> LibraryPage:
        """Lists items: one page, the newest first. `LibraryQuery` has the conditions.

        A page may be short, or empty, although there is a next one.
        """
        sent = {name: _field(value) for name, value in query.items()}
        page: LibraryPage = self.relay.call("GET", "/v1/library", query=sent)
        return page

    def all(self, **query: Unpack[LibraryQuery]) -> Iterator[LibraryItem]:
        """Yields all items, page after page. `LibraryQuery` has the conditions."""
        while True:
            page = self.list(**query)
            yield from page["items"]
            if page["next"] is None:
                return
            query["cursor"] = page["next"]

    def changes(self, mark: Optional[str] = None) -> LibraryChanges:
        """Says which items have changed since the `mark` of the call before. Without it, only a mark is returned."""
        answer: LibraryChanges = self.relay.call("GET", "/v1/library/changes", query={"since": mark})
        return answer

    def item(self, id: int) -> "Recorded":
        """Returns the item of this id. The relay is not asked."""
        return Recorded(self.relay, id)


class Recorded:
    """An item of the library: one file of a recording.

    Its calls raise `RelayError` with the code `unknown_item` once it is deleted.
    """

    def __init__(self, relay: "Relay", id: int) -> None:
        self.relay = relay
        self.id = id
        self._path = f"/v1/library/{id}"

    def get(self) -> LibraryItem:
        """Returns what the library knows about it."""
        return self._call("GET")

    def change(
        self, pinned: Optional[bool] = None, labels: Optional[Mapping[str, Optional[str]]] = None
    ) -> LibraryItem:
        """Pins it, or changes its labels.

        With `pinned` it is never deleted to make room. `labels` are texts by name; `None` removes a label. Others stay.
        """
        body: Dict[str, Any] = {}
        if pinned is not None:
            body["pinned"] = pinned
        if labels is not None:
            body["labels"] = [f"{name}={'' if value is None else value}" for name, value in labels.items()]
        return self._call("PATCH", body=body)

    def delete(self) -> LibraryItem:
        """Deletes it. `restore` takes that back for 60 s.

        Raises `RelayError` with the code `item_in_use` while it is being recorded.
        """
        return self._call("DELETE")

    def restore(self) -> LibraryItem:
        """Takes a deletion back."""
        return self._call("POST", "/restore")

    def file(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Downloads its file: an MP4, or an MP3 of music. While it is being recorded, the file has what was written so far.

        Only a whole file gets this path, and replaces an older file. If the download breaks off, this raises `RelayError`
        with the code `unreachable`, and nothing of it is left.
        """
        with self.relay.open("GET", self._path + "/file") as answer:
            answer.save(path)

    def clip(
        self, path: Union[str, "os.PathLike[str]"], start: Optional[float] = None, end: Optional[float] = None
    ) -> None:
        """Downloads a part of it, an MP4 that begins exactly at `start`. Nothing is encoded again.

        `start` and `end` are in seconds from the item's beginning. Their defaults are its beginning and its end. `end` may
        be in a later item of the recording. As with `file`, only a whole clip gets this path.

        Raises `RelayError` with the code `out_of_range` if nothing was recorded in that time, if it is a
        file of another program, or if the picture's size or
        encoding changes in it. Then clip each item of the recording.
        """
        with self.relay.open("GET", self._path + "/clip", query={"start": start, "end": end}) as answer:
            answer.save(path)

    def _call(self, method: str, part: str = "", body: Optional[Mapping[str, Any]] = None) -> LibraryItem:
        item: LibraryItem = self.relay.call(method, self._path + part, body)
        return item


def _field(value: Any) -> Any:
    """Returns a value as a query has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value
