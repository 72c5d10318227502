"""Tests what a command does to a screen, with pytest and the Heliograph plugin (Clients/python):

    COMMAND=./press-the-button PICTURE=dialog.png PLACE=412,300 pytest test_in_python.py

The fixture `screen` keeps a snapshot of the end in heliograph-artifacts, and a movie if the test fails.
"""

import os
import subprocess


def test_the_command_brings_the_picture_to_the_screen(device, screen):
    device.template("picture", os.environ["PICTURE"])
    screen.wait("static", seconds=1, region=(0, 0, 640, 360), timeout=60)
    screen.snapshot("before.png")
    subprocess.run(os.environ["COMMAND"], shell=True, check=True)
    x, y = map(int, os.environ["PLACE"].split(","))
    screen.wait("matches", template="picture", at=(x, y), timeout=20)
    screen.snapshot("after.png")
