"""Viewers that decode a screen in memory and tell when the logging client's button changes its colour."""

import socket
import struct
import threading
import time

import av

from scene import Failure

#: A part of the button (Tests/Desktop/input_log.h) without its mark, and far from the place to click on.
PATCH = (170, 105, 90, 30)
CLICK = (106, 86)
#: Between the luma of blue and green, in limited range.
LUMA = 98


class Viewer:
    """A connection with a thread that reads it. ``is_green`` is the button's colour; ``None`` before the first picture."""

    def __init__(self, port, limit=20.0):
        self._connection = connect(port, limit)
        self._changed = threading.Condition()
        self._since = 0
        self.is_green = None
        self._fault = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()
        return self

    def close(self):
        try:
            self._connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._thread.join(5)
        self._connection.close()

    def wait_for_change(self, before, limit=2.0):
        """Waits until the button has another colour than ``before``. Returns the monotonic time in ns."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.is_green not in (before, None) or self._fault, limit):
                raise Failure(f"the picture did not change within {limit:g} s")
            if self._fault:
                raise Failure(f"the viewer ended: {self._fault}")
            return self._since

    def shows(self, is_green):
        """Takes the colour of a picture that has been decoded."""
        now = time.monotonic_ns()
        with self._changed:
            if is_green != self.is_green:
                self.is_green, self._since = is_green, now
                self._changed.notify_all()

    def read(self, count):
        data = bytearray(count)
        view = memoryview(data)
        while view:
            got = self._connection.recv_into(view)
            if got == 0:
                raise EOFError("the server closed the connection")
            view = view[got:]
        return data

    def _run(self):
        try:
            self.follow()
        except (OSError, EOFError, av.error.FFmpegError) as fault:
            with self._changed:
                self._fault = fault
                self._changed.notify_all()


class StreamViewer(Viewer):
    """A viewer of a session's TCP port, in scrcpy's framing, by libavcodec in one thread."""

    def follow(self):
        decoder = av.CodecContext.create("h264", "r")
        decoder.thread_count = 1
        decoder.options = {"flags": "low_delay"}
        sets = b""
        while True:
            word, size = struct.unpack(">QI", self.read(12))
            data = bytes(self.read(size))
            if word >> 63:
                sets = data
                continue
            packet = av.Packet(sets + data)
            sets = b""
            for frame in decoder.decode(packet):
                self.shows(self._luma(frame) > LUMA)

    @staticmethod
    def _luma(frame):
        plane, (left, top, width, height) = frame.planes[0], PATCH
        pixels, stride = memoryview(plane), plane.line_size
        rows = [pixels[y * stride + left : y * stride + left + width] for y in range(top, top + height, 5)]
        return sum(map(sum, rows)) / (len(rows) * width)


class RFBViewer(Viewer):
    """A viewer of a VNC server, with pixels as they are (RFC 6143, raw encoding)."""

    def __init__(self, port):
        super().__init__(port)
        self.read(12)
        self._connection.sendall(b"RFB 003.008\n")
        kinds = self.read(self.read(1)[0])
        if 1 not in kinds:
            raise Failure(f"the VNC server wants a password; it offers {list(kinds)}")
        self._connection.sendall(b"\x01")
        if struct.unpack(">I", self.read(4))[0] != 0:
            raise Failure("the VNC server refuses the connection")
        self._connection.sendall(b"\x01")
        self.width, self.height = struct.unpack(">HH", self.read(4))
        self.read(16)
        self.read(struct.unpack(">I", self.read(4))[0])
        self._pixels = bytearray(self.width * self.height * 4)
        # 32 bits for a pixel: blue, green, red, none.
        self._connection.sendall(struct.pack(">B3xBBBBHHHBBB3x", 0, 32, 24, 0, 1, 255, 255, 255, 16, 8, 0))
        self._connection.sendall(struct.pack(">BxHi", 2, 1, 0))
        self._request(False)

    def point(self, x, y, buttons):
        self._connection.sendall(struct.pack(">BBHH", 5, buttons, x, y))

    def _request(self, is_incremental):
        self._connection.sendall(struct.pack(">BBHHHH", 3, is_incremental, 0, 0, self.width, self.height))

    def follow(self):
        while True:
            kind = self.read(1)[0]
            if kind == 0:
                count = struct.unpack(">xH", self.read(3))[0]
                for _ in range(count):
                    self._rectangle()
                self._request(True)
                self.shows(self._is_green())
            elif kind == 1:
                count = struct.unpack(">xHH", self.read(5))[1]
                self.read(6 * count)
            elif kind == 3:
                self.read(struct.unpack(">3xI", self.read(7))[0])
            elif kind != 2:
                raise EOFError(f"message {kind} of the VNC server is unknown")

    def _rectangle(self):
        x, y, width, height, encoding = struct.unpack(">HHHHi", self.read(12))
        if encoding != 0:
            raise EOFError(f"encoding {encoding} was not asked for")
        data = self.read(width * height * 4)
        if width == self.width:
            begin = y * width * 4
            self._pixels[begin : begin + len(data)] = data
            return
        for row in range(height):
            begin = ((y + row) * self.width + x) * 4
            self._pixels[begin : begin + width * 4] = data[row * width * 4 : (row + 1) * width * 4]

    def _is_green(self):
        left, top, width, height = PATCH
        begin = ((top + height // 2) * self.width + left + width // 2) * 4
        blue, green = self._pixels[begin], self._pixels[begin + 1]
        return green > blue


def connect(port, limit):
    deadline = time.monotonic() + limit
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
