"""A file system for a library that really becomes full, read-only or stalled."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from scene import Failure, eventually


class Disk:
    """A file system that only the proof uses: ext4 in a file, or tmpfs. Use it as a context."""

    def __init__(self, kind="ext4", megabytes=256):
        self.kind, self._megabytes = kind, megabytes

    def __enter__(self):
        if os.geteuid() != 0:
            raise Failure("This proof mounts file systems, so run it as root.")
        self._directory = pathlib.Path(tempfile.mkdtemp(prefix="heliograph-disk-", dir="/tmp"))
        self._directory.chmod(0o755)
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.is_mounted():
            if self.kind == "ext4":
                subprocess.run(["fsfreeze", "--unfreeze", self._place], stderr=subprocess.DEVNULL)
            # A process that uses it keeps the file system, but no longer its place.
            if not unmount(self._place):
                subprocess.run(["umount", "--lazy", self._place], check=True)
        shutil.rmtree(self._directory)

    @property
    def library(self):
        """The folder for the recordings, which belongs to the desktop's user."""
        return self._place / "library"

    @property
    def _place(self):
        return self._directory / "disk"

    @property
    def _image(self):
        return self._directory / "image"

    def _begin(self):
        self._place.mkdir()
        if self.kind == "ext4":
            with open(self._image, "wb") as image:
                image.truncate(self._megabytes << 20)
            # Without blocks that only root may fill.
            run("mkfs.ext4", "-q", "-m", "0", self._image)
        self._mount()
        self.library.mkdir()
        shutil.chown(self.library, "nobody", "nogroup")

    def _mount(self):
        if self.kind == "ext4":
            run("mount", "-o", "loop,errors=remount-ro", self._image, self._place)
        else:
            run("mount", "-t", "tmpfs", "-o", f"size={self._megabytes}m", "tmpfs", self._place)

    def is_mounted(self):
        return os.path.ismount(self._place)

    # Full

    @property
    def free(self):
        """The bytes that are free."""
        figures = os.statvfs(self._place)
        return figures.f_bavail * figures.f_frsize

    def fill(self, leaving):
        """Fills the disk until this many bytes are free."""
        run("fallocate", "--length", max(4096, self.free - leaving), self._place / "filler")

    def make_room(self):
        (self._place / "filler").unlink()

    # Read-only

    def break_down(self):
        """Makes the file system read-only at once, as an error of the device does, while files are open for writing."""
        device = run("findmnt", "--noheadings", "--output", "SOURCE", self._place).strip()
        pathlib.Path(f"/sys/fs/ext4/{pathlib.Path(device).name}/trigger_fs_error").write_text("1")

    def repair(self):
        """Repairs the file system and mounts it again, after its last user has closed it."""
        eventually("the end of the disk's last user", lambda: unmount(self._place))
        status = subprocess.run(["e2fsck", "-p", self._image], stdout=subprocess.DEVNULL).returncode
        # 1: errors were corrected.
        if status not in (0, 1):
            raise Failure(f"e2fsck cannot repair the disk: status {status}")
        self._mount()

    # Stalled

    def freeze(self):
        """Stalls all writes."""
        run("fsfreeze", "--freeze", self._place)

    def thaw(self):
        run("fsfreeze", "--unfreeze", self._place)


def unmount(place):
    return subprocess.run(["umount", place], stderr=subprocess.DEVNULL).returncode == 0


def run(*words):
    """Runs a program and returns its output.

    :raises Failure: If it fails.
    """
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout
