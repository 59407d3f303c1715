# Development tasks of truebleu, one target per task. `make help` lists the targets.
#
#   make test PYTHON=python3.13 VENV=build/py313     use another interpreter and another environment
#   make bench ROWS="memory import"                  run some rows of the benchmark table
#   make test-all WITHOUT=integrations               skip a target that needs gigabytes

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c $(NEW_ENOUGH) 2>/dev/null && echo $$python && break; done)
VENV ?= .venv
ROWS ?=
# For `make fuzz`: the number of executions per target, the target, and the random seed.
EXECUTIONS ?= 1e6
TARGET ?= all
SEED ?= 1
# For `make claims`: any value repeats the measurements.
BENCH ?=
# For `make screenshots`: any value accepts the current images.
ACCEPT ?=
# For `make fuzz-guided`: the running time.
SECONDS ?= 600
# The coverage data that libFuzzer receives: edges and comparisons.
GUIDED := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
	-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Zsanitizer=address --cfg fuzzing
# Engines with separate environments, because they are large or need other releases of dependencies.
ENGINES := spark ray
# Targets that `make test-all` skips (upstream, engines, jupyter, neural, integrations), and the Hypothesis profile of its property tests.
WITHOUT ?=
CASES := $(if $(CI),ci,many)
# Without byte code, each of the thousand Python processes of the tests would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
# Run tests in one process per core.
SPREAD := --numprocesses auto --dist worksteal
TYPESCRIPT := 5.9.3
ACTIONLINT := v1.7.12
# For `make wheels`: wheels and options that `python kernel/wheels.py --help` lists.
WHEELS ?=
# For `make test-wheels`: more installed Pythons for testing wheels, such as 3.11, a newer release, a musl build, or a free-threaded build.
PYTHONS ?=
# For `make rehearse`: the jobs of .github/workflows/ci.yml to run; all that can run on one machine if empty.
JOBS ?=
# Tests of code that reads and writes other programs' buffers, except the test that limits its address
# space, because AddressSanitizer needs much address space.
SANITIZABLE = tests/engines tests/text/test_errors.py tests/metrics/test_statistics.py tests/metrics/test_scores.py tests/metrics/test_matrix.py \
	--deselect tests/metrics/test_matrix.py::test_too_large_matrix_raises_memory_error_before_scoring
# gcc's libasan must be loaded first, and memory must come from allocators that it can observe.
SANITIZED = LD_PRELOAD='$(shell cc -print-file-name=libasan.so) $(shell cc -print-file-name=libstdc++.so)' \
	ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system
# Rust's standard library has no folder for temporary files on WASI.
WITHOUT_FILES := --skip test_file_gives_same_rows_as_stream
WHEEL_TARGETS := wasm32-unknown-unknown wasm32-unknown-emscripten $(foreach machine,x86_64 aarch64,$(addprefix $(machine)-,unknown-linux-gnu unknown-linux-musl apple-darwin)) x86_64-pc-windows-gnu aarch64-pc-windows-gnullvm
TRIPLE = $(shell rustc -vV | sed -n 's/^host: //p')

