"""A policy of the cache and a victim rule in Python."""

import copy
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import pslc
from pslc._native import SimDrive
from pslc.base.errors import JobError, PolicyError, PslcError, TargetError
from pslc.device.target import find_target
from pslc.policy import governor as asked
from pslc.recording import store
from tests import policies_in_python as mine

ROOT = Path(__file__).parent.parent
FILE = Path(mine.__file__)
EXECUTABLE = Path(sys.executable).parent / "pslc"
BURSTS = (ROOT / "tests/fixtures/texts/bursts.fio").read_text()
"""Writes in order, then small ones to what is written, with silences between them."""
OVERWRITES = (ROOT / "tests/fixtures/texts/overwrites.fio").read_text()
"""More than the spare space takes."""
BUILT_IN = {
    "direct-then-fold": mine.DirectThenFold,
    "direct-while-folding": mine.DirectWhileFolding,
    "fold-beside": mine.FoldBeside,
    "fold": mine.Fold,
    "watermarks": mine.Watermarks,
    "bypass": mine.Bypass,
    "rewrite-distance": mine.RewriteDistance,
    "in-place-switch": mine.InPlaceSwitch,
    "predict-idle": mine.PredictIdle,
    "fold-cost-benefit": mine.FoldCostBenefit,
    "static-first": mine.StaticFirst,
}


@pytest.fixture
def small(small):
    """A drive whose cache is used again as it is freed."""
    return f"{small},cache.reuse=as-freed"


@pytest.fixture
def bursts(tmp_path):
    """A job file."""
    path = tmp_path / "bursts.fio"
    path.write_text(BURSTS)
    return path


@pytest.fixture
def overwrites(tmp_path):
    """A job file."""
    path = tmp_path / "overwrites.fio"
    path.write_text(OVERWRITES)
    return path


def digest(recording):
    """Of everything that was recorded."""
    whole = hashlib.sha256()
    for table in (recording.time, recording.bytes):
        for name, column in table.items():
            whole.update(name.encode() + column.astype("<u8").tobytes())
    return whole.hexdigest()


def under(spec, word, path):
    """The same drive under another policy: what follows from its own (the smallest cache, when it shrinks) stays."""
    profile = find_target(spec).profile
    path.write_text(re.sub(r'(?m)^when_full = ".*"$', f'when_full = "{word}"', profile))
    return f"sim:{path}"


@pytest.mark.parametrize("word", BUILT_IN)
def test_a_policy_in_python_is_the_built_in_one_to_the_byte(small, bursts, tmp_path, word):
    spec = f"{small},cache.mode=hybrid-slc,cache.static=100MB,cache.when_full={word}"
    built_in = pslc.run(bursts, on=spec)
    other = under(spec, "watermarks" if word == "direct-then-fold" else "direct-then-fold", tmp_path / "other.toml")
    assert digest(pslc.run(bursts, on=other, policy=BUILT_IN[word]())) == digest(built_in)
    assert digest(pslc.run(bursts, on=other)) != digest(built_in)


def test_the_example_of_the_documents_is_the_built_in_policy_to_the_byte():
    spec = "sim:sn850-1tb,scale=1/32"
    example = asked.loaded(f"{ROOT}/examples/hysteresis.py:Hysteresis", pslc.Policy)
    in_python, profile = pslc.run("fill", on=spec, policy=example), pslc.run("fill", on=spec)
    assert digest(in_python) == digest(pslc.run("fill", on=f"{spec},cache.when_full=watermarks"))
    assert digest(in_python) != digest(profile)


def test_all_built_in_policies_are_held_against_one_in_python():
    from pslc._native import profile_words

    assert set(BUILT_IN) == set(profile_words()["cache.when_full"])


@pytest.mark.parametrize(("word", "rule"), [("greedy", mine.Greedy), ("fifo", mine.Fifo)])
def test_a_victim_rule_in_python_is_the_built_in_one_to_the_byte(small, overwrites, word, rule):
    built_in = pslc.run(overwrites, on=f"{small},ftl.gc={word}")
    other = f"{small},ftl.gc={ {'greedy': 'fifo', 'fifo': 'greedy'}[word] }"
    assert digest(pslc.run(overwrites, on=other, victim_rule=rule())) == digest(built_in)
    assert digest(pslc.run(overwrites, on=other)) != digest(built_in)


