# make demo | test | check | bench | picture. Each sets up what it needs: a virtual environment in .venv and the build.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEPS := $(VENV)/.dependencies
BUILT := $(VENV)/.built
SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: help quick test-rust test-python lint format ruff types clippy clippy-windows licences-check advisories instructions audit-check upgrade mutants release-check licences wheel windows test-vm audit docs fuzz soak attempts blkid-images demo test test-long test-all check bench web refits accuracy contradictions calibration ssd-iq policies questions suites formats fio-page fio-census fio-tests picture build clean tools test-tools man
SECONDS ?= 60
MUTANT_SECONDS ?= 1200
# Tests start hundreds of Pythons, each of which would compile all modules anew where the environment forbids to keep them.
export PYTHONDONTWRITEBYTECODE :=
# Products of small matrices are slower on several processors than on one, and stand still where others work beside.
export OPENBLAS_NUM_THREADS := 1
ADVISORIES := $(or $(CARGO_HOME),$(HOME)/.cargo)/advisory-dbs
ONLINE ?= $(BIN)/python -c 'import urllib.request as r; r.urlopen("https://pypi.org/pypi/pip/json", timeout=5)' 2>/dev/null

# What a check needs and may be missing: without it the check is skipped with a sentence, or fails where PSLC_TOOLS says so.
have = if ! { $(1); } >/dev/null; then \
	  echo "check: not done here, it needs: $(2)" >&2; test "$(PSLC_TOOLS)" != required; exit; fi;
FUZZ := job size profile trace
# What is shipped for Windows, checked on each change; `make windows` runs it.
WINDOWS := x86_64-pc-windows-gnu
NATIVE := -p pslc-ssd -p pslc-load -p pslc-drive -p pslc-nbd


help:
	@echo "make demo     build, then fill a simulated drive and show its cliff"
	@echo "make quick    build, then the tests nearest to what was changed since main, in a minute of CPU"
	@echo "make test     build, then run every test that takes seconds"
	@echo "make test-long  the tests with a browser, a fit, a build, a cluster, a long random search"
	@echo "make test-all and the slow tests: every suite on every drive, recovery on random drives"
	@echo "make test-vm  the tests in a virtual machine: power cuts, drives of each bus, faults (Debian); minutes"
	@echo "make test-tools  install the programs that tests compare with (Debian, as root)"
	@echo "make check    formatting, lints, types, licences and known vulnerabilities"
	@echo "make lint     of these, formatting, lints and types of Python: half a minute"
	@echo "make upgrade  the newest versions of the packages that tests and documents need, into requirements.lock"
	@echo "make audit    known vulnerabilities of what an install brings along"
	@echo "make bench NAME=suites  a bench by its name; without one a list of them [ARGS=its arguments]"
	@echo "make refits   twins fitted to published figures, for ACCURACY.md"
	@echo "make accuracy  published figures beside simulated ones, as ACCURACY.md"
	@echo "make articles  the articles that pslc exists for, item by item, as docs/articles.md"
	@echo "make contradictions  every suite on every drive, held against the drive itself, as docs/contradictions.md"
	@echo "make calibration  constants of parts, fitted to all published figures, into python/pslc/device/parts/constants.csv"
	@echo "make ssd-iq   write amplification of skewed writes beside that of server drives, into docs/accuracy/ssd_iq.md"
	@echo "make policies every policy of the cache under six kinds of work, into docs/policies.md"
	@echo "make fio-page  what becomes of each of fio's options, as docs/fio.md"
	@echo "make fio-census FOLDER=fio/examples  what pslc makes of a folder of job files"
	@echo "make fio-tests FOLDER=fio [SCRIPTS="strided readonly"]  fio's own tests against pslc-fio, into docs/fio.md"
	@echo "make questions  what people ask, answered on two drives, into docs/questions.md"
	@echo "make suites   what the suites say of themselves, as docs/suites.md"
	@echo "make picture  draw the pictures of the README anew"
	@echo "make attempts  try to make pslc write where it must not [ATTEMPTS=400] [SEED=1]; loop devices need root"
	@echo "make blkid-images  fetch libblkid's own test images (Debian), for tests/test_labels.py"
	@echo "make fuzz     mutated job files, sizes, profiles and traces [SECONDS=60 each]; needs nightly Rust and cargo-fuzz"
	@echo "make release-check  what of a release can be tried here [PROFILE=fast]"
	@echo "make mutants  drawn mutants of the package and of ftl/, asked of the tests nearest to each [MUTANT_SECONDS=1200] [SEED=1]"
	@echo "make wheel    the package for this machine, into target/wheels"
	@echo "make man      man pages and shell completions, into target/man and target/completions"
	@echo "make windows  pslc as a Windows program under Wine: digests of runs beside those of Linux, then the tests of files"
	@echo "make soak     random requests on random drives, audited [SECONDS=60] [SEED=1]"
	@echo "make docs     the documents as a site, into target/site; a broken link ends it"
	@echo "make formats  what can be read of other programs, as docs/formats.md"
	@echo "make web      the simulated drive as a page that needs nothing, into target/web/index.html; needs Node.js"
	@echo "make clean    remove the environment and every build"

