"""What the tests share: the command as users run it, and runs that several tests look at."""

import atexit
import functools
import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benches.small import PROFILE
from hypothesis import settings

import pslc
from tests import forked, left_behind

ROOT = Path(__file__).parent.parent

# A shell without job control starts what it puts behind itself deaf to interrupts, and so would be what tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Those of nohup stay without effect here, and have their default in what tests start.
for _name in {"SIGHUP", "SIGQUIT"} & set(dir(signal)):
    if signal.getsignal(getattr(signal, _name)) == signal.SIG_IGN:
        signal.signal(getattr(signal, _name), lambda *_: None)


GROUPS = {
    "loops": (
        "test_attempts", "test_content", "test_guard", "test_in_use", "test_labels", "test_overwrite",
        "test_replay_real", "test_swapped", "test_sysstat", "test_watch", "test_where",
    ),
    "clock": ("test_ends", "test_faults", "test_fio_pace", "test_fio_until", "test_real", "test_serve", "test_silence"),
    **{name: (name,) for name in (
        "test_browser", "test_calibration", "test_change_points", "test_extension", "test_fio_output", "test_lab",
        "test_layers", "test_study_page", "test_twin",
    )},
}  # fmt: skip
"""Files whose tests run on one worker, one after the other: on what the machine has once (loop devices, its tracing),
on time, and on what is dear to make: a browser, a fit, a build, seconds of fio, a large import."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Keep on one worker what is to be together, and deal out all else one by one."""
    from xdist.scheduler import LoadScopeScheduling

    group_of = {file: group for group, files in GROUPS.items() for file in files}

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of.get(Path(nodeid.partition("::")[0]).stem, nodeid)

    return ByGroup(config, log) if config.getvalue("dist") == "loadscope" else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """More than there are processors: half of the time, a test waits for fio, a clock or a device."""
    return 3 * (os.cpu_count() or 1) // 2


os.environ["XDG_CONFIG_HOME"] = os.environ["APPDATA"] = tempfile.mkdtemp(prefix="pslc-no-settings-")
atexit.register(shutil.rmtree, os.environ["XDG_CONFIG_HOME"], ignore_errors=True)
# No test reads the settings of whoever runs it.

NICENESS = os.nice(0)


QUICK_CPU_S = float(os.environ.get("PSLC_QUICK_CPU_S", "inf"))
"""Processor time of this process and of its children after which no test file is begun, see `tests.quick`."""