def test_a_policy_runs_in_every_suite_and_on_a_scaled_drive(small):
    for suite in ("fill", "recovery", "burst", "mixed"):
        recording = pslc.run(suite, on=f"{small},scale=1/2", policy=mine.Watermarks(), scope=pslc.Scope(quick=True))
        assert not recording.error
        assert recording.facts["policy"]["name"] == "Watermarks"
        whole = pslc.run(suite, on=f"{small},scale=1/2,cache.when_full=watermarks", scope=pslc.Scope(quick=True))
        assert digest(recording) == digest(whole), suite


def test_a_fork_has_a_copy_of_the_policy_as_it_was(small):
    def drive():
        target = asked.governed(find_target(small), mine.Counting(), None)
        return target.open()

    job = "[w]\nrw=write\nbs=128k\nsize=30%\n[x]\nstonewall\nrw=randwrite\nbs=128k\nnumber_ios=20000\n"
    first, same = drive(), drive()
    for each in (first, same):
        each.run("[w]\nrw=write\nbs=128k\nsize=35%\n", "a.fio", [], 0)
    fork = first.fork()
    # What becomes of the one is nothing to the other.
    first.run(job, "a.fio", [], 1)
    result, straight = fork.run(job, "a.fio", [], 1), same.run(job, "a.fio", [], 1)
    assert result["series"]["time"] == straight["series"]["time"]


def test_a_recording_says_which_policy_it_was(small, tmp_path):
    recording = pslc.run("fill", on=small, policy=mine.Watermarks(high=2))
    stated = recording.facts["policy"]
    assert stated["source"].startswith("class Watermarks(pslc.Policy):")
    assert stated["source_sha256"] == hashlib.sha256(stated["source"].encode()).hexdigest()
    assert stated["file_sha256"] == hashlib.sha256(FILE.read_bytes()).hexdigest()
    assert stated["attributes"] == {"high": "2", "low": "2"}
    note = f"Watermarks decides in place of cache.when_full ({FILE.name}, source sha256 {stated['source_sha256'][:12]})"
    assert note in recording.facts["notes"]
    store.save(recording, tmp_path / "run")
    assert pslc.load(tmp_path / "run").facts["policy"] == stated
    assert pslc.run("fill", on=small, policy=mine.Fold()).facts["policy"]["source_sha256"] != stated["source_sha256"]


def test_an_error_of_the_policy_is_raised_with_its_own_traceback(small):
    with pytest.raises(PolicyError, match="Divides raised ZeroDivisionError: integer division") as raised:
        pslc.run("fill", on=small, policy=mine.Divides())
    cause = raised.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    last = traceback.extract_tb(cause.__traceback__)[-1]
    assert (Path(last.filename), last.name) == (FILE, "throttle")
    assert f'File "{FILE}", line {last.lineno}, in throttle' in raised.value.hint


def test_a_drive_whose_policy_failed_does_no_more(small):
    drive = asked.governed(find_target(small), mine.Divides(), None).open()
    assert "raised" in drive.run("[w]\nrw=write\nbs=128k\nsize=50%\n", "a.fio", [], 0)
    for use in (lambda: drive.idle(1), lambda: drive.run("[w]\nrw=write\nbs=128k\nsize=1m\n", "a.fio", [], 0)):
        with pytest.raises(TargetError, match="failed before"):
            use()


class Answers(pslc.Policy):
    """Answers what it was given."""

    def __init__(self, **answers):
        self.answers = answers

    def throttle(self, view):
        return self.answers.get("throttle", "none")

    def overflow(self, view):
        return self.answers.get("overflow", "native")

    def fold_order(self, view):
        return self.answers.get("fold_order", "oldest")

    def place(self, space, write):
        return self.answers.get("place", "cache")

    def idle_start(self, threshold_ns, silences_ns):
        return self.answers.get("idle_start", threshold_ns)


