"""A session's WebSocket (RFC 6455), as docs/reference/websocket.md has it."""

import base64
import os
import socket
import ssl
import struct
import urllib.parse

from scene import Failure

#: Kinds of frames (section 5.2).
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
#: The first bytes of binary messages, and where their contents begin.
CONFIGURATION, PICTURE, SOUND = 1, 2, 3
HEAD = {PICTURE: 36, SOUND: 28}


def any_certificate():
    """TLS that does not look at certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class WebSocket:
    """A connection to an address that begins with ``http``. Certificates are not looked at."""

    def __init__(self, address, key=None):
        parts = urllib.parse.urlparse(address)
        self._connection = socket.create_connection((parts.hostname, parts.port), timeout=30)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if parts.scheme == "https":
            self._connection = any_certificate().wrap_socket(self._connection)
        access = f"Authorization: Bearer {key}\r\n" if key else ""
        self._connection.sendall(
            f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n{access}\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += self._read(1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise Failure(f"no WebSocket: {head[:200]}")

    def _read(self, count):
        data = b""
        while len(data) < count:
            part = self._connection.recv(count - len(data))
            if not part:
                raise Failure("the relay closed the WebSocket")
            data += part
        return data

    def send(self, kind, data):
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
        length = struct.pack(">B", 0x80 | len(data)) if len(data) < 126 else struct.pack(">BH", 0x80 | 126, len(data))
        self._connection.sendall(bytes([0x80 | kind]) + length + mask + masked)

    def frames(self):
        """Yields the kind and the bytes of each message as it comes."""
        while True:
            kind, length = self._read(2)
            if length == 126:
                length = struct.unpack(">H", self._read(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self._read(8))[0]
            data = self._read(length)
            if kind & 15 == PING:
                self.send(PONG, data)
            elif kind & 15 == CLOSE:
                raise Failure(f"the relay ended the WebSocket: {data[2:].decode(errors='replace')}")
            else:
                yield kind & 15, data

    def messages(self):
        """Yields the bytes of each binary message as it comes."""
        return (data for kind, data in self.frames() if kind == BINARY)

    def close(self):
        self._connection.close()
