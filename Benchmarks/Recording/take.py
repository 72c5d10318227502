"""A recording through all that may happen to it: switches of the feed, stalls of the disk, another size, a restart."""

import contextlib
import os
import signal
import subprocess
import time

from scene import DESKTOP, eventually
from studio import MOVING, Studio, require
from watching import Viewer

#: The sink whose sound is recorded.
SINK = "players"
#: How long the disk stalls, in s: the recorder keeps all pictures of the first stall, and not of the second one.
SHORT, LONG = 10.0, 40.0
#: How long no agent may feed the session, in s.
LOSS = 2.0
#: The longest time in which a viewer may see no picture while the disk stalls, in s.
LONGEST_PAUSE = 0.5


class Theatre(Studio):
    """A device whose pictures and sound come from two agents, with a sound that always plays."""

    def _devices(self):
        return f"  {MOVING}: {{source: {self._pattern()}, fallback: {self._pattern()}, audio: sink:{SINK}}}\n"

    def _start(self):
        super()._start()
        form = f"{{ factory.name=support.null-audio-sink node.name={SINK} media.class=Audio/Sink object.linger=true }}"
        self.desktop("exec", "pw-cli", "create-node", "adapter", form)
        beep = subprocess.run([DESKTOP, "tool", "beep"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        self.desktop("stage", beep)
        # It ends with the desktop.
        subprocess.Popen(
            [DESKTOP, "exec", self.directory, "beep", "--target", SINK],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )


class Take:
    """A recorded session of a theatre, and what is done to it."""

    def __init__(self, studio, disk, fps):
        self._studio, self._disk = studio, disk
        #: When pictures may be missing: the reason, from when to when in s since 1970, and whether some must be.
        self.losses = []
        #: A viewer's longest pause in each stall, in s.
        self.pauses = []
        self.session = studio.record(MOVING, fps=fps)
        studio.wait_until_written(self.session)

    def run(self, seconds):
        """Records for this long."""
        steps = {
            0.1: self._switch_feeds,
            0.2: self._lose_feed,
            0.3: lambda: self._stall(SHORT),
            0.42: lambda: self._studio.answer("PATCH", f"/v1/sessions/{self.session}", {"width": 320, "height": 180}),
            0.5: lambda: self._stall(LONG),
            0.9: self._restart_relay,
        }
        begin = time.monotonic()
        for place, step in steps.items():
            time.sleep(max(0.0, begin + place * seconds - time.monotonic()))
            step()
        time.sleep(max(0.0, begin + seconds - time.monotonic()))
        self._studio.answer("POST", f"/v1/sessions/{self.session}/record/stop")

    def _switch_feeds(self):
        """Kills the agent that feeds the session. The standby feeds it until there is another one."""
        begin = time.time()
        os.kill(self._agents()[0], signal.SIGKILL)
        self._wait_for_feed("standby", 1)
        self.losses.append(("source_lost", begin, time.time(), False))
        self._wait_for_feed("primary", 2)

    def _lose_feed(self):
        """Kills all agents for a while, so that nothing feeds the session."""
        self._agents()
        begin = time.time()
        while time.time() < begin + LOSS:
            for pid in self._pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        self._wait_for_feed("primary", 3)
        self.losses.append(("source_lost", begin, time.time(), True))

    def _agents(self):
        """The process ids of the agent that feeds the session, and of its standby, when there are both."""
        return eventually("two agents", lambda: pids if len(pids := self._pids()) == 2 else None)

    def _pids(self):
        broadcast = self._studio.answer("GET", f"/v1/devices/{MOVING}/broadcast")
        agents = [broadcast["agent"], (broadcast["standby"] or {}).get("agent")]
        return [agent["pid"] for agent in agents if agent and agent.get("pid")]

    def _wait_for_feed(self, feed, switches):
        def is_fed():
            session = self._studio.answer("GET", f"/v1/sessions/{self.session}")
            return session["feed"] == feed and session["switches"] >= switches

        eventually(f"pictures of the {feed} agent", is_fed)

    def _stall(self, seconds):
        """Stalls the disk while a viewer watches."""
        with Viewer(self._studio, self.session) as viewer:
            viewer.wait_for(30)
            begin, epoch = time.monotonic(), time.time()
            self._disk.freeze()
            try:
                time.sleep(seconds)
            finally:
                self._disk.thaw()
            self.pauses.append(viewer.longest_pause(begin, time.monotonic()))
        # It goes on with a keyframe.
        self.losses.append(("queue_full", epoch, time.time() + 3, seconds == LONG))
        require(self.pauses[-1] <= LONGEST_PAUSE, f"while the disk stalls, viewers wait for {self.pauses[-1]:.2f} s")
        self._studio.wait_until_written(self.session)

    def _restart_relay(self):
        self._studio.end_relay()
        self._studio.caller.close()
        self._studio.restart_relay()
        self._studio.wait_until_written(self.session)
