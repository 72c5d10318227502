"""What sound costs: beside a loop that only calls libopus, and while 64 desktops are silent."""

import pathlib
import subprocess
import time

from scene import eventually, percentile
from stage import Stage, require

#: The most that one stream may cost, of what a loop of libopus costs. PipeWire wakes two threads in each cycle.
MOST_COST = 2.5
#: The thread that draws the test pattern. It is not sound's.
PATTERN = "source"
#: How often an agent whose desktop is silent may wake in a second.
MOST_WAKES = 2.0


def prove_cost(programs, rounds=5, seconds=20.0):
    """Compares an agent that captures and encodes a sine with a loop, in turn."""
    loop = Stage.tool("opus-loop")
    with Stage("none", programs) as stage:
        stage.session("sound", width=320, height=240, fps=5, onDemand=True)
        stage.beep("--every", 1e9, "--length", 1e9)
        listener = subprocess.Popen(
            ["curl", "--silent", "--output", "/dev/null", stage.address("audio/level?for=60")]
        )
        agents, loops = [], []
        try:
            stage.wait_for_sound()
            pid = stage.agent_pids()[0]
            time.sleep(1)
            for _ in range(rounds):
                if listener.poll() is not None:
                    listener = subprocess.Popen(listener.args)
                    stage.wait_for_sound()
                before = processor_time(pid)
                time.sleep(seconds)
                agents.append(processor_time(pid) - before)
                loops.append(float(subprocess.run([loop, str(seconds)], check=True, stdout=subprocess.PIPE).stdout))
        finally:
            listener.kill()
    ratio = percentile([agent / alone for agent, alone in zip(agents, loops)], 0.5)
    print(
        f"cost: {rounds} rounds of {seconds:g} s: the agent {percentile(agents, 0.5) / seconds:.2%} of a core, a loop of "
        f"libopus {percentile(loops, 0.5) / seconds:.2%}; ratio p50 {ratio:.2f}; goal: {MOST_COST:.2f}"
    )
    require(ratio <= MOST_COST, f"sound costs {ratio:.2f} of what libopus costs")


def prove_rest(programs, devices=64, seconds=30.0):
    """Listens to silent desktops, and counts how often their agents wake."""
    names = [f"d{number}" for number in range(devices)]
    with Stage("none", programs, devices=names) as stage:
        for name in names:
            stage.caller.call("POST", f"/v1/devices/{name}/broadcast/start", {"timeout": 60})
            stage.caller.call("PUT", f"/v1/devices/{name}/sessions/sound", {"width": 320, "height": 240, "onDemand": True})
        base = f"http://127.0.0.1:{stage.ports['http']}/v1/devices"
        words = ["curl", "--silent", "--output", "/dev/null", "--parallel", "--parallel-max", str(devices)]
        addresses = [f"{base}/{name}/sessions/sound/wait?until=sound&timeout={seconds + 60:g}" for name in names]
        listeners = subprocess.Popen(words + addresses)
        try:
            pids = [eventually("a capture", lambda name=name: capturing(stage, name), limit=90) for name in names]
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


def capturing(stage, device):
    """The process of the agent that captures the device's sound; ``None`` if none does."""
    broadcast = stage.caller.call("GET", f"/v1/devices/{device}/broadcast").body
    return broadcast["agent"]["pid"] if (broadcast.get("audio") or {}).get("capturing") else None


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