@pytest.mark.parametrize(
    ("question", "answer", "hint"),
    [
        ("throttle", "shared", '"share"'),
        ("throttle", None, '"none"'),
        ("overflow", "fold", '"wait"'),
        ("fold_order", 3, '"oldest"'),
        ("place", "slc", "cache or native"),
        ("idle_start", -1, "from 0 on"),
        ("idle_start", 0.5, "nanoseconds as an int"),
    ],
)
def test_an_answer_that_is_none_is_refused_with_those_that_are(small, question, answer, hint):
    with pytest.raises(JobError) as raised:
        pslc.run("fill", on=small, policy=Answers(**{question: answer}))
    assert raised.value.message == f"Answers.{question} answered {answer!r}"
    assert hint in raised.value.hint


def test_waiting_is_refused_where_nothing_would_end_the_wait(small):
    with pytest.raises(JobError, match="overflow answered 'wait'") as raised:
        pslc.run("fill", on=f"{small},cache.reuse=after-idle", policy=mine.Fold())
    assert "cache.reuse=as-freed" in raised.value.hint


class Nowhere(pslc.VictimRule):
    def choose(self, candidates):
        return len(candidates.valid)


def test_a_victim_that_is_none_is_refused(small, overwrites):
    with pytest.raises(JobError, match=r"Nowhere.choose answered \d+") as raised:
        pslc.run(overwrites, on=small, victim_rule=Nowhere())
    assert re.fullmatch(r"a place among the \d+ candidates, from 0 on", raised.value.hint)


def test_a_drive_that_its_victim_rule_gets_stuck_says_so_with_its_state(small, overwrites):
    with pytest.raises(JobError) as raised:
        pslc.run(overwrites, on=f"{small},scale=1/2", victim_rule=mine.Fullest())
    assert re.match(
        r"Fullest makes no room: it emptied \d+ superblocks before the host got another, and the drive has \d+ "
        r"\(\d+ free, \d+ in reserve; candidates hold \d+ valid pages of \d+ on average\)",
        raised.value.message,
    )


def test_what_has_no_policy_in_python_refuses_one(small, tmp_path):
    policy = mine.Watermarks()
    with pytest.raises(TargetError, match="has no cache, so Watermarks would never be asked"):
        pslc.run("fill", on=f"{small},cache.mode=pure-xlc", policy=policy)
    with pytest.raises(JobError, match="policy is <class"):
        pslc.run("fill", on=small, policy=mine.Watermarks)
    drive = find_target(small).open()
    assert isinstance(drive, SimDrive)
    drive.save(str(tmp_path / "disk.pslc"))
    drive.close()
    with pytest.raises(JobError, match="is a drive file, which has the policy of its profile"):
        pslc.run("fill", on=str(tmp_path / "disk.pslc"), policy=policy)
    governed = asked.governed(find_target(small), policy, None).open()
    with pytest.raises(TargetError, match="cannot be saved with its drive"):
        governed.save(str(tmp_path / "other.pslc"))
    with pytest.raises(JobError, match="not a simulated drive"):
        pslc.run("fill", on=str(tmp_path / "scratch.bin"), policy=policy, real=_scratch())


def _scratch():
    from pslc.device.target import RealOptions

    return RealOptions(size=64_000_000)


def test_repeats_begin_with_the_policy_as_it_was_given(small):
    from pslc.runner import campaign
    from pslc.runner.options import RunOptions

    policy = mine.Counting()
    spec = campaign.CampaignSpec("fill", small, RunOptions(policy=policy), repeat=2)
    first, second = campaign.run(spec)
    assert digest(first) == digest(second)
    assert policy.asked == 0


def test_the_very_object_is_asked_by_a_single_run(small):
    policy = mine.Counting()
    pslc.run("fill", on=small, policy=policy)
    assert policy.asked > 100
    assert copy.deepcopy(policy).asked == policy.asked


