"""Random deaths while keys, buttons and fingers are held: all of it must be released, soon."""

import ctypes
import http.client
import os
import random
import signal
import socket
import threading
import time

from scene import DEVICE, Caller, Failure, Scene, eventually, percentile

#: How an agent or its relay is lost.
DEATHS = ["agent killed", "agent stopped", "link cut", "relay killed"]
#: How long an agent that is stopped may be silent, in ms. Compositors release the rest only when it ends, so its guard
#: ends it (GuardWatch). All other losses are noticed at once.
SILENCE = {"sway": 1000, "mutter": 1000, "xvfb": 200}
#: The longest time from then to the release of the last thing, in ms.
GOAL = 250
#: Keys by WebDriver's values, with the names that the client logs, in lower case: Shift does not change these.
KEYS = {"a": "a", "z": "z", "m": "m", "\ue008": "shift_l", "\ue009": "control_l", "\ue012": "left", "\ue035": "f5"}
#: Linux's codes of WebDriver's buttons.
BUTTONS = {0: 272, 1: 274, 2: 273}


def prove(kind, programs, count=300, seed=1):
    """Loses agents and relays ``count`` times on one kind of desktop, and prints the figures."""
    generator = random.Random(seed)
    times = {death: [] for death in DEATHS}
    stuck, late = [], []
    with Scene(kind, programs) as scene:
        scene.start_broadcast()
        scene.session("shared")
        has_touch = scene.caller.call("GET", f"{DEVICE}/broadcast").body["input"]["touch"]
        agent = scene.wait_for_agent()
        # In turn, so that there are as many of each; the order is random.
        turns = [DEATHS[number % len(DEATHS)] for number in range(count)]
        generator.shuffle(turns)
        for number, death in enumerate(turns):
            held = hold(scene, generator, has_touch)
            time.sleep(generator.uniform(0, 0.3))
            begin = time.monotonic_ns()
            kill(scene, agent, death)
            where = f"death {number}, {death}, of {', '.join(sorted(held))}"
            if not is_released(scene, 2.0):
                stuck.append(f"{where}: still held after 2 s: {', '.join(sorted(scene.log.held))}")
            else:
                taken = (scene.log.released - begin) / 1e6
                times[death].append(taken)
                if taken > goal(kind, death):
                    late.append(f"{where}: {taken:.0f} ms")
            agent = recover(scene, agent, death)
            if not is_released(scene, 1.0):
                scene.restart_client()
    report(kind, count, times, stuck, late, has_touch)


def goal(kind, death):
    """How soon all must be released, in ms."""
    return GOAL + (SILENCE[kind] if death == "agent stopped" else 0)


def report(kind, count, times, stuck, late, has_touch):
    things = "keys, buttons and fingers" if has_touch else "keys and buttons"
    print(f"deaths, {kind}: {count} while {things} were held; {len(stuck)} stuck")
    for death, taken in times.items():
        if taken:
            print(
                f"deaths, {kind}: {death}, {len(taken)}: released within {percentile(taken, 0.5):.0f} ms (p50), "
                f"{percentile(taken, 0.99):.0f} ms (p99), {max(taken):.0f} ms (max); goal: {goal(kind, death)} ms"
            )
    faults = stuck + late
    if faults:
        more = f"\n  … and {len(faults) - 10} more" if len(faults) > 10 else ""
        raise Failure(f"{len(stuck)} stuck, {len(late)} late:\n  " + "\n  ".join(faults[:10]) + more)


