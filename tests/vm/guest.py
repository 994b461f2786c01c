"""A virtual machine for tests: Debian's kernel under QEMU, with drives of which everything is known.

Its files are the host's, read-only, so it runs the pslc of this environment; `/run/share` is a folder of the test.
"""

import compileall
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

KERNEL = ROOT / "target" / "vm"
QEMU = "qemu-system-x86_64"
NO_AVX = "Nehalem"
"""Processor of the guest: QEMU's own AVX is not to be trusted with NumPy."""
BEGIN = """\
export PATH={programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp COLUMNS=120 LC_ALL=C.UTF-8
export PYTHONFAULTHANDLER=1 PYTHONDONTWRITEBYTECODE=1
load() {{ for module in "$@"; do modprobe -d {kernel} $module || echo "no module $module"; done; }}
on() {{
  cd /sys/block
  files="*/serial */device/serial */device/vpd_pg80 */device/../../../../serial"
  echo /dev/$(grep -laE "$1 *$" $files 2> /dev/null | cut -d/ -f1 | head -n 1)
}}
cd /tmp
{{ {job}
}} </dev/null 2>&1 | cat
sync
echo o > /proc/sysrq-trigger
while :; do :; done
"""


def missing() -> str | None:
    """Sentence on what a guest needs and this machine has not."""
    if shutil.which(QEMU) is None:
        return f"{QEMU} is not installed"
    return None if (KERNEL / "initrd").exists() else "the guest has no kernel here: make test-vm fetches it"


needs_guest = pytest.mark.skipif(missing() is not None, reason=missing() or "")


def drive(image: Path, device: str, more: str = "discard=unmap") -> list[str]:
    """QEMU's words for a drive over an image, called as the image is: `device` and `more` as `-device` and `-drive`
    have them."""
    name = image.stem
    return [
        "-drive", f"file={image},if=none,id={name},format=raw,cache=none,{more}",
        "-device", f"{device},drive={name},id={name}",
    ]  # fmt: skip


def image(path: Path, size: int) -> Path:
    """A sparse file of this many bytes."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


class Guest:
    """A machine that runs the shell script `job` and then ends. Its clock counts instructions, 10^9 of them a second:
    a busy host does not make it look slow.

    Args:
        share: folder that is `/run/share` in the guest; `console.txt` in it gets what the guest prints.
        words: more of QEMU's words, such as those of `drive`.
        skips_idle: its clock jumps over idle time, and so over what it takes QEMU to read or write an image. Such a
            guest does not know that it is one: pslc names no causes on a virtual machine.
        qemu: the program.
    """

    def __init__(self, job: str, share: Path, words: list[str], skips_idle: bool = False, qemu: str = QEMU) -> None:
        share.mkdir(exist_ok=True)
        # A guest can keep no bytecode, and would compile all modules at each call of pslc, for minutes.
        compileall.compile_dir(ROOT / "python" / "pslc", quiet=1)
        (share / "begin").write_text(BEGIN.format(programs=Path(sys.executable).parent, kernel=KERNEL, job=job))
        self.console = share / "console.txt"
        self.console.write_text("")
        processor = NO_AVX + ",-hypervisor" * skips_idle
        clock = f"shift=0,align=off,sleep={'off' if skips_idle else 'on'}"
        self._process = subprocess.Popen(
            [
                qemu, "-accel", "tcg,thread=single", "-smp", "1", "-icount", clock,
                "-cpu", processor, "-m", "1536", "-nodefaults", "-display", "none", "-no-reboot",
                "-kernel", KERNEL / "vmlinuz", "-initrd", KERNEL / "initrd",
                "-append", "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on",
                "-serial", f"file:{self.console}", "-qmp", "stdio",
                "-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
                "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
                "-fsdev", f"local,id=share,path={share},security_model=none",
                "-device", "virtio-9p-pci,fsdev=share,mount_tag=share", *words,
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self._process.stdout.readline()
        self.ask("qmp_capabilities")

    def __enter__(self) -> "Guest":
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def ask(self, command: str, **arguments: object) -> Any:
        """Ask QEMU; its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        while line := self._process.stdout.readline():
            answer = json.loads(line)
            if "event" not in answer:
                assert "return" in answer, f"{command}: {answer}"
                return answer["return"]
        raise AssertionError(f"QEMU has ended:\n{self.printed()}")

    def written(self, name: str) -> int:
        """Bytes that were written to the drive of an image."""
        return next(of["stats"]["wr_bytes"] for of in self.ask("query-blockstats") if of["device"] == name)

    def printed(self) -> str:
        """What the guest printed so far."""
        return self.console.read_text(errors="replace").replace("\r", "")

    def wait_for(self, true: Any, within_s: float = 2400.0) -> None:
        """Wait until something is true while the guest runs."""
        end = time.monotonic() + within_s
        while not true():
            assert self._process.poll() is None, f"the guest has ended:\n{self.printed()}"
            assert time.monotonic() < end, f"it did not come true:\n{self.printed()}"
            time.sleep(0.1)

    def wait(self, within_s: float = 2400.0) -> str:
        """Wait for its end; what it printed."""
        self._process.wait(within_s)
        return self.printed()

    def cut(self) -> None:
        """Cut the power."""
        self._process.kill()
        self._process.communicate()


def run(job: str, share: Path, words: list[str], skips_idle: bool = False) -> str:
    """Run a job in a guest of its own; what it printed."""
    with Guest(job, share, words, skips_idle) as guest:
        return guest.wait()