BIN := $(VENV)/bin
INTEGRATIONS := $(VENV)-integrations
NEURAL := $(VENV)-neural
NEW_ENOUGH := 'import sys; sys.exit(sys.version_info < (3, 11))'
KERNEL := $(wildcard Cargo.toml Cargo.lock rust-toolchain.toml) $(shell find kernel \( -name target -o -name fuzz \) -prune -o \( -name '*.rs' -o -name '*.toml' -o -name '*.txt' -o -name '*.bin' \) -print 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: demo claims test test-rest test-all growth engines jupyter integrations neural upstream sanitize miri races fuzz fuzz-guided free-threaded aarch64 wasm bench npm screenshots lint lint-js lint-workflows wheels check-wheels test-wheels test-sdist reproducible rehearse format docs clean help
.DELETE_ON_ERROR:
.SECONDARY:

demo: $(VENV)/.installed ## score the example systems, and list what to try next
	@$(BIN)/truebleu demo
	@printf '\nTo use truebleu in this environment: source $(BIN)/activate\n'

test: $(VENV)/.installed $(VENV)/.group-test ## run the test suite, in a few minutes
	$(BIN)/python -m pytest $(SPREAD)

test-all: $(VENV)/.installed $(VENV)/.group-test $(VENV)/.group-docs ## run all tests: also the kernel's tests, more cases, tests without SIMD, sacreBLEU's own tests, engines, models and integrations
	cargo test --quiet
	cargo test --quiet --release --manifest-path kernel/fuzz/Cargo.toml --target-dir target/fuzz
	$(MAKE) --no-print-directory fuzz EXECUTIONS=1e5
	TRUEBLEU_SIMD=scalar $(BIN)/python -m pytest --quiet $(SPREAD) $(addprefix tests/,metrics pairwise significance text)
	HYPOTHESIS_PROFILE=$(CASES) $(BIN)/python -m pytest $(SPREAD) -m ''
	@export HYPOTHESIS_PROFILE=$(CASES); for rest in $(filter-out $(WITHOUT),upstream engines jupyter neural integrations); do $(MAKE) --no-print-directory $$rest || exit; done

test-rest: $(VENV)/.installed $(VENV)/.group-test $(VENV)/.group-docs ## run the tests that `make test` skips: slow tests, and tests with reference data
	HYPOTHESIS_PROFILE=$(CASES) $(BIN)/python -m pytest $(SPREAD) -m thorough --ignore tests/growth

growth: $(VENV)/.installed $(VENV)/.group-test ## check how the number of instructions, counted by valgrind, grows with the text
	$(BIN)/python -m pytest --quiet -m thorough tests/growth

engines: $(addprefix engine-,$(ENGINES)) ## test Spark (needs Java 17) and Ray, each in a separate environment

engine-%:
	@$(MAKE) --no-print-directory VENV=$(VENV)-$* in-environment-$*

in-environment-%: $(VENV)/.installed $(VENV)/.group-%
	$(BIN)/python -m pytest --quiet -m '' tests/engines/test_$*.py

jupyter: ## test how JupyterLab shows comparisons and reports in trusted and untrusted notebooks
	@$(MAKE) --no-print-directory VENV=$(VENV)-jupyter in-jupyter

in-jupyter: $(VENV)/.installed $(VENV)/.group-jupyter
	$(BIN)/python -m pytest --quiet -m '' tests/rendering/test_jupyter.py

integrations: $(VENV)/.installed $(INTEGRATIONS)/.installed ## test the integrations with torch, torchmetrics, TRL, lm-eval and others, in a separate environment
	PYTHONPATH=$(CURDIR) $(INTEGRATIONS)/bin/python -m pytest --quiet $(SPREAD) -m '' tests/integrations

neural: $(VENV)/.installed $(NEURAL)/.installed ## test BERTScore, BLEURT and COMET with small generated models, in a separate environment
	PYTHONPATH=$(CURDIR) $(NEURAL)/bin/python -m pytest --quiet -m '' tests/metrics/neural

upstream: $(VENV)/.installed $(VENV)/.group-test ## run sacreBLEU's own tests with the accelerator
	@$(BIN)/python tests/compat/upstream.py

sanitize: $(VENV)/.installed $(VENV)/.group-test ## run the tests that pass other programs' memory to the kernel, with AddressSanitizer
	@echo 'Building the kernel with AddressSanitizer into target/sanitize'
	@RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo build --quiet --release --package truebleu-kernel --features python --target $(TRIPLE) --target-dir target/sanitize
	@rm -rf build/sanitize && mkdir -p build/sanitize && cp -R truebleu build/sanitize/
	@rm -f build/sanitize/truebleu/_kernel*.so && cp target/sanitize/$(TRIPLE)/release/libtruebleu_kernel.so build/sanitize/truebleu/_kernel.abi3.so
	env $(SANITIZED) PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/build/sanitize $(BIN)/python -m pytest --quiet $(SANITIZABLE)

# Miri supports AVX2 if the target feature is enabled. Deterministic floats keep logarithms from varying. Miri does not run the property tests
# (a case takes seconds; the fuzz targets cover the same code with small inputs), the tests of long
# texts, and the Python module (`make sanitize` tests other programs' memory).
miri: ## run tests and a few inputs per fuzz target in Miri, which detects undefined behaviour
	@rustup component add --toolchain nightly miri rust-src 2>/dev/null || { echo 'Miri needs a nightly toolchain: rustup toolchain install nightly' >&2; exit 1; }
	@echo 'Not run: property tests (the fuzz targets cover the same code), tests of long texts, and the Python module (see make sanitize)'
	RUSTFLAGS=-Ctarget-feature=+avx2,+bmi1,+bmi2,+lzcnt,+popcnt MIRIFLAGS='-Zmiri-disable-isolation -Zmiri-deterministic-floats' cargo +nightly miri test --quiet --manifest-path kernel/fuzz/Cargo.toml --target-dir target/miri --test targets
	MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --quiet --package truebleu-kernel --target-dir target/miri --test meta_evaluation

races: ## run the multithreaded tests with ThreadSanitizer
	@rustup component add --toolchain nightly rust-src 2>/dev/null || { echo 'ThreadSanitizer needs a nightly toolchain: rustup toolchain install nightly' >&2; exit 1; }
	RUSTFLAGS=-Zsanitizer=thread cargo +nightly test --quiet --release -Zbuild-std --target $(TRIPLE) --target-dir target/races --package truebleu-kernel --test threads

fuzz: ## compare fast and naive code on random inputs: EXECUTIONS=1e8 TARGET=lexers SEED=2
	@cargo build --quiet --release --manifest-path kernel/fuzz/Cargo.toml --target-dir target/fuzz
	@target/fuzz/release/truebleu-fuzz $(EXECUTIONS) $(TARGET) $(SEED)

fuzz-guided: ## fuzz with libFuzzer and AddressSanitizer, guided by coverage: TARGET=arrow SECONDS=600
	@test '$(TARGET)' != all || { echo 'Name a target: make fuzz-guided TARGET=arrow' >&2; exit 1; }
	@rustup toolchain list | grep -q nightly || { echo 'libFuzzer needs a nightly toolchain: rustup toolchain install nightly' >&2; exit 1; }
	@RUSTFLAGS='$(GUIDED)' cargo +nightly build --quiet --release --manifest-path kernel/fuzz/Cargo.toml --features libfuzzer --bin libfuzzer --target $(TRIPLE) --target-dir target/guided
	@mkdir -p build/inputs/$(TARGET)
	@TARGET=$(TARGET) ASAN_OPTIONS=malloc_context_size=4:detect_leaks=0 target/guided/$(TRIPLE)/release/libfuzzer -verbosity=0 -print_final_stats=1 -max_total_time=$(SECONDS) -max_len=4096 \
		-artifact_prefix=kernel/fuzz/found/$(TARGET)- build/inputs/$(TARGET)

free-threaded: $(VENV)/.installed $(VENV)/.group-free-threaded ## run the kernel's tests on a free-threaded Python: make free-threaded PYTHON=python3.14t VENV=build/py314t
	@$(BIN)/python -c 'import sysconfig, sys; sys.exit(not sysconfig.get_config_var("Py_GIL_DISABLED"))' || { echo '"$(PYTHON)" is not a free-threaded Python. Name one, and a separate environment: make free-threaded PYTHON=python3.14t VENV=build/py314t' >&2; exit 1; }
	PYTHON_GIL=0 $(BIN)/python -m pytest $(addprefix tests/,metrics pairwise significance text)

aarch64: ## run the kernel's tests on an emulated aarch64: NEON and the portable code
	@command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null && test -d /usr/aarch64-linux-gnu/include || { echo 'make aarch64 needs a linker and a C library for aarch64, and an emulator (Debian and Ubuntu: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user).' >&2; exit 1; }
	@$(call has_target,aarch64-unknown-linux-gnu)
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='qemu-aarch64 -L /usr/aarch64-linux-gnu' \
		CARGO_PROFILE_TEST_OPT_LEVEL=1 cargo test --quiet --target aarch64-unknown-linux-gnu

# --liftoff-only disables the optimizing compiler, whose background thread once crashed Node at the end of a program.
wasm: ## compile the kernel to WebAssembly, and run its tests under Node
	@command -v node >/dev/null || { echo 'make wasm needs Node (Debian and Ubuntu: apt-get install nodejs).' >&2; exit 1; }
	@$(call has_target,wasm32-unknown-unknown)
	@$(call has_target,wasm32-wasip1)
	cargo build --quiet --lib --target wasm32-unknown-unknown
	CARGO_TARGET_WASM32_WASIP1_RUNNER='node --no-warnings --liftoff-only $(CURDIR)/kernel/tests/wasi.mjs' \
		CARGO_PROFILE_TEST_OPT_LEVEL=1 cargo test --quiet --tests --target wasm32-wasip1 -- $(WITHOUT_FILES)

bench: $(VENV)/.installed $(VENV)/.group-bench ## compare the speed of truebleu and its peers, and write benchmarks/results.md
	$(BIN)/python benchmarks/run.py $(ROWS)

lint: $(VENV)/.installed $(VENV)/.group-lint $(VENV)/.group-test ## run the checks that CI requires: style, names, types, stubs, warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python tools/plain_names.py truebleu kernel/src docs tests benchmarks npm
	$(BIN)/mypy truebleu benchmarks npm/build.py
	$(BIN)/python -m pytest --quiet tests/project/test_trust.py -k "type_checker"
	$(BIN)/stubtest --ignore-missing-stub --ignore-disjoint-bases --ignore-unused-allowlist --allowlist .ci/stubtest-allowed.txt truebleu._kernel
	cargo fmt --all --check
	cargo fmt --check --manifest-path kernel/fuzz/Cargo.toml
	cargo clippy --all-targets --quiet --manifest-path kernel/fuzz/Cargo.toml --target-dir target/fuzz -- -D warnings
	cargo clippy --all-targets --quiet -- -D warnings
	cargo clippy --all-targets --all-features --quiet -- -D warnings

npm: $(VENV)/.installed ## build the package for Node and browsers into build/npm; needs npm
	@$(BIN)/python npm/build.py

claims: $(VENV)/.installed $(VENV)/.group-test $(if $(BENCH),$(VENV)/.group-bench) ## run the command behind each number in README.md; BENCH=1 also measures speed and size
	@$(BIN)/python tests/project/readme_claims.py $(if $(BENCH),--bench)

screenshots: $(VENV)/.installed $(VENV)/.group-test ## compare screenshots of all report views with accepted screenshots (ACCEPT=1 accepts the new ones)
	@PYTHONPATH=tests:tests/reports $(BIN)/python tests/reports/screenshots.py build/screenshots $(if $(ACCEPT),--accept)
	@$(if $(ACCEPT),cp build/screenshots/report-*.png docs/)

lint-js: ## check the types in the report's JavaScript; needs npm
	@command -v npx >/dev/null || { echo 'make lint-js needs Node and npm (Debian and Ubuntu: apt-get install nodejs npm).' >&2; exit 1; }
	npx --yes --package=typescript@$(TYPESCRIPT) tsc --project tests/reports/jsconfig.json
	npx --yes --package=typescript@$(TYPESCRIPT) tsc --project npm/tsconfig.json --noEmit --emitDeclarationOnly false --declaration false

lint-workflows: $(VENV)/.created $(VENV)/.group-lint ## check the workflows in .github, and the shell commands in them; needs Go
	@command -v go >/dev/null || { echo 'make lint-workflows needs Go (Debian and Ubuntu: apt-get install golang-go).' >&2; exit 1; }
	PATH=$(CURDIR)/$(BIN):$$PATH go run github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT)

