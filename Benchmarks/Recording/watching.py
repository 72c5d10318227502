"""A viewer that keeps when pictures come."""

import http.client
import re
import socket
import threading
import time

from scene import eventually

#: The first slice of a picture in H.264's byte stream: types 1 and 5, with the first macroblock.
PICTURE = re.compile(rb"\x00\x00\x01[\x01\x05!%AEae][\x80-\xff]")


class Viewer:
    """Reads a session's ``stream.h264`` in a thread. Use it as a context."""

    def __init__(self, studio, session):
        self._connection = http.client.HTTPConnection("127.0.0.1", studio.ports["http"], timeout=60)
        self._path = f"/v1/sessions/{session}/stream.h264"
        #: When each picture came, in monotonic s.
        self.times = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        try:
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        except (OSError, AttributeError):
            # The relay has closed it.
            pass
        self._thread.join(5)
        self._connection.close()

    def wait_for(self, count, limit=20.0):
        """Waits for this many pictures from now on."""
        goal = len(self.times) + count
        eventually(f"{count} pictures of a viewer", lambda: len(self.times) >= goal, limit, 0.05)

    def longest_pause(self, begin, end):
        """The longest time without a picture between two moments, in s."""
        times = [begin, *(moment for moment in list(self.times) if begin < moment < end), end]
        return max(after - before for before, after in zip(times, times[1:]))

    def _run(self):
        try:
            self._connection.request("GET", self._path)
            self._follow(self._connection.getresponse())
        except (OSError, http.client.HTTPException, AttributeError, ValueError):
            # The relay has ended, or the viewer.
            pass

    def _follow(self, response):
        rest = b""
        while data := response.read1(1 << 16):
            data = rest + data
            self.times += [time.monotonic()] * len(PICTURE.findall(data))
            rest = data[-4:]