def test_a_study_runs_policies_and_the_one_of_the_profile(small):
    stated = {"on": small, "run": "fill", "workers": 1}
    policies = [mine.Watermarks, f"{FILE}:DirectWhileFolding", "profile"]
    own = {"on": f"{small},cache.when_full=direct-then-fold"}
    table = pslc.study(policy=policies, **stated | own)
    rows = {name: table[name].to_pylist() for name in table.column_names}
    assert rows["error"] == [None] * 3
    built_in = pslc.study(vary={"cache.when_full": ["watermarks", "direct-while-folding"]}, **stated)
    assert rows["fill_mean_bytes_per_s"][:2] == built_in["fill_mean_bytes_per_s"].to_pylist()
    assert len(set(rows["fill_mean_bytes_per_s"])) == 3
    assert shlex.split(rows["command"][1])[-2:] == ["--policy", f"{FILE}:DirectWhileFolding"]
    assert "--policy" not in rows["command"][2]
    assert len(set(rows["stands_on"])) == 2


def test_a_study_refuses_a_class_that_is_in_no_file():
    class Local(pslc.Policy):
        pass

    with pytest.raises(JobError, match="in no file that other processes could load"):
        pslc.study(on="sim:sn850-1tb", run="fill", policy=Local)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (f"{FILE}:Watermark", "has no Policy named Watermark", "did you mean Watermarks?"),
        (f"{FILE}:Greedy", "has no Policy named Greedy", ""),
        ("mine.py", "names no Policy", "mine.py:Mine"),
        ("missing.py:Mine", "missing.py", "--policy mine.py:Mine"),
    ],
)
def test_the_command_refuses_what_names_no_policy(text, message, hint):
    with pytest.raises(PslcError) as raised:
        asked.loaded(text, pslc.Policy)
    assert message in raised.value.message
    assert hint in raised.value.hint


def test_the_command_runs_a_policy_from_a_file(small, tmp_path):
    words = ["run", "fill", "--on", small, "--json", "--policy", f"{FILE}:Watermarks"]
    done = subprocess.run([EXECUTABLE, *words], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(done.stdout)["facts"]["policy"]["name"] == "Watermarks"
    broken = tmp_path / "broken.py"
    broken.write_text(
        "import pslc\nclass Mine(pslc.Policy):\n    def throttle(self, view):\n        return view.spice\n"
    )
    words[-1] = f"{broken}:Mine"
    failed = subprocess.run([EXECUTABLE, *words], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert failed.returncode == 2
    assert "Mine raised AttributeError: 'View' object has no attribute 'spice'" in failed.stderr
    assert f'File "{broken}", line 4, in throttle' in failed.stderr
    assert "bug in pslc" not in failed.stderr


@contextmanager
def endless(small: str, ignore_interrupts: bool) -> Iterator[subprocess.Popen[str]]:
    """A program by itself whose policy was asked, and never answers."""
    program = (
        f"import pslc, tests.policies_in_python as mine\n"
        f"try:\n    for _ in range(9): pslc.run('fill', on={small!r}, policy=mine.Endless())\n"
        "except pslc.RunInterrupted as end: print('interrupted', end.recording.interrupted)\n"
    )
    disposition = signal.SIG_IGN if ignore_interrupts else signal.SIG_DFL
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, disposition),
    ) as child:  # fmt: skip
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "asked\n"
            yield child
        finally:
            child.kill()


def test_an_interrupt_ends_a_policy_that_never_answers(small):
    with endless(small, ignore_interrupts=False) as child:
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=120)
    assert out == "interrupted True\n"


def test_where_interrupts_are_ignored_a_policy_that_never_answers_is_ended_by_sigterm(small):
    with endless(small, ignore_interrupts=True) as child:
        child.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(timeout=2)
        child.terminate()
        assert child.wait(timeout=60) == -signal.SIGTERM