wheels: $(VENV)/.created $(VENV)/.group-wheels ## build the source distribution and wheels for all platforms into dist: WHEELS="musllinux-x86_64 sdist"
	@rustup target add --toolchain $$(rustup show active-toolchain | cut -d' ' -f1) $(WHEEL_TARGETS) 2>/dev/null || { echo 'make wheels needs rustup, which installs the targets of other platforms (https://rustup.rs).' >&2; exit 1; }
	PATH=$(CURDIR)/$(BIN):$$PATH python kernel/wheels.py $(WHEELS)

check-wheels: $(VENV)/.created $(VENV)/.group-release ## check metadata, contents and stable ABI of the files in dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/abi3audit --strict --summary $(filter-out %_wasm32.whl,$(wildcard dist/*-abi3-*.whl))

test-wheels: $(VENV)/.installed ## test the wheels in dist that can run here: on this and other PYTHONS, on an emulated aarch64, under Wine, and in Pyodide
	$(BIN)/python tests/wheels.py dist $(PYTHONS)

test-sdist: $(VENV)/.created $(VENV)/.group-wheels ## build a wheel from the source distribution in dist without a network
	@rm -rf build/sdist && mkdir -p build/sdist/home
	cd build/sdist && unshare --map-root-user --net env PATH=$(CURDIR)/$(BIN):$$PATH CARGO_HOME=$(CURDIR)/build/sdist/home RUSTUP_HOME=$${RUSTUP_HOME:-$$HOME/.rustup} \
		python -m pip wheel --no-index --no-deps --no-build-isolation --no-cache-dir -w . $(CURDIR)/dist/truebleu-*.tar.gz
	$(BIN)/python -c 'import glob, zipfile; assert "truebleu/reports/kernel.wasm" in zipfile.ZipFile(*glob.glob("build/sdist/*.whl")).namelist()'

