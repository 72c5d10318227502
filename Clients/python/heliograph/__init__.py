"""Drives a Heliograph relay from tests and scripts. Needs nothing but the standard library.

    from heliograph import Relay

    device = Relay().device("left")
    device.start()
    with device.session("test", fps=15) as session:
        session.wait("static", seconds=1)
        session.snapshot("before.png")
        with session.record("test.mp4"):
            session.click(500, 320)
            session.type("Hello\n")
            session.wait("changed", region=(100, 80, 300, 40))

The relay also records by itself, into its library: see `Session.start_recording` and `Library`.

Calls raise `RelayError` if the relay refuses them, and `WaitError` if what they wait for does not happen.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import io
import ipaddress
import json
import os
import secrets
import socket
import ssl
import stat
import threading
import urllib.parse
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Dict, Iterator, Mapping, Optional, Sequence, Tuple, Union

from . import _tone
from ._library import Gap, Library, LibraryChanges, LibraryItem, LibraryPage, LibraryQuery, Recorded, Track

if TYPE_CHECKING:
    import PIL.Image

__all__ = [
    "Relay",
    "Input",
    "Device",
    "Application",
    "Session",
    "Recording",
    "Library",
    "Recorded",
    "LibraryQuery",
    "LibraryItem",
    "LibraryPage",
    "LibraryChanges",
    "Track",
    "Gap",
    "Event",
    "RelayError",
    "WaitError",
]

Region = Tuple[int, int, int, int]
"""A part of a snapshot, in its pixels: x, y, width, height."""

Place = Tuple[float, float]
"""A place on a snapshot, in its pixels: x, y."""

_ANSWER_TIME = 30.0
# More than the relay gives an agent for its actions.
_ACTION_TIME = 120.0
# More than the relay gives an agent for the clipboard.
_CLIPBOARD_TIME = 40.0
_FIRST_PICTURE_TIME = 10.0
_KEY_VARIABLE = "HELIOGRAPH_KEY"
_KEY_FILE_VARIABLE = "HELIOGRAPH_KEY_FILE"
_RELAY_VARIABLE = "HELIOGRAPH_RELAY"
_FINGERPRINT_VARIABLE = "HELIOGRAPH_FINGERPRINT"


class RelayError(Exception):
    """The relay refused a call, or cannot be reached.

    `code` is the problem's stable code, such as `unknown_session`, or `unreachable`. `status` is the HTTP status, or 0.
    """

    def __init__(self, code: str, detail: str, status: int = 0) -> None:
        super().__init__(detail)
        self.code = code
        self.status = status


class WaitError(AssertionError):
    """What was waited for did not happen. `outcome` says why: `timeout`, `source_lost` or `ended`."""

    def __init__(self, message: str, outcome: str) -> None:
        super().__init__(message)
        self.outcome = outcome


class Relay:
    """A relay's HTTP API.

    - `url` defaults to the environment's HELIOGRAPH_RELAY, then to the relay of this machine.
    - `key` defaults to HELIOGRAPH_KEY, then to the key in the file that HELIOGRAPH_KEY_FILE names.
    - `fingerprint` is the SHA-256 of the only certificate to trust. It defaults to HELIOGRAPH_FINGERPRINT.

    Raises `RelayError` if the key would go over plain HTTP to another machine, or if others may read the key file.
    """

    def __init__(
        self, url: Optional[str] = None, key: Optional[str] = None, fingerprint: Optional[str] = None
    ) -> None:
        self.url = (url or os.environ.get(_RELAY_VARIABLE) or "http://127.0.0.1:8420").rstrip("/")
        self._key = key or os.environ.get(_KEY_VARIABLE) or _key_of_file(os.environ.get(_KEY_FILE_VARIABLE))
        self._fingerprint = fingerprint or os.environ.get(_FINGERPRINT_VARIABLE)
        parts = urllib.parse.urlsplit(self.url)
        if self._key and parts.scheme != "https" and not _is_loopback(parts.hostname or ""):
            raise RelayError(
                "insecure", f"{self.url} would send the key where others can read it: use https://, or an SSH tunnel"
            )

    def device(self, name: str = "default") -> "Device":
        """Returns the device of this name. The relay is not asked."""
        return Device(self, name)

    def devices(self) -> Sequence["Device"]:
        """Returns all devices of the relay."""
        return [Device(self, item["device"]) for item in self.call("GET", "/v1/broadcasts")["broadcasts"]]

    def sessions(self, **filters: str) -> Sequence[Mapping[str, Any]]:
        """Returns the sessions in brief; `device`, `name`, `label` and `state` select them."""
        query = {**filters, "brief": "true"}
        return list(self.call("GET", "/v1/sessions", query=query)["sessions"])

    @property
    def library(self) -> Library:
        """The library of recordings. The relay is not asked."""
        return Library(self)

    def events(
        self,
        types: Sequence[str] = (),
        device: Optional[str] = None,
        after: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Iterator["Event"]:
        """Yields what happens, as it happens.

        `types` are types such as `session.started`, or their beginnings. `after` is the id of the last event that was seen:
        later ones that the relay still has come first. The relay sends a sign of life every 15 s.
        The iterator ends with the relay, or after `timeout` seconds without one.
        """
        query = {"types": ",".join(types) or None, "device": device}
        headers = {"Last-Event-ID": after} if after else {}
        with self.open("GET", "/v1/events", query=query, headers=headers, timeout=timeout) as answer:
            fields: Dict[str, str] = {}
            last: Optional[str] = None
            try:
                for text in answer.lines():
                    if text and not text.startswith(":"):
                        name, _, value = text.partition(": ")
                        fields[name] = value
                    elif not text:
                        last = fields.get("id", last)
                        if "data" in fields:
                            yield Event(last, json.loads(fields["data"]))
                        fields = {}
            except (socket.timeout, TimeoutError):
                return

    def call(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        query: Optional[Mapping[str, Any]] = None,
        timeout: float = _ANSWER_TIME,
    ) -> Any:
        """Makes a call and returns the JSON of its answer: for what has no method here."""
        data = None if body is None else json.dumps(body).encode()
        with self.open(method, path, data, query, timeout=timeout) as answer:
            return json.loads(answer.read())

    def open(
        self,
        method: str,
        path: str,
        data: Optional[bytes] = None,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = _ANSWER_TIME,
    ) -> "Answer":
        """Makes a call and returns its answer, to be read and closed."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        target = path + ("?" + urllib.parse.urlencode(given) if given else "")
        sent = dict(headers or {})
        if self._key:
            sent["Authorization"] = f"Bearer {self._key}"
        connection = self._connection(timeout)
        try:
            connection.connect()
            self._check_certificate(connection)
            sock = connection.sock
            connection.request(method, target, body=data, headers=sent)
            response = connection.getresponse()
        except (http.client.HTTPException, OSError) as error:
            connection.close()
            raise RelayError("unreachable", f"no relay answers at {self.url}: {error}") from None
        answer = Answer(connection, response, sock)
        if response.status >= 300:
            with answer:
                raise _problem(response)
        return answer

    def _connection(self, timeout: Optional[float]) -> http.client.HTTPConnection:
        parts = urllib.parse.urlsplit(self.url)
        host = parts.hostname or ""
        if parts.scheme != "https":
            return http.client.HTTPConnection(host, parts.port, timeout=timeout)
        context = ssl.create_default_context()
        if self._fingerprint:
            # The fingerprint is looked at instead, before anything is sent.
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection(host, parts.port, timeout=timeout, context=context)

    def _check_certificate(self, connection: http.client.HTTPConnection) -> None:
        if not self._fingerprint or not isinstance(connection.sock, ssl.SSLSocket):
            return
        found = hashlib.sha256(connection.sock.getpeercert(binary_form=True) or b"").hexdigest()
        if found != self._fingerprint.replace(":", "").lower():
            connection.close()
            raise RelayError("wrong_certificate", f"the relay's certificate has another fingerprint: {found}")


