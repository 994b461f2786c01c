"""Each recipe of docs/extending.md that changes Rust, applied to a copy of the tree, builds and does what it says."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.recipes import RECIPES, added, files, is_native

HOUSE = Path(__file__).parent.parent
pytestmark = pytest.mark.long
NEEDED = ("Cargo.toml", "Cargo.lock", "crates", "benches", "python/pslc/drives")


def run(tree, *command, text=""):
    done = subprocess.run(command, cwd=tree, input=text, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# Apart from the house's own build: cargo takes two copies of a workspace in one build folder for the same.
FOLDER = Path(os.environ.get("CARGO_TARGET_DIR", HOUSE / "target")) / "extension"


def environment():
    # A tenth of the time to build, and for what little is run here fast enough.
    return {**os.environ, "CARGO_TARGET_DIR": str(FOLDER / "build"), "CARGO_PROFILE_DEV_OPT_LEVEL": "0"}


@pytest.fixture(scope="module")
def tree():
    """A copy of the tree with the patches; always in the same place, so that what it needs is compiled once."""
    copy = FOLDER / "tree"
    if copy.exists():
        shutil.rmtree(copy)
    for name in NEEDED:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        source = HOUSE / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, copy / name)
    # Apart from the repository around it, under which git would look for the files elsewhere.
    run(copy, "git", "init", "-q")
    for name, patch in RECIPES.items():
        if is_native(name):
            run(copy, "git", "apply", "-", text=patch)
    return copy


def test_a_policy_is_one_file_and_two_lines_and_a_victim_rule_a_value_and_an_arm(tree):
    changed = run(tree, "git", "ls-files", "--others", "--", "crates/ssd/src/ftl/cache").split()
    assert "crates/ssd/src/ftl/cache/stall_and_fold.rs" in changed
    assert files("Victim rule") == ["crates/ssd/src/ftl/victim.rs"]
    assert added("Cache policy", "crates/ssd/src/ftl/cache/mod.rs") == 2


@pytest.mark.slow
def test_no_drive_with_them_gets_stuck(tree):
    """Drives at their least spare space, which draw from every policy and rule there is."""
    name = "no_livelock::every_request_completes_at_the_least_spare_space"
    told = run(tree, "cargo", "test", "-p", "pslc-ssd", "--test", "behaviours", name, "--", "--exact", "--nocapture")
    assert "1 passed" in told


def test_a_profile_may_name_them(tree):
    """A program in the copy asks the loader, which no list had to be told to. It needs nothing that tests need."""
    (tree / "crates/ssd/src/bin").mkdir()
    (tree / "crates/ssd/src/bin/extension.rs").write_text(
        """
        use pslc_ssd::{config::*, profile, Drive, Nanos, Request, Words};

        fn main() {
            let text = include_str!("../../../../python/pslc/drives/pm871b-128gb.toml");
            let changes = [
                ("cache.when_full", "stall-and-fold"),
                ("cache.reuse", "as-freed"),
                ("cache.dead", "free-at-once"),
                ("ftl.gc", "windowed"),
            ];
            let changes: Vec<_> = changes.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            let config = profile::load("extension", text, &|_| None, &changes).unwrap().config;
            assert_eq!(config.cache.when_full, WhenFull::StallAndFold);
            assert_eq!(config.ftl.gc.word(), "windowed");
            let mut drive = Drive::new(&config);
            let mut now = Nanos::ZERO;
            for at in (0..12 << 30).step_by(1 << 20) {
                now = drive.submit(now, &Request::write(at, 1 << 20));
            }
            drive.audit();
            println!("wrote until {} s", now.0 / 1_000_000_000);
        }
        """
    )
    assert "wrote until " in run(tree, "cargo", "run", "--quiet", "-p", "pslc-ssd", "--bin", "extension")


def test_a_trace_format_is_one_file_and_two_lines(tree):
    assert added("Trace format", "crates/load/src/traces/mod.rs") == 2
    (tree / "crates/load/src/bin").mkdir(exist_ok=True)
    (tree / "crates/load/src/bin/extension.rs").write_text(
        """
        use pslc_load::traces::{detect, survey, Cut, Reading, Trace};

        fn main() {
            let text = "TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  LAT(ms)\\n\\
                        0.000000    supervise      1950   xvda1     W 13092560   4096      0.74\\n\\
                        0.500000    cksum          1956   xvda1     R 13092432   8192      0.25\\n";
            let path = std::env::temp_dir().join(format!("biosnoop-{}", std::process::id()));
            std::fs::write(&path, text).unwrap();
            assert_eq!(detect(&path).unwrap(), Some("biosnoop"));
            let found = survey(&mut Trace::open(&path, &Reading::default(), Cut::default()).unwrap()).unwrap();
            std::fs::remove_file(&path).unwrap();
            assert_eq!((found.volumes[0].device.as_str(), found.volumes[0].bytes), ("xvda1", [8192, 4096, 0, 0]));
            assert_eq!((found.timed, found.took.0), (2, 990_000));
            println!("read {} requests", found.timed);
        }
        """
    )
    assert "read 2 requests" in run(tree, "cargo", "run", "--quiet", "-p", "pslc-load", "--bin", "extension")


def test_an_option_of_fio_is_one_row(tree):
    assert added("fio option", "crates/load/src/job/options.rs") == 1
    (tree / "crates/load/src/bin").mkdir(exist_ok=True)
    (tree / "crates/load/src/bin/option.rs").write_text(
        """
        use pslc_load::job::{parse, Ground};
        use pslc_ssd::Nanos;

        fn main() {
            let text = "[a]\\nrw=write\\nsize=1m\\nrest_minutes=2\\n";
            let jobs = parse("a.fio", text, &[], Ground::Simulated, 1 << 30, &|_| None).unwrap();
            assert_eq!(jobs[0].pause, Nanos::from_secs(120));
            println!("rests {} s", jobs[0].pause.0 / 1_000_000_000);
        }
        """
    )
    assert "rests 120 s" in run(tree, "cargo", "run", "--quiet", "-p", "pslc-load", "--bin", "option")