demo: build
	@$(BIN)/pslc run fill --on sim:aldrin-pro-2tb

build: $(BUILT)

# What fails is said at once; a test that hangs or ends its worker ends the run, which would wait for ever without.
PYTEST = $(BIN)/pytest -n auto --dist loadscope --instafail --timeout=600 --max-worker-restart=0

quick: build
	@$(BIN)/python -m tests.quick

test: test-rust test-python

test-rust: build
	@echo "compiling the Rust tests (two minutes the first time, a line for each crate)"
	@cargo test --workspace --no-run 2>&1 | grep --line-buffered -E '^ +(Compiling pslc|Finished)|^(error|warning)|^ +(-->|\|)' ; exit $${PIPESTATUS[0]}
	@echo "running the Rust tests"
	@cargo test --workspace --quiet --no-fail-fast 2>&1 | awk -f tests/count.awk

test-python: build
	@echo "running the Python tests"
	@$(PYTEST)

test-long: build
	@$(call have,node --version && { rustup target list --installed | grep -q wasm32 || test -d /usr/src/rustc-*; },Node.js and rustup target add wasm32-unknown-unknown) \
	$(MAKE) --silent web || echo "the static page was not built, so its tests are left out" >&2
	PSLC_SEARCH=all $(PYTEST) -m "(long or search) and not slow"

test-all: test test-long
	$(BIN)/pytest -m slow -n auto

# Debian's kernel under QEMU, without KVM and without rights of root.
VM := target/vm
$(VM)/initrd: tests/vm/kernel tests/vm/init
	@$(call have,apt-cache show linux-image-amd64 && command -v busybox modprobe,Debian and its packages busybox-static and kmod) tests/vm/kernel $(VM)

test-vm: build $(VM)/initrd
	$(BIN)/pytest -m vm -n auto --instafail --timeout=2500 --durations=0 tests/vm

check: lint clippy clippy-windows licences-check advisories instructions audit-check

# Half a minute, without a build of the native part.
lint: format ruff types

format:
	@$(call have,cargo fmt --version,rustup component add rustfmt) cargo fmt --check

ruff: $(DEPS)
	$(BIN)/ruff check python tests benches docs
	$(BIN)/ruff format --check python tests benches docs

types: $(DEPS)
	$(BIN)/mypy

clippy:
	@$(call have,cargo clippy --version,rustup component add clippy) cargo clippy --workspace --all-targets --quiet -- -D warnings

clippy-windows:
	@$(call have,rustup target list --installed | grep -qx $(WINDOWS) && command -v x86_64-w64-mingw32-gcc,rustup target add $(WINDOWS) and gcc-mingw-w64-x86-64) cargo clippy --target $(WINDOWS) $(NATIVE) --all-targets --quiet -- -D warnings

licences-check:
	@$(call have,cargo deny --version,cargo install --locked cargo-deny) cargo deny --all-features --offline check bans licenses sources

