"""Watches a session over a WebSocket for some seconds, and writes what came: run in another network namespace.

watcher.py ADDRESS FILE SECONDS: the key is in HELIOGRAPH_KEY. Each picture in FILE is a line of JSON: when it was
captured and came, in monotonic ns, whether it is a keyframe or a repeat, and its bytes in base64; so is each event.
"""

import base64
import json
import os
import struct
import sys
import time

from websocket import BINARY, HEAD, PICTURE, TEXT, WebSocket


def main():
    address, path, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    connection = WebSocket(address, os.environ.get("HELIOGRAPH_KEY"))
    adapts, end = False, time.monotonic() + seconds
    with open(path, "w") as file:
        for kind, data in connection.frames():
            now = time.monotonic_ns()
            if kind == TEXT:
                event = json.loads(data)
                adapts = adapts or event["type"] == "target" and event["adapt"] != "fixed"
                line = {"came": now, "event": event}
            elif kind == BINARY and data[0] == PICTURE:
                pts, captured = struct.unpack(">qQ", data[4:20])
                if adapts:
                    connection.send(TEXT, json.dumps({"type": "received", "pts": pts}).encode())
                line = {"came": now, "captured": captured, "flags": data[1]}
                line["data"] = base64.b64encode(data[HEAD[PICTURE] :]).decode()
            else:
                continue
            file.write(json.dumps(line) + "\n")
            if time.monotonic() > end:
                break
    connection.close()


if __name__ == "__main__":
    main()