@functools.cache
def _begun(path: Path) -> bool:
    """Whether this test file found time when its first test came; a folder keeps the names of those that did not."""
    if sum(os.times()[:4]) < QUICK_CPU_S:
        return True
    name = path.relative_to(ROOT).as_posix()
    (Path(os.environ["PSLC_QUICK_LEFT"]) / name.replace("/", "-")).write_text(name, encoding="utf-8")
    return False


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Beside others, tests on time go first: a worker gives way from its first other test on."""
    if not _begun(item.path):
        pytest.skip("not begun within the time of make quick")
    if "PYTEST_XDIST_WORKER" in os.environ and os.nice(0) == NICENESS and item.path.stem not in GROUPS["clock"]:
        os.nice(5)


ALL_EXAMPLES = os.environ.get("PSLC_SEARCH") == "all"


def search(examples: int, **options: Any) -> Callable[[Any], Any]:
    """A random search of so many examples: all in `make test-long`, a fifth of them, or ten, in `make test`."""
    count = examples if ALL_EXAMPLES else max(examples // 5, 10)

    def mark(test: Any) -> Any:
        return pytest.mark.search(settings(max_examples=count, **options)(test))

    return mark


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs a browser takes long."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)


TOOLS_REQUIRED = os.environ.get("PSLC_TOOLS") == "required"
"""Where every program is there: a test that is skipped for one fails."""


MAX_CPU_S = 5.0
"""Processor time, with that of its processes, after which `make test` names a test. Longer ones are for test-long."""

DEAR = {
    "tests/formats/test_fio_log.py": "drawn runs of fio, each read from several of its logs",
    "tests/test_advice.py": "a night replayed on several drives, by the command",
    "tests/test_calibration.py": "a fit for each line of drives",
    "tests/test_cut.py": "each suite, cut after each of its steps",
    "tests/test_fio_property.py": "drawn jobs, run by fio and by pslc",
    "tests/test_fio_verify.py": "each checks what the other wrote",
    "tests/test_twin.py": "one fit that all of its tests look at",
    "tests/test_work.py": "each command starts processes of its own in a folder of foreign modules",
    "tests/test_power_cut.py": "each system call of a run is a moment at which the power may be cut",
    "tests/analysis/test_one_answer.py": "120 logs as people keep them",
    "tests/test_faults.py": "a clock that stands still is asked in a loop",
}
"""Tests that may take longer, or files of them, each with the reason."""

LEFT = pytest.StashKey[list[str]]()
FAILED = pytest.StashKey[bool]()
_cpu_s = 0.0


def pytest_configure(config: pytest.Config) -> None:
    """Mark what this run starts. A worker has the mark of its run, a run within a test one of its own."""
    if not hasattr(config, "workerinput"):
        os.environ[left_behind.MARK] = uuid.uuid4().hex


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None):
    """Count the processor time of a test, and of the processes that it waited for."""
    global _cpu_s
    _cpu_s = -sum(os.times()[:4])
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that leaves processes behind."""
    if not hasattr(session.config, "workerinput"):
        session.config.stash[LEFT] = left_behind.after_run(os.environ[left_behind.MARK])
        if session.config.stash[LEFT] and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _dear(terminalreporter: Any) -> list[tuple[float, str]]:
    """Seconds and node ID of each test that took more processor time than it may, the dearest first."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    times = {report.nodeid: dict(report.user_properties).get("cpu_s", 0.0) for report in reports}
    dear = {node: seconds for node, seconds in times.items() if seconds > MAX_CPU_S}
    return sorted(
        ((seconds, node) for node, seconds in dear.items() if not {node, node.partition("::")[0]} & DEAR.keys()),
        reverse=True,
    )


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Name the tests that took too much processor time, and the processes that were left behind."""
    if "not long" in config.option.markexpr and (dear := _dear(terminalreporter)):
        terminalreporter.section(f"more than {MAX_CPU_S:g} s of processor time, to be made cheaper or marked as long")
        for seconds, node in dear:
            terminalreporter.line(f"{seconds:.1f} s {node}")
    if lines := config.stash.get(LEFT, []):
        terminalreporter.section("processes that tests left behind", red=True)
        for line in lines:
            terminalreporter.line(line)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """End what a failed test has started. A skip for a program that a package gives says so in its reason:
    `fio is not installed`."""
    report = yield
    item.stash[FAILED] = report.failed or item.stash.get(FAILED, False)
    if call.when == "teardown" and item.stash[FAILED]:
        left_behind.end_those_of(item.nodeid)
        forked.end_those_of(item.nodeid)
    report.user_properties = [*item.user_properties, ("cpu_s", _cpu_s + sum(os.times()[:4]))]
    if (
        TOOLS_REQUIRED
        and report.skipped
        and isinstance(report.longrepr, tuple)
        and "not installed" in report.longrepr[2]
    ):
        report.outcome = "failed"
        report.longrepr = (
            f"{report.longrepr[2]}, and PSLC_TOOLS=required: make test-tools installs it (Debian, as root)"
        )
    return report


CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def chromium():
    """The browser, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@functools.cache
def fill(target: str) -> pslc.Recording:
    """`pslc run fill` on a target, once for all tests."""
    return pslc.run("fill", on=target)


class Command:
    """`pslc` in a folder: the completed process, output as text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return forked.run(arguments, self.folder, os.environ | environment)

    def fine(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """One that ends well."""
        done = self(*arguments, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def refused(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """One that ends with an error of its user's."""
        done = self(*arguments, **environment)
        assert done.returncode == 2, done.stdout + done.stderr
        return done


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """`pslc` in an empty folder: `command("run", "fill", ...)`."""
    return Command(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> str:
    """A drive as a target, on which a fill takes hundredths of a second."""
    (tmp_path / "small.toml").write_text(PROFILE)
    return f"sim:{tmp_path}/small.toml"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder for jobs beside fio, in memory where that is possible: elsewhere a flush takes milliseconds."""
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture
def tracefs() -> Iterator[Path]:
    """The kernel's tracing, mounted where it was not."""
    place = Path("/sys/kernel/tracing")
    mounted = False
    if not (place / "instances").is_dir():
        done = subprocess.run(["mount", "-t", "tracefs", "none", place], capture_output=True, check=False)
        mounted = done.returncode == 0
    if not (place / "events/block").is_dir():
        pytest.skip("this machine shows no block events")
    yield place
    if mounted:
        subprocess.run(["umount", place], check=False)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts file systems in memory of a size such as `64k`; the test is skipped where that needs more rights."""
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        point = tmp_path / f"disk-{len(mounted)}"
        point.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", point], capture_output=True,
                              check=False)  # fmt: skip
        if done.returncode != 0:
            pytest.skip("mounting needs root")
        mounted.append(point)
        return point

    yield mount
    for point in mounted:
        subprocess.run(["umount", point], check=True)