advisories:
	@$(call have,ls -d $(ADVISORIES)/*/ && cargo deny --version,cargo deny fetch) cargo deny --all-features --offline check advisories

instructions: build
	@$(call have,valgrind --version,valgrind) $(BIN)/python -m benches instructions --check

audit-check: $(DEPS)
	@$(call have,$(ONLINE),a network with the JSON service of pypi.org) $(MAKE) --silent audit

# Compiled once: what the wheel carries beside its code is made by the wheel.
BARE := target/bare
wheel: $(DEPS)
	@rm -rf target/wheels $(BARE)
	$(BIN)/maturin build --release --quiet --locked --out target/wheels
	$(PYTHON) -m venv $(BARE) && $(BARE)/bin/pip install --quiet --disable-pip-version-check target/wheels/*.whl
	$(BARE)/bin/python packaging/finish.py target/wheels/*.whl

# Wheel and sources as their users meet them: PROFILE=fast builds sooner.
release-check: build licences
	$(BIN)/python packaging/release_check.py $(or $(PROFILE),release)

licences:
	$(PYTHON) packaging/licences.py

# Man pages, and completions for bash, zsh, fish and PowerShell, beside the wheel and the site.
man: $(BUILT)
	$(BIN)/python docs/man/make.py target

# Known vulnerabilities of what an install brings along, extras but `dev` included.
audit: $(DEPS)
	$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; x = p["optional-dependencies"]; \
	  print("\n".join(p["dependencies"] + [line for name in x if name != "dev" for line in x[name]]))' > $(VENV)/installed.txt
	$(BIN)/pip-audit --strict --progress-spinner off --requirement $(VENV)/installed.txt

# One page a drive, from a fill of each.
target/gallery/index.md: $(BUILT) docs/site/gallery.py $(wildcard python/pslc/drives/*.toml)
	$(BIN)/python docs/site/gallery.py target/gallery

docs: target/gallery/index.md man
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "target/site/index.html"

formats: build
	$(BIN)/python docs/formats/make.py

# The page needs Rust's target for WebAssembly, or Debian's rustc-web and rust-web-src, and npm's registry.
WASM := target/wasm/wasm32-unknown-unknown/web/pslc_web.wasm
WEB_SOURCES := $(shell find web/src web/index.html web/vite.config.ts web/package-lock.json -type f -not -path '*/generated/*')

web: target/web/index.html

$(WASM): $(SOURCES) web/build-wasm
	web/build-wasm

target/web/index.html: $(WASM) $(BUILT) $(WEB_SOURCES) python/pslc/lab/page_data.py $(wildcard python/pslc/drives/*.toml)
	mkdir -p web/src/generated
	$(BIN)/python -m pslc.lab.page_data > web/src/generated/data.json
	cd web && npm ci --silent --no-fund --no-audit && npm run --silent build -- --logLevel warn
	cp target/web/index.html python/pslc/lab/page.html

# A bench may want more than the build: page wants `make web`, instructions valgrind, fio and mqsim those programs.
bench: build
	@$(BIN)/python -m benches $(NAME) $(ARGS)

refits: build
	$(BIN)/python docs/accuracy/refits.py

contradictions: build
	$(BIN)/python -m tests.contradictions

accuracy: build
	$(BIN)/python docs/accuracy/make.py

articles: build
	$(BIN)/python docs/accuracy/articles.py --pictures

ssd-iq: build
	$(BIN)/python docs/accuracy/ssd_iq.py

calibration: build
	$(BIN)/python docs/accuracy/pooled.py

questions: build
	$(BIN)/python docs/questions/make.py

policies: build
	$(BIN)/python docs/policies/make.py

fio-page: build
	$(BIN)/python docs/fio/make.py

fio-census: build
	$(BIN)/python docs/fio/census.py $(FOLDER)

# What fio's tests import; they bring no environment of their own.
FIO_TESTS := target/fio-tests
$(FIO_TESTS)/.ready:
	$(PYTHON) -m venv $(FIO_TESTS)
	$(FIO_TESTS)/bin/python -m pip install --quiet --disable-pip-version-check statsmodels scipy
	@touch $@

fio-tests: build $(FIO_TESTS)/.ready
	$(BIN)/python docs/fio/own_tests.py $(FOLDER) "$(CURDIR)/$(FIO_TESTS)/bin/python" $(SCRIPTS); status=$$?; $(MAKE) --silent fio-page; exit $$status

suites: build
	$(BIN)/python docs/catalogue/make.py

picture: build
	$(BIN)/python docs/pictures/draw.py

# The native part in the profile that links in seconds, and an editable install, where there is none yet: Python files
# need no rebuild. maturin writes over the module, so who runs the old one keeps another file. What maturin says is shown
# where it fails.
$(BUILT): $(SOURCES) $(DEPS) pyproject.toml
	@echo "compiling the native part (a minute the first time, seconds after a change)"
	@for old in python/pslc/_native.*.so; do test ! -e $$old || { cp -p $$old $$old.part && mv $$old.part $$old; }; done
	@installed=$$(find $(VENV)/lib/python*/site-packages -maxdepth 1 -name 'pslc-*.dist-info' -newer pyproject.toml); \
	  said=$$(VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --profile fast --quiet $${installed:+--skip-install} 2>&1) || { echo "$$said" >&2; exit 1; }
	@$(BIN)/python -S packaging/ascii_pth.py $(VENV)/lib/python*/site-packages/pslc.pth
	@touch $@

