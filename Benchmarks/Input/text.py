"""Random characters: the desktop's client must get each, byte for byte."""

import random
import time
import unicodedata

from scene import BACKENDS, DEVICE, Failure, Scene, eventually

#: Characters a second that each desktop must take.
GOALS = {"sway": 1000, "xvfb": 100, "mutter": 0}
#: The blocks that characters are taken from, with their first and last code points.
BLOCKS = {
    "Latin": [(0x20, 0x7E), (0xA1, 0x17F), (0x180, 0x24F)],
    "Greek": [(0x386, 0x3FF)],
    "Cyrillic": [(0x400, 0x4FF)],
    "CJK": [(0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)],
    "emoji": [(0x1F300, 0x1F64F), (0x1F680, 0x1F6C5)],
    "combining marks": [(0x300, 0x36F)],
}
PIECE = 500
#: How many characters outside the layout Mutter is asked for.
OUTSIDE = 200


def characters(generator, count):
    """Returns random characters of all blocks, as many of each."""
    names = list(BLOCKS)
    text = []
    while len(text) < count:
        first, last = generator.choice(BLOCKS[names[len(text) % len(names)]])
        character = chr(generator.randint(first, last))
        # Not what Unicode has not assigned, or formats.
        if unicodedata.category(character)[0] not in "C":
            text.append(character)
    generator.shuffle(text)
    return "".join(text)


def prove(kind, programs, count=10_000, seed=1):
    """Types ``count`` characters on one kind of desktop, and prints the figures."""
    generator = random.Random(seed)
    with Scene(kind, programs) as scene:
        scene.start_broadcast()
        types_all = scene.caller.call("GET", f"{DEVICE}/broadcast").body["input"]["anyCharacter"]
        if types_all != (kind != "mutter"):
            raise Failure(f"{kind}: anyCharacter is {types_all}")
        whole = characters(generator, count)
        if types_all:
            refused = 0
        else:
            refused = refuse(scene, generator)
            whole = "".join(generator.choice(LAYOUT) for _ in range(count))
        rate = type_all(scene, whole)
        blocks = ", ".join(BLOCKS) if types_all else "the characters of its layout"
        goal = GOALS[kind]
        print(
            f"text, {kind} ({BACKENDS[kind]}): {len(whole)} characters of {blocks}, byte for byte, "
            f"{rate:.0f} a second (goal: {goal or 'none'})"
            + (f"; {refused} others refused by name" if refused else "")
        )
        if rate < goal:
            raise Failure(f"text, {kind}: {rate:.0f} characters a second; the goal is {goal}")


#: The characters of a US layout.
LAYOUT = "".join(map(chr, range(0x20, 0x7F)))


def type_all(scene, whole):
    """Types a text in pieces, compares what comes, and returns the rate in characters a second."""
    scene.caller.act({"type": " "})
    eventually("the first character", lambda: any(event.text == " " for event in scene.log.read()))
    mark = len(scene.log.read())
    begin = time.monotonic_ns()
    for start in range(0, len(whole), PIECE):
        scene.caller.act({"type": whole[start : start + PIECE]})
    try:
        eventually("all characters", lambda: len(typed(scene, mark)) >= len(whole), limit=10.0)
    except Failure:
        pass
    found = typed(scene, mark)
    if found != whole:
        raise Failure(f"text, {scene.kind}: {difference(whole, found)}")
    last = max(event.time for event in scene.log.events[mark:] if event.text)
    eventually("nothing is held", lambda: scene.log.read() and not scene.log.held)
    return len(whole) / ((last - begin) / 1e9)


def typed(scene, mark):
    return "".join(event.text for event in scene.log.read()[mark:])


def difference(whole, found):
    """Says where two texts differ first."""
    place = next((i for i, (a, b) in enumerate(zip(whole, found)) if a != b), min(len(whole), len(found)))
    wanted, got = whole[place : place + 8], found[place : place + 8]
    return (
        f"{len(found)} of {len(whole)} characters came; character {place} is the first that is wrong: "
        f"{[f'U+{ord(c):04X}' for c in wanted]} came as {[f'U+{ord(c):04X}' for c in got]}"
    )


def refuse(scene, generator):
    """Asks for characters outside the layout one by one. Each must be refused by name, and none may be typed."""
    mark = len(scene.log.read())
    outside = [character for character in characters(generator, 3 * OUTSIDE) if ord(character) > 0x7E][:OUTSIDE]
    for character in outside:
        answer = scene.caller.call("POST", f"{DEVICE}/actions", {"type": character})
        detail = answer.body.get("detail", "")
        is_named = character in detail or f"U+{ord(character):04X}" in detail
        if answer.status != 409 or answer.code != "no_input" or not is_named:
            raise Failure(f"text, {scene.kind}: U+{ord(character):04X} was answered by {answer}")
    time.sleep(0.3)
    if typed(scene, mark):
        raise Failure(f"text, {scene.kind}: refused characters came: {typed(scene, mark)}")
    return len(outside)