def hold(scene, generator, has_touch):
    """Holds some keys and buttons, and fingers if the desktop takes them. Returns their names in the client's log."""
    keys = generator.sample(list(KEYS), generator.randint(1, 4))
    fingers = generator.choice([0, 1, 2, 3]) if has_touch else 0
    # The pointer leaves a window that is touched, and takes its buttons with it.
    buttons = [] if fingers else generator.sample(list(BUTTONS), generator.randint(0, 3))
    place = {"type": "pointerMove", "x": generator.randrange(300, 1280), "y": generator.randrange(200, 720)}
    sources = [{"type": "key", "id": "keyboard", "actions": [{"type": "keyDown", "value": key} for key in keys]}]
    if buttons:
        presses = [{"type": "pointerDown", "button": button} for button in buttons]
        sources.append({"type": "pointer", "id": "mouse", "actions": [place] + presses})
    for finger in range(fingers):
        spot = {"type": "pointerMove", "x": 100 + 200 * finger, "y": generator.randrange(200, 720)}
        sources.append(
            {
                "type": "pointer",
                "id": f"finger {finger}",
                "parameters": {"pointerType": "touch"},
                "actions": [spot, {"type": "pointerDown", "button": 0}],
            }
        )
    wanted = {f"key {KEYS[key]}" for key in keys} | {f"button {BUTTONS[button]}" for button in buttons}
    # A screen that has just been captured again may have no picture yet.
    answers = []

    def moved():
        move = [{"type": "pointer", "id": "mouse", "actions": [place]}]
        answers.append(scene.caller.call("POST", f"{DEVICE}/actions", {"session": "shared", "actions": move}))
        return answers[-1].status == 200

    try:
        eventually("the actions", moved)
    except Failure as failure:
        raise Failure(f"{failure}; the last answer: {answers[-1]}") from None
    if fingers:
        # No finger outlasts its call.
        for source in sources:
            source["actions"].append({"type": "pause", "duration": 1900})
        caller = Caller(scene.ports["http"], scene.keys["operator"])
        threading.Thread(target=act_until_lost, args=(caller, sources), daemon=True).start()
    else:
        scene.caller.act({"session": "shared", "actions": sources})

    def all_held():
        scene.log.read()
        found = {name for name in scene.log.held if not name.startswith("touch")}
        return found == wanted and len(scene.log.held) == len(wanted) + fingers

    try:
        eventually("all is held", all_held, limit=3)
    except Failure as failure:
        raise Failure(
            f"{failure}: wanted {sorted(wanted)} and {fingers} fingers, got {sorted(scene.log.held)}; "
            f"the last events: {', '.join(f'{event.time // 1000000 % 100000} {event}' for event in scene.log.events[-14:])}; {scene.last_words(8)}"
        ) from None
    return set(scene.log.held)


def act_until_lost(caller, sources):
    try:
        caller.call("POST", f"{DEVICE}/actions", {"session": "shared", "actions": sources})
    except (OSError, http.client.HTTPException):
        pass  # The relay is the one that is lost.
    finally:
        caller.close()


def kill(scene, agent, death):
    if death == "agent killed":
        os.kill(agent, signal.SIGKILL)
    elif death == "agent stopped":
        os.kill(agent, signal.SIGSTOP)
    elif death == "link cut":
        reset(agent, scene.ports["agentLink"])
    else:
        os.kill(scene.ports["pid"], signal.SIGKILL)


def is_released(scene, limit):
    deadline = time.monotonic() + limit
    while True:
        scene.log.read()
        if not scene.log.held:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)


def recover(scene, agent, death):
    """Waits for the next agent, and returns its process id."""
    if death == "relay killed":
        scene.relay.wait()
        scene.caller.close()
        scene.start_relay(scene.ports)
        scene.start_broadcast()
        scene.session("shared")
        return scene.wait_for_agent()
    if death == "link cut":
        return scene.wait_for_agent()
    if death == "agent stopped":
        try:
            os.kill(agent, signal.SIGKILL)
        except ProcessLookupError:
            pass  # Its guard has ended it.
    return scene.wait_for_agent(other_than=agent)


def reset(pid, port):
    """Resets the connection of a process to a port without its knowledge, as a broken path does.

    A copy of its descriptor is the same socket (pidfd_getfd(2)). Connecting that to no address resets it (connect(2),
    AF_UNSPEC).
    """
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(pid)
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                if not os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):
                    continue
            except OSError:
                continue
            copy = libc.syscall(438, process, int(name), 0)
            if copy < 0:
                continue
            with socket.socket(fileno=copy) as connection:
                if connection.family != socket.AF_INET:
                    continue
                try:
                    if connection.getpeername()[1] != port:
                        continue
                except OSError:
                    continue
                nowhere = (ctypes.c_ubyte * 16)()
                if libc.connect(copy, nowhere, 16) != 0:
                    raise Failure(f"the link cannot be reset: {os.strerror(ctypes.get_errno())}")
                return
    finally:
        os.close(process)
    raise Failure(f"process {pid} has no connection to port {port}")