def _key_of_file(path: Optional[str]) -> Optional[str]:
    if not path:
        return None
    try:
        with open(path, encoding="ascii") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise RelayError("insecure", f"the key file {path} is open to others: chmod 600 it")
            return file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise RelayError("insecure", f"cannot read the key file {path}: {error}") from None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Answer:
    """An answer of the relay. `abort` ends `pieces` from another thread."""

    def __init__(
        self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse, sock: socket.socket
    ) -> None:
        self._connection = connection
        self._response = response
        self._sock = sock
        self._aborted = False

    def __enter__(self) -> "Answer":
        return self

    def __exit__(
        self, kind: Optional[type], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._response.close()
        self._connection.close()

    def read(self) -> bytes:
        """Returns the whole body."""
        return self._response.read()

    def header(self, name: str) -> Optional[str]:
        """Returns a header's value."""
        return self._response.getheader(name)

    def pieces(self) -> Iterator[bytes]:
        """Yields the body as it comes."""
        try:
            while piece := self._response.read1(1 << 20):
                yield piece
        except http.client.IncompleteRead as error:
            yield error.partial
        except ConnectionError:
            # The relay resets a connection that ends while it sends.
            if not self._aborted:
                raise

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the body to a file as it comes. Only a whole file gets this path, and replaces an older file.

        Raises `RelayError` with the code `unreachable` if the body breaks off, and `OSError` if the file cannot be
        written. Nothing of it is left then.
        """
        target = os.fspath(path)
        part = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.part")
        with open(part, "xb") as file:
            try:
                for piece in self._whole():
                    file.write(piece)
                file.flush()
                # Else a loss of power could leave the name without the content.
                os.fsync(file.fileno())
                os.replace(part, target)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(part)
                raise

    def _whole(self) -> Iterator[bytes]:
        """Yields the body, and raises if it ends before its length."""
        (length, count) = (self.header("Content-Length"), 0)
        try:
            while piece := self._response.read1(1 << 20):
                count += len(piece)
                yield piece
        except (http.client.HTTPException, OSError) as error:
            raise RelayError("unreachable", f"the relay's answer broke off after {count} bytes: {error}") from None
        if length is not None and count < int(length):
            raise RelayError("unreachable", f"the relay's answer broke off after {count} of {length} bytes")

    def lines(self) -> Iterator[str]:
        """Yields the body's lines as they come."""
        while line := self._response.readline():
            yield line.decode().rstrip("\r\n")

    def abort(self) -> None:
        """Ends the answer: `pieces` comes to its end."""
        self._aborted = True
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It has ended.


def _problem(response: http.client.HTTPResponse) -> RelayError:
    try:
        problem = json.loads(response.read())
        return RelayError(problem["code"], problem["detail"], response.status)
    except (ValueError, KeyError, TypeError):
        return RelayError("http_error", f"the relay answers {response.status} {response.reason}", response.status)


class Event:
    """Something that happened. `id` continues `Relay.events`; the other attributes are the event's fields."""

    def __init__(self, id: Optional[str], fields: Mapping[str, Any]) -> None:
        self.id = id
        self.type: str = fields["type"]
        self.at: str = fields["at"]
        self.device: Optional[str] = fields["device"]
        self.session: Optional[int] = fields["session"]
        self.name: Optional[str] = fields["name"]
        self.state: Optional[str] = fields["state"]

    def __repr__(self) -> str:
        return f"Event({self.type}, device={self.device}, session={self.session}, state={self.state})"


class Input:
    """What `Device` and `Session` do with the desktop's pointer and keyboard.

    Places are pixels of a snapshot of the session; a `Device` has those of the session that its viewers share, or of
    its only one. A whole number is the middle of its pixel. Each method returns when the desktop has taken the action,
    with the relay's answer. Its `startPts` and `pts` are just before the first and the last event, on the session's
    clock: give `startPts` to a wait as `after`, and it sees all that the action changes.

    `geometry` is that of the snapshot that the places are from: see `Session.geometry`. If the screen has another size
    or orientation by now, nothing is done, and `RelayError` has the code `geometry_changed`. `take` takes the device from
    another controller at once.

    All of them raise `RelayError` if the desktop cannot do it (`no_input`), if a place is outside the picture
    (`out_of_range`), or if another controller has the device (`controlled`).
    """

    relay: Relay
    _actions: str
    _defaults: Mapping[str, Any] = {}

    def click(self, x: float, y: float, button: str = "left", count: int = 1, **options: Any) -> Mapping[str, Any]:
        """Clicks there. `button` is `left`, `middle`, `right`, `back` or `forward`."""
        return self._act("click", {"x": x, "y": y, "button": button, "count": count}, options)

    def double_click(self, x: float, y: float, **options: Any) -> Mapping[str, Any]:
        """Clicks there twice with the left button."""
        return self._act("doubleClick", {"x": x, "y": y}, options)

    def tap(self, x: float, y: float, **options: Any) -> Mapping[str, Any]:
        """Taps there with a finger."""
        return self._act("tap", {"x": x, "y": y}, options)

    def swipe(self, begin: Place, end: Place, duration: float = 0.3, **options: Any) -> Mapping[str, Any]:
        """Swipes with a finger, in `duration` seconds."""
        return self._act("swipe", {"from": list(begin), "to": list(end), "duration": duration}, options)

    def drag(self, begin: Place, end: Place, duration: float = 0.3, **options: Any) -> Mapping[str, Any]:
        """Drags with the left mouse button, in `duration` seconds."""
        return self._act("drag", {"from": list(begin), "to": list(end), "duration": duration}, options)

    def scroll(self, x: float, y: float, dx: float = 0, dy: float = 0, **options: Any) -> Mapping[str, Any]:
        """Turns the wheel there, by pixels: right and down are positive. A notch of a wheel is up to 120."""
        return self._act("scroll", {"x": x, "y": y, "dx": dx, "dy": dy}, options)

    def type(self, text: str, **options: Any) -> Mapping[str, Any]:
        """Types the text. Line feeds are Return, tabs are Tab."""
        return self._act("type", text, options)

    def press(self, *chords: str, **options: Any) -> Mapping[str, Any]:
        """Presses keys, such as `enter` or `ctrl+shift+t`, one chord after the other."""
        return self._act("press", " ".join(chords), options)

    def resize(self, width: int, height: int, **options: Any) -> Mapping[str, Any]:
        """Gives the monitor another size. Fails with `no_input` if it has hardware, or its desktop cannot do that."""
        return self._act("resize", {"width": width, "height": height}, options)

    def actions(self, sources: Sequence[Mapping[str, Any]], **options: Any) -> Mapping[str, Any]:
        """Performs actions of W3C WebDriver: https://www.w3.org/TR/webdriver2/#actions. What they leave held is released
        after 2 s without another action, or by `release`."""
        return self._act("actions", list(sources), options)

    def release(self, take: bool = False) -> None:
        """Releases all keys, buttons and fingers of the device, and ends this caller's control of it.

        With `take` also those that another controller holds.
        """
        self.relay.call("DELETE", self._actions, query={"take": "true"} if take else {})

    def _act(self, name: str, value: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
        body = {**self._defaults, **{key: option for key, option in options.items() if option is not None}, name: value}
        return dict(self.relay.call("POST", self._actions, body, timeout=_ACTION_TIME))


class Device(Input):
    """One of the relay's devices."""

    def __init__(self, relay: Relay, name: str) -> None:
        self.relay = relay
        self.name = name
        self._path = "/v1/devices/" + urllib.parse.quote(name, safe="")
        self._actions = self._path + "/actions"
        self._applications = self._path + "/applications"

    def launch(
        self,
        name: Optional[str] = None,
        *arguments: str,
        desktop_file: Optional[str] = None,
        wait: bool = False,
        timeout: float = 10.0,
        take: bool = False,
    ) -> "Application":
        """Launches an application of the relay's configuration, or a desktop file by its id.

        With `wait` it returns when the application has a window, which sway and X11 tell, or raises after `timeout` seconds. If
        a launch fails, nothing of it keeps running.
        """
        body: Dict[str, Any] = {"wait": wait, "timeout": timeout, "take": take}
        if name is not None:
            body["name"] = name
        if desktop_file is not None:
            body["desktopFile"] = desktop_file
        if arguments:
            body["arguments"] = list(arguments)
        answer = self.relay.call("POST", self._applications, body, timeout=timeout + _ANSWER_TIME)
        return Application(self, answer["id"], answer["name"])

    def applications(self) -> Mapping[str, Any]:
        """Returns what was launched (`applications`), and what may be (`launchable`, `desktopFiles`)."""
        return dict(self.relay.call("GET", self._applications))

    def start(self, timeout: float = 15.0, **arguments: Any) -> Mapping[str, Any]:
        """Starts the broadcast, unless it runs, and returns when it has a picture source. See the API for arguments."""
        body = {"timeout": timeout, **arguments}
        return dict(self.relay.call("POST", self._path + "/broadcast/start", body, timeout=timeout + _ANSWER_TIME))

    def stop(self, *, keep_screenshots: bool = False) -> None:
        """Stops the broadcast. Sessions stay. With `keep_screenshots`, the device's screenshots go on feeding them."""
        self.relay.call("POST", self._path + "/broadcast/stop", {"keepScreenshots": keep_screenshots})

    def status(self) -> Mapping[str, Any]:
        """Returns the broadcast's state and figures."""
        return dict(self.relay.call("GET", self._path + "/broadcast"))

    def session(self, name: str = "shared", **settings: Any) -> "Session":
        """Starts the session of this name, or changes it to these settings, and returns it.

        With `record=True` the relay records it into its library. Raises `RelayError` with the code
        `library_unavailable` if the relay has none, or cannot use it.
        """
        session = Session(self, name)
        self.relay.call("PUT", session.path, settings)
        return session

    def clipboard(self, take: bool = False) -> str:
        """Returns the text in the desktop's clipboard. Fails with `empty_clipboard` if it has none."""
        return self._clipboard("text", take).decode()

    def clipboard_image(self, take: bool = False) -> bytes:
        """Returns the PNG image in the desktop's clipboard. Fails with `empty_clipboard` if it has none."""
        return self._clipboard("png", take)

    def _clipboard(self, kind: str, take: bool) -> bytes:
        query = {"type": kind, "take": "true" if take else None}
        with self.relay.open("GET", self._path + "/clipboard", query=query, timeout=_CLIPBOARD_TIME) as answer:
            return answer.read()

    def set_clipboard(self, content: Union[str, bytes], take: bool = False) -> None:
        """Puts a text, or the bytes of a PNG image, into the desktop's clipboard. Programs can paste it until another one
        sets the clipboard, or the capture agent ends."""
        kind = "text/plain; charset=utf-8" if isinstance(content, str) else "image/png"
        data = content.encode() if isinstance(content, str) else content
        query = {"take": "true" if take else None}
        headers = {"Content-Type": kind}
        with self.relay.open("PUT", self._path + "/clipboard", data, query, headers, _CLIPBOARD_TIME) as answer:
            answer.read()

    def template(self, name: str, png: Union[bytes, "os.PathLike[str]", str]) -> None:
        """Uploads a PNG picture for `Session.wait`: bytes, or a file's path. Transparent pixels do not count."""
        if not isinstance(png, bytes):
            with open(png, "rb") as file:
                png = file.read()
        path = f"{self._path}/templates/{urllib.parse.quote(name, safe='')}"
        with self.relay.open("PUT", path, png) as answer:
            answer.read()


class Application:
    """An application that was launched on a device. As a context manager it ends with its block.

    `id` is the relay's. `name` is that of the configuration, or the id of a desktop file.
    """

    def __init__(self, device: Device, id: str, name: str) -> None:
        self.device = device
        self.id = id
        self.name = name
        self._path = f"{device._applications}/{urllib.parse.quote(id, safe='')}"

    def __enter__(self) -> "Application":
        return self

    def __exit__(
        self, kind: Optional[type], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.terminate()

    def focus(self, take: bool = False) -> None:
        """Gives its newest window the keyboard. sway and X11 can do that."""
        self.device.relay.call("POST", self._path + "/focus", {"take": take})

    def terminate(self, take: bool = False) -> Mapping[str, Any]:
        """Ends all its processes, and returns how it ended. After 5 s they are killed."""
        return dict(self.device.relay.call("DELETE", self._path, query={"take": "true"} if take else None))


class Session(Input):
    """A device's session, by its name. As a context manager it ends with its block.

    `geometry` is that of its last `snapshot` or `image`, or `None`.
    """

    def __init__(self, device: Device, name: str) -> None:
        self.device = device
        self.name = name
        self.path = f"/v1/devices/{urllib.parse.quote(device.name, safe='')}/sessions/{urllib.parse.quote(name, safe='')}"
        self.relay = device.relay
        self.geometry: Optional[int] = None
        self._actions = device._actions
        self._defaults = {"session": name}

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: Optional[type], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.stop()

    def status(self) -> Mapping[str, Any]:
        """Returns the session's state and figures."""
        return dict(self.relay.call("GET", self.path))

    def stop(self) -> None:
        """Ends the session, if it is there."""
        self.relay.call("DELETE", self.path)

    def snapshot(self, path: Union[None, str, "os.PathLike[str]"] = None, fresh: bool = True) -> bytes:
        """Returns a picture of the screen as PNG, and writes it to a file if a path is given.

        With `fresh` the frame is captured after the call, if the screen changes; otherwise it may be up to 1 s old.
        """
        query = {"fresh": "true"} if fresh else {}
        with self.relay.open("GET", self.path + "/snapshot.png", query=query) as answer:
            png = answer.read()
            geometry = answer.header("Heliograph-Geometry")
        self.geometry = int(geometry) if geometry else None
        if path is not None:
            with open(path, "wb") as file:
                file.write(png)
        return png

    def image(self, fresh: bool = True) -> "PIL.Image.Image":
        """Returns the snapshot as an image of Pillow, which must be installed."""
        import PIL.Image

        return PIL.Image.open(io.BytesIO(self.snapshot(fresh=fresh)))

    def wait(
        self,
        until: str,
        seconds: Optional[float] = None,
        timeout: float = 30.0,
        region: Optional[Region] = None,
        ignore: Sequence[Region] = (),
        tolerance: Optional[int] = None,
        share: Optional[float] = None,
        template: Optional[str] = None,
        at: Optional[Tuple[int, int]] = None,
        after: Optional[int] = None,
        threshold: Optional[float] = None,
    ) -> Mapping[str, Any]:
        """Waits until the screen has `changed`, is `static`, or `matches` a template, or the template is `gone`; or until
        there is `sound`, or `silence`.

        `seconds` is how long the screen must be unchanged, or the sound or silence must last. `threshold` is the level from
        which on sound counts, in dB below full scale, -120 to 0; default: -50.

        `region` is the part that counts, `ignore` are parts that do not.
        `tolerance` is how far a colour may be off, 0 to 255; `share` is the share of pixels that may be further off, 0 to 1.
        `template` is the name of an uploaded picture, and `at` where its top left corner is. `after` is the `pts` of an earlier
        wait: only changes after it count. It does not go with arguments that compare pixels.

        Returns the relay's answer. Raises `WaitError` if it does not happen within `timeout` seconds.
        """
        query = {
            "until": until,
            "timeout": timeout,
            "for": seconds,
            "region": _numbers(region),
            "ignore": ";".join(_numbers(part) or "" for part in ignore) or None,
            "tolerance": tolerance,
            "share": share,
            "template": template,
            "at": _numbers(at),
            "after": after,
            "threshold": threshold,
        }
        answer: Mapping[str, Any] = self.relay.call(
            "GET", self.path + "/wait", query=query, timeout=timeout + _ANSWER_TIME
        )
        if answer["outcome"] != "happened":
            what = f"{until} {template}" if template else until
            missing = f"the screen of {self.device.name} was not {what}"
            if until in ("sound", "silence"):
                missing = f"there was no {until} from {self.device.name}"
            raise WaitError(
                f"{missing} within {timeout} s ({answer['outcome']})",
                answer["outcome"],
            )
        return answer

    def sound_level(self, seconds: float = 0.5) -> Mapping[str, Any]:
        """Measures how loud the device's sound is: `level` and `loudest`, in dB below full scale, `None` for silence. A
        sine at full scale has -3."""
        return self.relay.call(
            "GET", self.path + "/audio/level", query={"for": seconds}, timeout=seconds + _ANSWER_TIME
        )

    def tone(self, frequency: float, seconds: float = 1.0) -> float:
        """Listens for `seconds`, and returns the share of the sound's power that is at `frequency` in Hz, 0 to 1. 0 if there
        is only silence. Needs ffmpeg.

        A pure tone has nearly 1; one that is 10 Hz beside it, nearly 0."""
        return _tone.share(_tone.listen(self, seconds), frequency)

    def record(self, path: Union[str, "os.PathLike[str]"]) -> "Recording":
        """Records the screen to an MP4 file on this machine while a `with` block lasts."""
        return Recording(self, path)

    def start_recording(self) -> Mapping[str, Any]:
        """Records the session into the relay's library, until `stop_recording` or its end. Returns its state and figures.

        The recording begins with the next keyframe, which the relay asks for. The state's `recording` says how it is
        getting on. Its id finds the files: `library.all(recording=state["recording"]["recording"])`.

        Raises `RelayError` with the code `library_unavailable` if the relay has no library, or cannot use it.
        """
        return dict(self.relay.call("POST", self.path + "/record/start"))

    def stop_recording(self) -> Mapping[str, Any]:
        """Ends the recording into the library, if there is one. Its file is complete when this returns."""
        return dict(self.relay.call("POST", self.path + "/record/stop"))


def _numbers(values: Optional[Sequence[int]]) -> Optional[str]:
    return None if values is None else ",".join(str(value) for value in values)


class Recording:
    """A movie of a session: fragmented MP4, as it comes from the relay. It ends with a whole picture."""

    def __init__(self, session: Session, path: Union[str, "os.PathLike[str]"]) -> None:
        self._session = session
        self._path = path
        self._begun = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._answer: Optional[Answer] = None
        self._error: Optional[OSError] = None

    def __enter__(self) -> "Recording":
        self.start()
        return self

    def __exit__(
        self, kind: Optional[type], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begins, and returns when the movie has its first picture, or after 10 s without one."""
        relay = self._session.device.relay
        self._answer = relay.open("GET", self._session.path + "/stream.mp4", query={"join": "live"}, timeout=None)
        self._thread = threading.Thread(target=self._copy, args=(self._answer,), daemon=True)
        self._thread.start()
        self._begun.wait(_FIRST_PICTURE_TIME)

    def stop(self) -> None:
        """Ends the recording and closes the file. Raises what kept the file from being written."""
        if self._answer is None or self._thread is None:
            return
        self._answer.abort()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _copy(self, answer: Answer) -> None:
        try:
            with answer, open(self._path, "w+b") as file:
                try:
                    for piece in answer.pieces():
                        file.write(piece)
                        if not self._begun.is_set() and _whole_length(file, b"mdat"):
                            self._begun.set()
                finally:
                    self._begun.set()
                    file.truncate(_whole_length(file, b"moov", b"mdat"))
        except OSError as error:
            self._error = error


def _whole_length(file: BinaryIO, *kinds: bytes) -> int:
    """Returns how long the file is up to the end of the last whole box of these kinds (ISO/IEC 14496-12, section 4.2)."""
    length = file.seek(0, os.SEEK_END)
    position = end = 0
    while position + 8 <= length:
        file.seek(position)
        header = file.read(8)
        size = int.from_bytes(header[:4], "big")
        position += size
        if size < 8 or position > length:
            break
        if header[4:] in kinds:
            end = position
    file.seek(0, os.SEEK_END)
    return end
