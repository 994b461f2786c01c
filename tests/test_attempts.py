"""A campaign: pslc is made to write where it must not, in random ways, hundreds of times. Every attempt that is not
allowed is refused with no byte changed, and every one that is allowed is made: `make attempts`."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import pslc
from pslc.device.target import RealOptions, find_target
from tests.labels import BY_HAND
from tests.loops import MB, loop_over, noise, reason
from tests.test_labels import known
from tests.writers import JOB as SHORT
from tests.writers import ON, STANDS, WRITERS, foreign, looks, swapped

ATTEMPTS = int(os.environ.get("PSLC_ATTEMPTS", "14"))
JOB = "[w]\nrw=randwrite\nbs=64k\nsize=64k\n"


@dataclass
class Attempt:
    """What is tried; with `reasons` it must be refused."""

    on: str
    real: RealOptions
    watched: list[Path]
    reasons: list[str] = field(default_factory=list)


def hold(stack: ExitStack, code: str, path: object) -> None:
    """Another process does something to a path until the end of the attempt."""
    program = f"import fcntl, os, sys, time\npath = sys.argv[1]\n{code}\nprint('ready', flush=True)\ntime.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    stack.callback(process.wait)
    stack.callback(process.kill)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


def on_a_device(choice: random.Random, folder: Path, stack: ExitStack) -> Attempt:
    size = 64 * MB
    loop = stack.enter_context(loop_over(noise(folder / "drive.img", size)))
    attempt = Attempt(loop.path, RealOptions(), [loop.image])
    serial, wipe = str(loop.image), choice.random() < 0.3
    if choice.random() < 0.4:
        name = choice.choice([name for name in BY_HAND if name != "HFS"])
        with open(loop.path, "r+b") as device:
            for offset, data in BY_HAND[name]().items():
                device.seek(offset)
                device.write(data)
        if known(loop.path) and not wipe:
            attempt.reasons.append(f"label: {name}")
    trick = choice.random()
    if trick < 0.15:
        hold(stack, f"held = os.open(path, os.{choice.choice(['O_RDONLY', 'O_RDWR', 'O_WRONLY'])})", loop.path)
        attempt.reasons.append("held open")
    elif trick < 0.25:
        hold(stack, "held = open(path, 'rb')", loop.image)
        attempt.reasons.append("its file held open")
    elif trick < 0.35:
        stack.enter_context(loop_over(loop.image))
        attempt.reasons.append("a second loop")
    elif trick < 0.45:
        stack.enter_context(loop_over(Path(loop.path)))
        attempt.reasons.append("a loop over it")
    if choice.random() < 0.2:
        link = folder / "by-id"
        link.symlink_to(loop.path)
        attempt.on = str(link)
    wrong = choice.random()
    if wrong < 0.2:
        serial = choice.choice([serial + " ", serial[:-1], serial.upper(), "", "*", "None", serial + "\0", loop.path,
                                "S" + str(choice.getrandbits(40)), " " + serial])  # fmt: skip
        attempt.reasons.append("serial")
        attempt.real = RealOptions(destroy_data=serial, wipe_signatures=wipe)
    elif wrong < 0.3:
        attempt.reasons.append("no serial")
        attempt.real = choice.choice([RealOptions(reuse=True), RealOptions(size=MB), RealOptions(wipe_signatures=True),
                                      RealOptions(overwrite_file=Path(attempt.on).name)])  # fmt: skip
    else:
        attempt.real = RealOptions(destroy_data=serial, wipe_signatures=wipe)
    return attempt


def on_a_file(choice: random.Random, folder: Path, stack: ExitStack) -> Attempt:
    path = folder / "data.bin"
    path.write_bytes(choice.randbytes(MB))
    attempt = Attempt(str(path), RealOptions(), [path])
    ours = choice.random() < 0.5
    if ours:
        find_target(str(path), RealOptions(overwrite_file="data.bin")).open()
        if choice.random() < 0.4:
            how: Callable[[], object] = choice.choice([
                lambda: path.write_bytes(choice.randbytes(MB)),
                lambda: os.truncate(path, MB - 4096 * choice.randrange(1, 200)),
                lambda: (shutil.copy2(path, folder / "copy"), os.replace(folder / "copy", path)),
                lambda: os.utime(path, (1, 1)),
            ])  # fmt: skip
            how()
            ours = False
    name = choice.choice([None, None, "data.bin", "other", "./data.bin", str(path), ""])
    size = choice.choice([None, None, 64 << 10, 2 * MB])
    attempt.real = RealOptions(size=size, reuse=choice.random() < 0.9, overwrite_file=name)
    if not attempt.real.takes_existing:
        attempt.reasons.append("no --reuse")
    if not ours and name != "data.bin":
        attempt.reasons.append("not pslc's")
    if name not in (None, "data.bin"):
        attempt.reasons.append("another name")
    trick = choice.random()
    if trick < 0.1:
        os.link(path, folder / "second")
        attempt.reasons.append("hard link")
    elif trick < 0.25:
        (folder / "deep").mkdir()
        link = folder / "deep" / "data.bin"
        link.symlink_to(choice.choice([path, Path("../data.bin")]))
        attempt.on = str(link)
        attempt.reasons.append("symbolic link")
    elif trick < 0.35:
        code = choice.choice(["held = open(path, 'rb')", "held = open(path, 'r+b'); fcntl.flock(held, fcntl.LOCK_EX)",
                              "held = open(path, 'r+b'); fcntl.lockf(held, fcntl.LOCK_EX)"])  # fmt: skip
        hold(stack, code, path)
        attempt.reasons.append("held")
    elif trick < 0.45 and reason() is None:
        stack.enter_context(loop_over(path))
        attempt.reasons.append("behind a loop")
    elif trick < 0.5:
        path.chmod(0o444)
        attempt.reasons.append("read-only")
    return attempt


@pytest.mark.long
def test_no_attempt_writes_where_it_must_not(tmp_path):
    choice = random.Random(int(os.environ.get("PSLC_SEED", "1")))
    kinds = [on_a_file] if reason() is not None else [on_a_file, on_a_device]
    refused, made = Counter(), 0
    for number in range(ATTEMPTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        with ExitStack() as stack:
            attempt = kinds[number % len(kinds)](choice, folder, stack)
            before = [path.read_bytes() for path in attempt.watched]
            error = None
            try:
                drive = find_target(attempt.on, attempt.real).open()
                drive.run(JOB, "job.fio", [], number)  # type: ignore[call-arg]
                del drive
            except pslc.PslcError as caught:
                error = str(caught)
            assert (error is not None) == bool(attempt.reasons), f"attempt {number}: {attempt}: {error}"
            if error is None:
                made += 1
            else:
                assert "\n\nhint: " in error
                assert [path.read_bytes() for path in attempt.watched] == before, attempt
                refused.update(reason.partition(":")[0] for reason in attempt.reasons)
        shutil.rmtree(folder)
    assert made > ATTEMPTS // 20
    print(json.dumps({"attempts": ATTEMPTS, "made": made, "refused, by each reason": dict(refused.most_common())}))


@pytest.mark.long
def test_no_attempt_on_the_writers_changes_what_is_not_pslc_s(tmp_path):
    """All writers of files, over and through whatever can have their names."""
    choice = random.Random(int(os.environ.get("PSLC_SEED", "1")))
    job = tmp_path / "short.fio"
    job.write_text(SHORT)
    recording = pslc.run(job, on=ON)
    outcomes: Counter[str] = Counter()
    for number in range(ATTEMPTS):
        folder = tmp_path / str(number) / "folder"
        folder.mkdir(parents=True)
        what, stands = sorted(WRITERS)[number % len(WRITERS)], choice.choice(STANDS)
        of = WRITERS[what]
        precious = folder.parent / "precious"
        precious.write_bytes(content := choice.randbytes(choice.randrange(1, 8192)))
        inode = precious.stat().st_ino
        if choice.random() < 0.25:
            stands(folder / of.name, precious)
            with swapped(folder / of.name, precious), suppress(pslc.PslcError, OSError):
                of.write(folder / of.name, recording)
            outcomes["race of a link"] += 1
        else:
            _attempted(what, stands, folder, precious, recording)
            outcomes[stands.__name__] += 1
        assert (precious.read_bytes(), precious.stat().st_ino) == (content, inode), (what, stands)
        assert not list(folder.glob(".pslc-*"))
        shutil.rmtree(folder.parent)
    print(json.dumps({"attempts on writers": ATTEMPTS, "by what stood there": dict(outcomes.most_common())}))


def _attempted(
    what: str, stands: Callable[[Path, Path], None], folder: Path, precious: Path, recording: object
) -> None:
    """One attempt without a race: what stands there is left, unless the command line names it and may replace it."""
    of = WRITERS[what]
    stands(folder / of.name, precious)
    before = looks(folder)[of.name]
    if of.named and stands is foreign:
        of.write(folder / of.name, recording)
        return
    with pytest.raises((pslc.PslcError, FileExistsError)):
        of.write(folder / of.name, recording)
    assert looks(folder)[of.name] == before, (what, stands)