# The versions of requirements.lock, by uv, which takes seconds, or by pip where uv does not get them.
$(DEPS): requirements.lock | tools
	@echo "installing Python packages into $(VENV) (seconds; a minute without uv)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep '^uv==' requirements.lock)"
	@VIRTUAL_ENV="$(CURDIR)/$(VENV)" UV_SYSTEM_CERTS=1 $(BIN)/uv pip install --quiet -r requirements.lock \
	  || { echo "uv does not get them, so pip does"; $(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 -r requirements.lock; }
	@touch $@

# The newest versions that pyproject.toml permits: what a check says of them is a change of its own.
upgrade: | tools
	@test -x $(BIN)/uv || { test -x $(BIN)/python || $(PYTHON) -m venv $(VENV); $(BIN)/python -m pip install --quiet uv; }
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-annotate --no-emit-find-links --extra dev --extra docs \
	  --custom-compile-command "make upgrade" pyproject.toml -o requirements.lock

# Programs that some tests hold ours against. Without one of them its tests are skipped, and fail where PSLC_TOOLS=required.
TOOLS := fio valgrind nbdkit chromium dmsetup libblkid1 blktrace strace libnbd-bin python3-libnbd fuse3 qemu-utils sysstat nvme-cli gcc gcc-mingw-w64-x86-64 e2fsprogs xfsprogs btrfs-progs f2fs-tools mdadm lvm2 cryptsetup-bin dosfstools exfatprogs ntfs-3g nilfs-tools udftools erofs-utils squashfs-tools qemu-system-x86 busybox-static kmod nbd-client iproute2
test-tools:
	apt-get update -qq
	apt-get install -y -qq $(TOOLS)

# What has to be on the machine, and how to get it where it is not.
tools:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing. Install Python 3.11 or later: https://www.python.org/downloads/, or apt install python3 python3-venv" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is $$($(PYTHON) --version 2>&1); pslc needs 3.11 or later. Another one: make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv module. On Debian and Ubuntu: apt install python3-venv" >&2; exit 2; }
	@command -v cargo >/dev/null || { echo "Rust is missing. Install it from https://rustup.rs, then open a new shell" >&2; exit 2; }
	@command -v cc >/dev/null || { echo "A C compiler is missing (cc). On Debian and Ubuntu: apt install gcc" >&2; exit 2; }

# Those that need no fixture of tests/conftest.py.
WINDOWS_TESTS := tests/windows tests/analysis/test_curve.py tests/analysis/test_recovery.py tests/analysis/test_shapes.py tests/analysis/test_thresholds.py
# Needs Wine, a cross compiler and Rust's target for Windows; says which is missing. The first time takes ten minutes.
windows: build
	.ci/windows setup
	.ci/windows smoke
	.ci/windows pytest $(WINDOWS_TESTS)
	.ci/windows cargo --quiet -p pslc-drive

attempts: build
	PSLC_ATTEMPTS=$(or $(ATTEMPTS),400) PSLC_SEED=$(or $(SEED),1) $(BIN)/pytest -m "not slow" -s tests/test_attempts.py tests/test_swapped.py

# libblkid's own test images, from the source package of util-linux, by a list of sources of our own.
IMAGES := target/blkid-images
APT := apt-get -q -o Dir::Etc::sourcelist="$(CURDIR)/$(IMAGES)/sources.list" -o Dir::Etc::sourceparts=- \
	-o Dir::State::lists="$(CURDIR)/$(IMAGES)/lists" -o Dir::Cache="$(CURDIR)/$(IMAGES)/cache" -o APT::Sandbox::User=
blkid-images:
	mkdir -p $(IMAGES)/lists/partial $(IMAGES)/cache/archives/partial
	. /etc/os-release; echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
	  "http://deb.debian.org/debian $${VERSION_CODENAME} main" > $(IMAGES)/sources.list
	$(APT) update
	cd $(IMAGES) && $(APT) source --download-only util-linux
	tar -xf $(IMAGES)/util-linux_*.orig.tar.xz -C $(IMAGES) --wildcards '*/tests/ts/blkid/images-*'
	@echo "PSLC_BLKID_IMAGES='$(CURDIR)/$(IMAGES)' $(BIN)/pytest tests/test_labels.py"
# The parsers are safe Rust, in which a sanitizer finds nothing; traced comparisons, mostly those of edit distances, took
# nine tenths of the time. What is found goes to fuzz/artifacts; put it into fuzz/corpus, which the tests replay.
fuzz: build
	@for of in $(FUZZ); do mkdir -p fuzz/work/$$of && (cd fuzz && cargo +nightly fuzz run -s none --no-trace-compares $$of work/$$of corpus/$$of -- \
	  -max_total_time=$(SECONDS) -max_len=20000 -timeout=1 -rss_limit_mb=500 -dict=job.dict) || exit 1; done
	$(BIN)/python -m benches.mutate $(SECONDS) $(SEED)

mutants: build
	@$(BIN)/python -m tests.mutants $(MUTANT_SECONDS) $(or $(SEED),1)

soak:
	SOAK_SECONDS=$(SECONDS) SOAK_SEED=$(or $(SEED),1) cargo test -p pslc-ssd --test soak -- --ignored --nocapture

clean:
	rm -rf $(VENV) target
