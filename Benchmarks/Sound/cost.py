"""What sound costs: beside a loop that only calls libopus, and while 64 desktops are silent."""

import pathlib
import subprocess
import time

from scene import Failure, eventually, percentile, tool
from stage import SINK, Stage, require

#: The most that one stream may cost, of what a loop of libopus costs, of what a program costs that also captures, and
#: of what it costs if it sends, too.
MOST_COST, MOST_BESIDE_CAPTURE, MOST_BESIDE_SENDER = 2.0, 1.6, 1.4
#: The thread that draws the test pattern. It is not sound's.
PATTERN = "source"
#: How often an agent whose desktop is silent may wake in a second.
MOST_WAKES = 2.0


def prove_cost(programs, rounds=5, seconds=20.0):
    """Compares an agent that captures and encodes a sine with bare programs, in turn."""
    loop, capture = tool("opus-loop"), tool("opus-capture")
    with Stage("none", programs) as stage:
        stage.session("sound", width=320, height=240, fps=5, onDemand=True)
        stage.beep("--every", 1e9, "--length", 1e9)
        agents, loops, captures, senders = [], [], [], []
        stage.desktop("stage", capture)
        pid = stage.agent_pids()[0]
        for _ in range(rounds):
            listener = subprocess.Popen(
                ["curl", "--silent", "--output", "/dev/null", stage.address("audio/level?for=60")]
            )
            try:
                stage.wait_for_sound()
                time.sleep(1)
                before = processor_time(pid)
                time.sleep(seconds)
                agents.append(processor_time(pid) - before)
                require(listener.poll() is None, "the listener has gone")
                loops.append(float(subprocess.run([loop, str(seconds)], check=True, stdout=subprocess.PIPE).stdout))
                captures.append(float(stage.desktop("exec", "opus-capture", SINK, seconds)))
                senders.append(float(stage.desktop("exec", "opus-capture", "--send", SINK, seconds)))
            finally:
                listener.kill()
    to_loop, to_capture, to_sender = (
        percentile([agent / other for agent, other in zip(agents, others)], 0.5)
        for others in (loops, captures, senders)
    )
    shares = [f"{percentile(times, 0.5) / seconds:.2%}" for times in (agents, loops, captures, senders)]
    print(
        f"cost: {rounds} rounds of {seconds:g} s: the agent {shares[0]} of a core; a loop of libopus {shares[1]}, ratio p50 "
        f"{to_loop:.2f}, goal {MOST_COST}; with a capture {shares[2]}, ratio p50 {to_capture:.2f}, goal {MOST_BESIDE_CAPTURE}; "
        f"sent over TCP, too, {shares[3]}, ratio p50 {to_sender:.2f}, goal {MOST_BESIDE_SENDER}"
    )
    require(to_loop <= MOST_COST, f"sound costs {to_loop:.2f} of what libopus costs")
    require(to_capture <= MOST_BESIDE_CAPTURE, f"sound costs {to_capture:.2f} of what a bare capture costs")
    require(to_sender <= MOST_BESIDE_SENDER, f"sound costs {to_sender:.2f} of what a bare capture that sends costs")


def prove_rest(programs, devices=64, seconds=30.0):
    """Listens to silent desktops, and counts how often their agents wake."""
    names = [f"d{number}" for number in range(devices)]
    with Stage("none", programs, devices=names) as stage:
        for name in names:
            stage.caller.call("POST", f"/v1/devices/{name}/broadcast/start", {"timeout": 60})
            stage.caller.call("PUT", f"/v1/devices/{name}/sessions/sound", {"width": 320, "height": 240, "onDemand": True})
        base = f"http://127.0.0.1:{stage.ports['http']}/v1/devices"
        # At once: curl would first wait whether one connection can carry all.
        words = ["curl", "--no-progress-meter", "--parallel", "--parallel-immediate", "--parallel-max", str(devices)]
        addresses = [f"{base}/{name}/sessions/sound/wait?until=sound&timeout={seconds + 120:g}" for name in names]
        listeners = subprocess.Popen(words + addresses, stdout=subprocess.DEVNULL)
        try:
            pids = [wait_for_capture(stage, name) for name in names]
            time.sleep(3)
            before = [switches(pid) for pid in pids]
            time.sleep(seconds)
            wakes = [(switches(pid) - first) / seconds for pid, first in zip(pids, before)]
        finally:
            listeners.kill()
            listeners.wait()
    print(
        f"rest: {devices} silent devices, wakes of an agent a second: p50 {percentile(wakes, 0.5):.2f}, "
        f"most {max(wakes):.2f}; goal: {MOST_WAKES:g}"
    )
    require(max(wakes) <= MOST_WAKES, f"an agent wakes {max(wakes):.1f} times a second")


def wait_for_capture(stage, device):
    """Waits until an agent captures the device's sound. Returns its process."""

    def broadcast():
        return stage.caller.call("GET", f"/v1/devices/{device}/broadcast").body

    def pid():
        body = broadcast()
        return body["agent"]["pid"] if body["agent"] and (body["audio"] or {}).get("capturing") else None

    try:
        return eventually("a capture", pid, limit=90)
    except Failure as failure:
        raise Failure(f"{failure}: {device} says {broadcast()['audio']}") from failure


def threads(pid):
    """The folders of the process's threads, but the one that draws."""
    folders = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return [folder for folder in folders if (folder / "comm").read_text().strip() != PATTERN]


def processor_time(pid):
    """What the process has used, in s."""
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads(pid)) / 1e9


def switches(pid):
    """How often the process's threads have waited."""
    count = 0
    for thread in threads(pid):
        for line in (thread / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                count += int(line.split()[1])
    return count
