#!/usr/bin/env python3
"""Launches an application, clicks a button of it, and types: act_in_python.py APPLICATION BUTTON.png X,Y TEXT

APPLICATION is of the relay's configuration. BUTTON.png is a part of a snapshot, with its top left corner at X,Y. Leaves
after.png. Needs Clients/python. HELIOGRAPH_RELAY names the relay, HELIOGRAPH_KEY_FILE an operator's key, if the relay wants one.
"""

import sys
from heliograph import Relay

application, button, place, text = sys.argv[1:]
x, y = map(int, place.split(","))
device = Relay().device()
device.start(ttl=60)
device.template("button", button)
with device.launch(application, wait=True), device.session("act", ttl=60) as session:
    session.wait("matches", template="button", at=(x, y), timeout=20)
    session.click(x + 5, y + 5)
    session.type(text + "\n")
    session.wait("static", seconds=1)
    session.snapshot("after.png")