HOSTILE = ROOT / "tests/hostile_policies.py"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("RaisesBase", "RaisesBase raised BaseException: mine \\u001b]0;"),
        ("Exits", "Exits raised SystemExit: 7"),
        ("Interrupts", "Interrupts raised KeyboardInterrupt"),
        ("EndsGenerators", "EndsGenerators raised GeneratorExit"),
        ("Recurses", "Recurses raised RecursionError"),
        ("Shallow", "Shallow changed Python's recursion limit"),
        ("ClosesStdout", "ClosesStdout closed stdout"),
        ("AnswersHuge", "AnswersHuge.throttle answered 'xxx"),
        ("AnswersWithoutRepr", "AnswersWithoutRepr.throttle answered <Nameless instance at 0x"),
        ("Crashes", "its process was ended by SIGSEGV, twice"),
    ],
)
def test_whatever_a_policy_does_is_its_authors_error_in_words_beside_the_recording_so_far(small, tmp_path, name, said):
    words = ["run", "fill", "--on", small, "--policy", f"{HOSTILE}:{name}", "--no-report", "--save", "kept"]
    done = subprocess.run([EXECUTABLE, *words], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60)
    assert done.returncode == 2
    assert said in done.stderr
    assert "bug in pslc" not in done.stderr
    assert len(done.stderr) < 6000
    assert not list(tmp_path.glob("pslc-bug-*"))
    if " raised " in said:
        assert f'File "{HOSTILE}", line' in done.stderr
        assert "pslc/policy" not in done.stderr
    if name != "Crashes":
        kept = pslc.load(tmp_path / "kept")
        assert said.partition("\\")[0] in kept.error
        assert 0 < kept.time["write_bytes"].sum() < kept.capacity_bytes / 2


def test_what_a_policy_does_beside_its_answers_harms_no_output(small, tmp_path):
    for name in ("Prints", "HasNamelessAttribute"):
        words = ["run", "fill", "--on", small, "--policy", f"{HOSTILE}:{name}", "--json"]
        done = subprocess.run([EXECUTABLE, *words], capture_output=True, text=True, check=True, cwd=tmp_path)
        attributes = json.loads(done.stdout)["facts"]["policy"]["attributes"]
        assert ("talk" in done.stderr) == (name == "Prints")
    assert attributes["nameless"].startswith("<Nameless instance at 0x")


@pytest.mark.parametrize(
    ("what", "name", "signals"),
    [
        ("run", "Loops", [signal.SIGINT]),
        ("run", "Holds", [signal.SIGTERM]),
        ("run", "Sleeps", [signal.SIGINT, signal.SIGINT]),
        ("study", "Catches", [signal.SIGINT]),
        ("study", "Holds", [signal.SIGINT, signal.SIGINT]),
        ("study", "Sleeps", [signal.SIGTERM]),
    ],
)
def test_a_policy_that_never_answers_ends_with_its_command_and_what_is_saved_stays(
    small, tmp_path, what, name, signals
):
    words = [what, *(["fill"] if what == "run" else ["--run", "fill", "--policy", "profile", "--workers", "2"])]
    words += ["--on", small, "--policy", f"{HOSTILE}:{name}", "--save", "kept"]
    child = subprocess.Popen([EXECUTABLE, *words], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True, start_new_session=True)  # fmt: skip
    deadline = time.monotonic() + 60
    # The other point of the study is saved, and the policy is at it.
    while not (tmp_path / "asked").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.5)
    began = time.monotonic()
    for number in signals:
        os.killpg(child.pid, number)
        time.sleep(0.3)
    _, talk = child.communicate(timeout=60)
    # Such a policy would go on for ever; how soon it ends is for a machine that does much else.
    assert time.monotonic() - began < (8 if len(signals) == 2 else 30)
    assert child.returncode == 130, talk
    assert "Traceback" not in talk
    if what == "study":
        assert "interrupted: 1 of 2 points are saved; the same command resumes" in talk
    elif len(signals) == 1:
        kept = pslc.load(tmp_path / "kept")
        assert kept.interrupted
        assert kept.time["write_bytes"].sum() > 0


def test_a_study_with_failed_points_is_an_error_and_keeps_the_others(small, tmp_path):
    words = [
        "study",
        "--run",
        "fill",
        "--on",
        small,
        "--policy",
        "profile",
        "--policy",
        f"{HOSTILE}:Exits",
        "--save",
        "s",
    ]
    done = subprocess.run([EXECUTABLE, *words], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert "1 of 2 points failed, the first of them: failed: Exits raised SystemExit: 7" in done.stderr
    assert "2 of 2 points: 0 refused by the profile's check, 1 failed" in done.stdout


def test_an_error_of_a_policy_has_the_recording_so_far_in_python_too(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PolicyError) as raised:
        pslc.run("fill", on=small, policy=f"{HOSTILE}:Exits")
    assert raised.value.recording.error == "Exits raised SystemExit: 7"
    assert raised.value.recording.time["write_bytes"].sum() > 0
