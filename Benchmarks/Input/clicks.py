"""Clicks at random places: each must be seen once, in order, within half a pixel of the screen."""

import random

from scene import DEVICE, Failure, Scene, eventually

SIZES = [(1280, 720), (640, 360), (1600, 900)]
LETTERBOXED = (600, 600)
#: How each desktop can be turned: the argument of Tests/Desktop/desktop, and its screen's size then.
TURNS = {
    "sway": [("turn", "normal", (1280, 720)), ("turn", "90", (720, 1280))],
    "mutter": [("resize", "1280x720", (1280, 720)), ("resize", "720x1280", (720, 1280))],
    "xvfb": [(None, None, (1280, 720))],
}
#: A desktop's client may round to 1/256 of a pixel.
ROUNDING = 1 / 128


class Fit:
    """Where a session's picture shows the screen: PictureFit of Sources/Media."""

    def __init__(self, source, output):
        (width, height), (across, down) = source, output
        self.source = source
        if (width // 2 * 2, height // 2 * 2) == (across, down):
            self.content, self.shown, self.x, self.y = output, source, 0, 0
            return
        if width * down >= across * height:
            content = (across, min((across * height + width // 2) // width, down))
        else:
            content = (min((down * width + height // 2) // height, across), down)
        self.content = self.shown = (content[0] // 2 * 2, content[1] // 2 * 2)
        self.x, self.y = (across - self.content[0]) // 4 * 2, (down - self.content[1]) // 4 * 2

    def screen(self, x, y, turns):
        """The place on the upright screen of a point of the picture."""
        width, height = self.source
        x, y = (x - self.x) / self.shown[0] * width, (y - self.y) / self.shown[1] * height
        return [(x, y), (height - y, x), (width - x, height - y), (y, width - x)][turns]


def prove(kind, programs, count=1000, seed=1):
    """Clicks ``count`` times on one kind of desktop, and prints the figures."""
    generator = random.Random(seed)
    with Scene(kind, programs) as scene:
        scene.start_broadcast()
        shapes = [(turn, size) for turn in TURNS[kind] for size in SIZES + [LETTERBOXED]]
        each, rest = divmod(count, len(shapes))
        worst, clicks = 0.0, 0
        turned = None
        for number, (turn, size) in enumerate(shapes):
            if turn is not turned:
                turned = turn
                turn_screen(scene, turn)
            wanted = each + (number < rest)
            worst = max(worst, click(scene, generator, turn[2], size, wanted))
            clicks += wanted
        orientations = len(TURNS[kind])
        print(
            f"clicks, {kind}: {clicks} clicks in {orientations} orientation(s), sessions of "
            f"{', '.join(f'{w}x{h}' for w, h in SIZES)} and letterboxed {LETTERBOXED[0]}x{LETTERBOXED[1]}: "
            f"each seen once and in order, at most {worst:.3f} pixels away"
        )


def turn_screen(scene, turn):
    command, argument, size = turn
    if command is None:
        return
    scene.desktop(command, argument)
    words = tuple(map(str, size))
    eventually(
        f"the client's size {size}",
        lambda: [event.fields for event in scene.log.read() if event.name == "ready"][-1:] == [words],
    )


def click(scene, generator, screen, size, count):
    """Clicks in a session of one size, and returns the largest distance, in the screen's pixels."""
    name = f"of-{size[0]}x{size[1]}"
    scene.session(name, width=size[0], height=size[1])

    def settled():
        session = scene.caller.call("GET", f"{DEVICE}/sessions/{name}").body
        source, turns = (session.get("sourceWidth"), session.get("sourceHeight")), session.get("orientation") or 0
        upright = source if turns % 2 == 0 else source[::-1]
        return (source, turns) if upright == screen else None

    source, turns = eventually("the session's place on the screen", settled)
    fit = Fit(source, size)
    # A still screen's newest frame may be from before the turn.
    first_x, first_y = fit.x, fit.y
    try_click(scene, name, first_x, first_y)
    eventually("the end of the first click", lambda: scene.log.read() and not scene.log.held)
    mark = len(scene.log.read())
    expected = []
    for _ in range(count):
        x = generator.randrange(fit.x, fit.x + fit.content[0])
        y = generator.randrange(fit.y, fit.y + fit.content[1])
        scene.caller.act({"session": name, "click": {"x": x, "y": y}})
        expected.append(((x, y), fit.screen(x + 0.5, y + 0.5, turns)))
    buttons = eventually(
        f"{2 * count} changes of the button", lambda: enough(scene, mark, 2 * count), limit=5.0
    )
    return check(scene.kind, buttons, expected, name)


def try_click(scene, name, x, y):
    """Clicks as soon as the screen has a picture of its new size."""
    answers = []

    def clicked():
        answers.append(scene.caller.call("POST", f"{DEVICE}/actions", {"session": name, "click": {"x": x, "y": y}}))
        return answers[-1].status == 200

    try:
        eventually("a place to click on", clicked, limit=10)
    except Failure as failure:
        raise Failure(f"{failure}; the last answer: {answers[-1]}") from None


def enough(scene, mark, count):
    buttons = [event for event in scene.log.read()[mark:] if event.name == "button"]
    return buttons if len(buttons) >= count else None


def check(kind, buttons, expected, name):
    if len(buttons) != 2 * len(expected):
        raise Failure(f"{kind}, {name}: {len(expected)} clicks made {len(buttons)} changes of the button")
    worst = 0.0
    for number, (pixel, place) in enumerate(expected):
        for event, phase in zip(buttons[2 * number : 2 * number + 2], ("down", "up")):
            if event.fields[:2] != ("272", phase):
                raise Failure(f"{kind}, {name}: click {number} at {pixel} was seen as {event}")
            x, y = event.place
            # A desktop that knows whole pixels only says which one; its middle counts.
            if kind == "xvfb":
                x, y = x + 0.5, y + 0.5
            distance = max(abs(x - place[0]), abs(y - place[1]))
            if distance > 0.5 + ROUNDING:
                raise Failure(f"{kind}, {name}: the click at {pixel}, which is {place} of the screen, came as {event}")
            worst = max(worst, distance)
    return worst
