"""How players play a file: from end to end, and from any time."""

import json
import re
import subprocess

from scene import Failure
from studio import decodes, require

#: What VLC says without a desktop.
VLC_TALK = re.compile(r"main (interface|libvlc) error: (no suitable interface module|interface \"globalhotkeys)")
#: How much faster than time VLC and Chromium play.
RATE = 8
#: Where GStreamer's decoders and parsers warn.
GSTREAMER_DECODERS = "videodecoder:2,audiodecoder:2,libav:2,h264parse:2,codecparsers_h264:2,opusdec:2"

#: JavaScript that plays a file from end to end.
PLAY = """
new Promise((done, fail) => {
  const video = document.createElement("video");
  video.onerror = () => fail(new Error(video.error.message));
  video.onended = () => {
    const quality = video.getVideoPlaybackQuality();
    done({ pictures: video.webkitDecodedFrameCount, corrupted: quality.corruptedVideoFrames, seconds: video.duration });
  };
  video.src = ADDRESS;
  video.playbackRate = RATE;
  video.play().catch(fail);
})
"""
#: JavaScript that seeks to times and returns those of the pictures that it then shows.
SEEK = """
(async () => {
  const video = document.createElement("video");
  const failed = new Promise((_, fail) => { video.onerror = () => fail(new Error(video.error.message)); });
  const landed = (time) => new Promise((done) => {
    video.requestVideoFrameCallback((_, { mediaTime }) => done(mediaTime));
    video.currentTime = time;
  });
  const loaded = new Promise((done) => { video.onloadeddata = done; });
  video.preload = "auto";
  video.muted = true;
  video.src = ADDRESS;
  await Promise.race([failed, loaded]);
  const found = [];
  for (const time of TIMES) found.push(await Promise.race([failed, landed(time)]));
  return found;
})()
"""


def in_ffmpeg(path, allowed=None):
    """Decodes a file. ffmpeg must say nothing besides what is allowed, a pattern."""
    said = "\n".join(line for line in decodes(path).splitlines() if not (allowed and re.search(allowed, line)))
    require(not said, f"ffmpeg: {path}: {said}")


def in_vlc(path, seconds, rate=RATE, options=()):
    # VLC refuses to run as root, and can neither read nor write root's folders.
    words = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "env", "HOME=/nonexistent"]
    words += ["XDG_RUNTIME_DIR=/nonexistent", "vlc", "--intf=dummy", "--vout=vdummy", "--aout=adummy", "--no-dbus"]
    words += ["--no-media-library", f"--rate={rate}", "--play-and-exit", "-vv", *options, str(path)]
    run = _run(words, seconds / rate + 120)
    lines = [re.sub(r"^\[\w+\] ", "", line) for line in run.stderr.splitlines()]
    complaints = [
        line for line in lines if re.search(r" error: | decoder warning: ", line) and not VLC_TALK.match(line)
    ]
    require(not complaints, f"VLC: {path}: {complaints[:5]}")
    require("main input debug: EOF reached" in lines, f"VLC: {path}: it did not reach the end")


def in_gstreamer(address, pictures=None):
    """Plays a URI. It must show so many pictures, unless that is not known."""
    words = ["env", f"GST_DEBUG=1,{GSTREAMER_DECODERS}", "GST_DEBUG_NO_COLOR=1", "gst-launch-1.0", "--verbose"]
    words += ["playbin3", f"uri={address}", "video-sink=fakesink name=pictures silent=false sync=false"]
    words += ["audio-sink=fakesink sync=false"]
    run = _run(words, 600)
    complaints = [line for line in run.stderr.splitlines() if line]
    complaints += [line for line in run.stdout.splitlines() if line.startswith(("WARNING", "ERROR"))]
    require(run.returncode == 0 and not complaints, f"GStreamer: {address}: status {run.returncode}, {complaints[:5]}")
    shown = len(re.findall(r":pictures: last-message = chain ", run.stdout))
    require(shown == (pictures or shown) > 0, f"GStreamer: {address}: it shows {shown} pictures of {pictures}")


def in_chromium(browser, address, seconds, pictures=None):
    """Plays an address of the relay, which has so many pictures. Returns its duration."""
    script = PLAY.replace("ADDRESS", json.dumps(address)).replace("RATE", str(RATE))
    played = browser.evaluate(script, seconds / RATE + 120)
    require(played["corrupted"] == 0, f"Chromium: {address} has {played['corrupted']} corrupted pictures")
    shown = played["pictures"]
    require(shown == (pictures or shown) > 0, f"Chromium: {address}: {shown} pictures of {pictures}")
    return played["seconds"]


def chromium_seeks(browser, address, times):
    """The times of the pictures that Chromium shows at ``times``."""
    script = SEEK.replace("ADDRESS", json.dumps(address)).replace("TIMES", json.dumps(times))
    return browser.evaluate(script, 120)


def ffmpeg_seek(path, time):
    """The time of the first picture that ffmpeg decodes after a seek."""
    words = ["ffmpeg", "-nostdin", "-copyts", "-noaccurate_seek", "-ss", f"{time:.6f}", "-i", path]
    run = _run(words + ["-an", "-frames:v", "1", "-vf", "showinfo", "-f", "null", "-"], 60)
    found = re.search(r" pts_time:(\S+)", run.stderr)
    if not found:
        raise Failure(f"ffmpeg shows no picture of {path} at {time:.3f} s: {run.stderr[-500:]}")
    return float(found[1])


def _run(words, limit):
    return subprocess.run(
        [str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit
    )
