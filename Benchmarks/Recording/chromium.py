"""A headless Chromium with one page, driven by the DevTools protocol over its pipe."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from scene import Failure


class Chromium:
    """Use it as a context."""

    def __enter__(self):
        self._profile = tempfile.mkdtemp(prefix="heliograph-chromium-", dir="/tmp")
        # The browser reads from its descriptor 3, and writes to 4.
        theirs_in, self._commands = os.pipe()
        self._answers, theirs_out = os.pipe()
        # Its sandbox refuses to work for root. A video may play although nobody has touched the page.
        words = ["chromium", "--headless=new", "--disable-gpu", "--remote-debugging-pipe"]
        words += ["--autoplay-policy=no-user-gesture-required", f"--user-data-dir={self._profile}"]
        words += ["--no-sandbox"] if os.geteuid() == 0 else []
        script = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "chromium", *words, "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._received, self._last, self._session = b"", 0, None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        return self

    def __exit__(self, *_):
        # The browser ends with its pipe.
        os.close(self._commands)
        os.close(self._answers)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, address):
        """Opens a page, and waits until it is there."""
        self._call("Page.navigate", url=address)
        loaded = "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))"
        self.evaluate(loaded)

    def evaluate(self, expression, limit=60.0):
        """The value of a JavaScript expression, or of its promise."""
        answer = self._call(
            "Runtime.evaluate", limit, expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise Failure(f"Chromium: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def _call(self, method, limit=60.0, **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + limit
        while True:
            answer = self._next(deadline)
            if answer.get("id") != self._last:
                continue
            if "error" in answer:
                raise Failure(f"Chromium: {method}: {answer['error']}")
            return answer["result"]

    def _next(self, deadline):
        """The next message; each ends in a NUL."""
        while b"\0" not in self._received:
            if not select.select([self._answers], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise Failure("Chromium does not answer")
            data = os.read(self._answers, 1 << 16)
            if not data:
                raise Failure("Chromium has ended")
            self._received += data
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)
