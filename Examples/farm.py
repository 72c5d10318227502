#!/usr/bin/env python3
"""Takes a picture and a movie of each device of a Heliograph relay, of all devices at once.

Nothing stays behind: sessions are stopped at the end and on Ctrl-C, and what this script could not stop
because it was killed ends by itself after --ttl seconds.
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import stat
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request

# How long the relay may be silent, s: longer than its longest answer takes here, the start of a broadcast.
SILENCE = 90


class Failure(Exception):
    """What went wrong, for people."""


class Relay:
    """A relay's HTTP API: docs/reference/api.md."""

    def __init__(self, url, key):
        address = urllib.parse.urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise Failure(f"{url} is no address of a relay; one is http://127.0.0.1:8420")
        if key and address.scheme == "http" and address.hostname not in ("127.0.0.1", "::1", "localhost"):
            raise Failure(f"{url} is not encrypted: a key is sent by https:// only")
        self.url = url.rstrip("/")
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def open(self, method, path, body=None):
        """Returns the response. The caller reads and closes it."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, self.headers, method=method)
        try:
            return urllib.request.urlopen(request, timeout=SILENCE)
        except urllib.error.HTTPError as error:
            with error:
                try:
                    raise Failure(json.load(error)["detail"]) from None
                except (ValueError, KeyError, TypeError):
                    raise Failure(f"{self.url} is no relay: it answers {error.code} {error.reason}") from None
        except OSError as error:
            raise Failure(f"no answer from {self.url}: {getattr(error, 'reason', error)}") from None

    def get(self, path):
        with self.open("GET", path) as answer:
            return json.load(answer)

    def post(self, path, **body):
        with self.open("POST", path, body) as answer:
            return json.load(answer)

    def save(self, path, file):
        """Writes a response that is not JSON to a file, until it ends."""
        with self.open("GET", path) as answer, open(file, "wb") as output:
            shutil.copyfileobj(answer, output)


class Farm:
    """What is done with the devices, and the sessions that it has started."""

    def __init__(self, relay, options):
        self.relay = relay
        self.options = options
        self.sessions = set()
        self.is_stopping = False

    def run(self, device):
        """Everything with one device; the words say what came of it."""
        options = self.options
        # A running broadcast continues. The ttl stops it, not this script: others may use it too.
        self.relay.post("/screencapture/broadcast/start", device=device, timeout=60, ttl=options.ttl)
        session = self.relay.post("/screencapture/start", device=device, label="farm.py", ttl=options.ttl)
        path = f"/screencapture/{session['id']}"
        self.sessions.add(path)
        try:
            if self.is_stopping:
                raise Failure("interrupted")
            self.relay.get(f"{path}/wait?until={options.until}&timeout=60")
            self.relay.save(f"{path}/snapshot.png?fresh=true", options.output / f"{device}.png")
            # The movie ends with its session, and so with its last picture whole.
            end = threading.Timer(options.seconds, self.stop, [path])
            end.start()
            try:
                self.relay.save(f"{path}/stream.mp4?join=live", options.output / f"{device}.mp4")
            finally:
                end.cancel()
            if self.is_stopping:
                raise Failure("interrupted")
        finally:
            self.stop(path)
        return f"{device}.png, {device}.mp4"

    def stop(self, path):
        """Stops a session. One that cannot be stopped has ended, or ends by its ttl."""
        self.sessions.discard(path)
        with contextlib.suppress(Failure):
            self.relay.post(f"{path}/stop")

    def interrupt(self):
        """Ends what waits and what records, by stopping its session."""
        self.is_stopping = True
        for path in list(self.sessions):
            self.stop(path)


def read_key():
    """The API key, from the environment or a file: a command line would show it to every user of the machine."""
    if key := os.environ.get("HELIOGRAPH_KEY"):
        return key.strip()
    if not (path := os.environ.get("HELIOGRAPH_KEY_FILE")):
        return None
    try:
        with open(path, encoding="ascii") as file:
            if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise Failure(f"the key file {path} is open to others: chmod 600 it")
            return file.read().strip()
    except (OSError, UnicodeError) as error:
        raise Failure(f"cannot read the key file {path}: {error}") from None


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="A relay that wants a key gets that of HELIOGRAPH_KEY, else of the file HELIOGRAPH_KEY_FILE. "
        "SSL_CERT_FILE names\nthe certificate of a relay that made its own.",
    )
    default = os.environ.get("HELIOGRAPH_RELAY", "http://127.0.0.1:8420")
    parser.add_argument("devices", nargs="*", metavar="DEVICE", help="default: all that the relay has")
    parser.add_argument("--relay", default=default, metavar="URL", help="default: HELIOGRAPH_RELAY, else http://127.0.0.1:8420")
    parser.add_argument("--output", type=pathlib.Path, default=".", metavar="DIR", help="where DEVICE.png and DEVICE.mp4 go; default: here")
    parser.add_argument("--seconds", type=float, default=10, metavar="N", help="how long is recorded, s; default: 10")
    parser.add_argument("--until", choices=("static", "changed"), default="static", help="what the screens are waited for to be; default: static")
    parser.add_argument("--ttl", type=int, default=30, metavar="N", help="s after which what nobody uses any more ends by itself; default: 30")
    return parser.parse_args()


def main():
    options = parse_arguments()
    relay = Relay(options.relay, read_key())
    options.output.mkdir(parents=True, exist_ok=True)
    known = [broadcast["device"] for broadcast in relay.get("/screencapture/broadcasts")["broadcasts"]]
    farm = Farm(relay, options)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=100) as pool:
        runs = {pool.submit(farm.run, device): device for device in options.devices or known}
        try:
            for run in concurrent.futures.as_completed(runs):
                try:
                    print(f"{runs[run]}: {run.result()}", flush=True)
                except (Failure, OSError, http.client.HTTPException) as failure:
                    failures += 1
                    print(f"{runs[run]}: {failure}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            farm.interrupt()
            raise
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"farm.py: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