# Builds the committed files in two separate folders.
reproducible: $(VENV)/.created $(VENV)/.group-wheels ## check that builds in two folders are byte-identical: WHEELS="manylinux-x86_64 --python abi3"
	@rm -rf build/first build/another/second
	@for folder in build/first build/another/second; do \
		mkdir -p $$folder && git archive HEAD | tar -x -C $$folder && \
		SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) PATH=$(CURDIR)/$(BIN):$$PATH env -u CARGO_TARGET_DIR python $$folder/kernel/wheels.py $(or $(WHEELS),manylinux-x86_64 sdist --python abi3) || exit; done
	diff -r build/first/dist build/another/second/dist && sha256sum build/first/dist/*

rehearse: $(VENV)/.created $(VENV)/.group-release ## run the steps of a release in a clone: WHEELS="manylinux-x86_64 sdist --python abi3" JOBS="wheels check"
	@$(BIN)/python tools/rehearse.py $(JOBS)

format: $(VENV)/.installed $(VENV)/.group-lint ## apply the formatters
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format
	cargo fmt --all

docs: $(VENV)/.installed $(VENV)/.group-docs $(VENV)/.group-test ## build the pages in docs/, and the site and the references of package and kernel in build/docs
	$(BIN)/python docs/pages.py
	TRUEBLEU_WRITE_PAGES=1 $(BIN)/python -m pytest --quiet -m '' tests/project/test_metric_support.py -k page
	$(BIN)/pdoc --docformat google --output-directory build/docs/python truebleu truebleu.significance $(addprefix truebleu.,engines engines.duckdb engines.polars engines.spark)
	RUSTDOCFLAGS="-A rustdoc::private_intra_doc_links" cargo doc --no-deps --document-private-items --quiet --target-dir build/docs/rust
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	$(BIN)/python -m pytest --quiet -m '' tests/project/test_site.py
	@printf 'build/docs/site/index.html\nbuild/docs/site/lab.html\nbuild/docs/python/index.html\nbuild/docs/rust/doc/truebleu_kernel/index.html\n'

clean: ## remove everything that the other targets created
	rm -rf build dist target .mypy_cache .pytest_cache .ruff_cache .hypothesis tests/.hypothesis
	rm -rf truebleu/cli/examples examples/report.html
	rm -f truebleu/_kernel*.so truebleu/_kernel*.dylib truebleu/_kernel*.pyd
	find truebleu tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
	@for folder in $(VENV) $(INTEGRATIONS) $(NEURAL) $(addprefix $(VENV)-,$(ENGINES) jupyter); do test ! -f $$folder/pyvenv.cfg || rm -rf $$folder; done

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Install a compilation target, or fail.
define has_target
rustup target add $(1) 2>/dev/null; test -d "$$(rustc --print sysroot)/lib/rustlib/$(1)" || { echo 'The compiler has no standard library for $(1). Install it: rustup target add $(1)' >&2; exit 1; }
endef

# The environment: Python, then the package (an editable install with an optimized kernel, which only
# changes of Rust code rebuild), then the dependency groups of pyproject.toml that a target needs.

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo 'truebleu needs Python 3.11 or newer, but none was found. Name one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c $(NEW_ENOUGH) || { echo 'truebleu needs Python 3.11 or newer; "$(PYTHON)" is not. Name another: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo 'Cannot create a virtual environment. On Debian and Ubuntu, install venv first: apt-get install python3-venv' >&2; exit 1; }
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml $(KERNEL)
	@command -v cargo >/dev/null || { echo 'cargo is not on the PATH. Install Rust with rustup (https://rustup.rs); kernel/Cargo.toml names the oldest supported version.' >&2; exit 1; }
	@echo 'Building truebleu into $(VENV) (the first time takes one to two minutes)'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@test -f truebleu/reports/kernel.wasm || echo 'warning: built without the browser kernel, so reports cannot recompute scores. Run `rustup target add wasm32-unknown-unknown` and build again.' >&2
	@touch $@

$(VENV)/.group-%: $(VENV)/.created pyproject.toml
	@echo 'Installing the dependency group "$*" into $(VENV)'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group $*
	@touch $@

# Only uv can skip the packages that pyproject.toml overrides; pip cannot.
$(INTEGRATIONS)/.installed $(NEURAL)/.installed: $(VENV)-%/.installed: $(VENV)/.created pyproject.toml tests/integrations/torch_stub.py
	@echo 'Installing the dependency group "$*" (2 GB on disk) into $(VENV)-$*'
	@$(PYTHON) -m venv $(VENV)-$*
	@$(VENV)-$*/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(VENV)-$*/bin/uv pip install --quiet --python $(VENV)-$*/bin/python --group $*
	@$(VENV)-$*/bin/python tests/integrations/torch_stub.py
	@touch $@
