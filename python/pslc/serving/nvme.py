"""A served drive as an NVMe drive of Linux: the kernel's NBD client, its NVMe target behind that, and its NVMe driver,
over TCP on this machine. The target's health log is its own, without wear and temperature of the drive."""

import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from pslc.base import children
from pslc.base.console import say
from pslc.base.errors import TargetError
from pslc.device import sysfs
from pslc.serving.listening import Address

MODULES: Final = ("nbd", "nvmet-tcp", "nvme-tcp")
"""The kernel's NBD client, its NVMe target and its NVMe driver."""
SYS: Final = Path("/sys")
TARGET: Final = Path("/sys/kernel/config/nvmet")
CONNECT: Final = Path("/dev/nvme-fabrics")
NAME: Final = "pslc-"
"""A subsystem is called so, and by the process that serves it."""
MAX_MODEL_LETTERS: Final = 40
MAX_SERIAL_LETTERS: Final = 20
"""Lengths of both in NVMe's Identify Controller."""
MAX_CONNECT_S: Final = 10.0
"""Seconds in which the kernel makes a drive of a connection."""


class NvmeDrive:
    """An NVMe drive before the NBD drive at an address, until `take_back`.

    Attributes:
        path: the block device.

    Args:
        at: address of the served drive.
        model, serial: what the drive calls itself.

    Raises:
        TargetError: this machine cannot do that; nothing is left behind.
    """

    def __init__(self, at: Address, model: str, serial: str) -> None:
        self._name = f"{NAME}{os.getpid()}"
        _check_machine()
        try:
            with _alone():
                for left in TARGET.glob(f"subsystems/{NAME}*"):
                    if not Path("/proc", left.name.removeprefix(NAME)).exists():
                        _take_back(left.name)
                port = self._publish(at, _ascii(model)[:MAX_MODEL_LETTERS], _ascii(serial)[:MAX_SERIAL_LETTERS])
            CONNECT.write_text(f"transport=tcp,traddr=127.0.0.1,trsvcid={port},nqn={self._name}")
            self.path = self._device()
        except BaseException as error:
            self.take_back()
            if isinstance(error, OSError):
                what = f"no NVMe drive can be made: {error.filename or 'the kernel'}: {error.strerror or error}"
                raise TargetError(what, "dmesg may say why; without --nvme the drive is served by NBD alone") from None
            raise

    def take_back(self) -> None:
        """Disconnect the drive, with all of its data written, and remove what was made for it; what stays is said."""
        try:
            _take_back(self._name)
        except OSError as error:
            what = f"{error.filename or 'the kernel'}: {error.strerror or error}"
            say(f"warning: the NVMe drive could not be removed: {what}; the next serve --nvme tries again", err=True)

    def _publish(self, at: Address, model: str, serial: str) -> int:
        """Make the target; its port."""
        subsystem = TARGET / "subsystems" / self._name
        space = subsystem / "namespaces" / "1"
        device = _free_device()
        space.parent.parent.mkdir()
        space.mkdir()
        # First of all, so that whoever takes it back knows the device.
        (space / "device_path").write_text(str(device))
        where = ["-unix", str(at.unix.absolute())] if at.unix is not None else [at.host, str(at.tcp)]
        _nbd_client(*where, str(device), "-b", "512", "-C", "1")
        for name, value in {"attr_allow_any_host": "1", "attr_model": model, "attr_serial": serial}.items():
            (subsystem / name).write_text(value)
        (space / "enable").write_text("1")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port: int = free.getsockname()[1]
        at_port = TARGET / "ports" / str(port)
        at_port.mkdir()
        for name, value in {"trtype": "tcp", "adrfam": "ipv4", "traddr": "127.0.0.1", "trsvcid": str(port)}.items():
            (at_port / f"addr_{name}").write_text(value)
        (at_port / "subsystems" / self._name).symlink_to(subsystem)
        return port

    def _device(self) -> Path:
        """The block device of the connection, once it is there."""
        end = monotonic() + MAX_CONNECT_S
        while monotonic() < end:
            for disk in SYS.glob("block/nvme*"):
                # The path below a drive of several is hidden, and has no node.
                node = Path("/dev", disk.name)
                if sysfs.text(disk / "device" / "subsysnqn") == self._name and node.is_block_device():
                    return node
            sleep(0.05)
        raise TargetError(f"the kernel made no drive of its connection within {MAX_CONNECT_S:g} s", "dmesg may say why")


def _check_machine() -> None:
    """Load the kernel's modules.

    Raises:
        TargetError: what is missing.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        raise TargetError("--nvme needs Linux and root", "without it the drive is served by NBD")
    if children.find("nbd-client") is None:
        raise TargetError("--nvme needs the program nbd-client", "for example: apt install nbd-client")
    missing = [name for name in MODULES if not ((SYS / "module" / name.replace("-", "_")).exists() or _loads(name))]
    if missing:
        raise TargetError(
            f"this kernel has no module {', '.join(missing)}", "--nvme needs them; a container has its host's"
        )
    if not TARGET.is_dir():
        raise TargetError(f"there is no {TARGET}", "mount -t configfs none /sys/kernel/config")


def _loads(module: str) -> bool:
    try:
        return children.run(["modprobe", module]).code == 0
    except OSError:
        return False


@contextmanager
def _alone() -> Iterator[None]:
    """Keep other processes out, which would choose the same device."""
    import fcntl

    folder = os.open(TARGET, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _free_device() -> Path:
    """A device of the NBD client that nobody uses."""
    named = {sysfs.text(path) for path in TARGET.glob("subsystems/*/namespaces/*/device_path")}
    disks = sorted(SYS.glob("block/nbd*"), key=lambda disk: int(disk.name.removeprefix("nbd")))
    for disk in disks:
        if not (disk / "pid").exists() and f"/dev/{disk.name}" not in named:
            return Path("/dev", disk.name)
    raise TargetError(
        f"all {len(disks)} devices of the kernel's NBD client are in use", "nbd-client -d /dev/nbd0 frees one"
    )


def _nbd_client(*words: str) -> None:
    ended = children.run(["nbd-client", *words], timeout_s=MAX_CONNECT_S)
    if ended.code:
        raise OSError(None, ended.errors.decode(errors="replace").strip(), "nbd-client")


def _take_back(name: str) -> None:
    """Remove what stands for a subsystem, as much of it as there is: connections first, the NBD device last."""
    for controller in SYS.glob("class/nvme/nvme*"):
        if sysfs.text(controller / "subsysnqn") == name:
            (controller / "delete_controller").write_text("1")
    subsystem = TARGET / "subsystems" / name
    for link in TARGET.glob(f"ports/*/subsystems/{name}"):
        link.unlink()
        link.parent.parent.rmdir()
    for space in subsystem.glob("namespaces/1"):
        device = sysfs.text(space / "device_path")
        (space / "enable").write_text("0")
        space.rmdir()
        if device is not None:
            _nbd_client("-d", device)
    if subsystem.exists():
        subsystem.rmdir()


def _ascii(text: str) -> str:
    return re.sub(r"[^ -~]", "?", text)
