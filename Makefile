# Two commands do everything: `make demo` and `make test`. `make help` lists the others.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
# Developers have an installation of their own: the tools of tests/requirements.txt, and an engine that is built quickly.
DEV     := .venv-dev
DEVBIN  := $(DEV)/bin
ENGINE  := $(wildcard engine/Cargo.*) $(shell find engine/src -name '*.rs')
PACKAGE := pyproject.toml paribus.data/scripts/paribus $(ENGINE)
RELEASE := engine/target/release/paribus-engine
# Real loads are measured with the engine that users have.
SYSTEM  := PARIBUS_ENGINE="$(CURDIR)/$(RELEASE)" $(DEVBIN)/python -m pytest -q
AREAS   := knobs controllers layouts failures kvm servers remote fleet serve lifecycle tools examples faults install audit store

# The tests start the command thousands of times: without its compiled modules each start takes a quarter more.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: all demo check test test-system test-measured proof field soak campaign packages upgrade schema catalogue reference wheels deb image docs clean help

all: $(BIN)/paribus ## build into .venv/ and print the path of the command
	@echo "paribus is $(CURDIR)/$(BIN)/paribus"

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

prerequisites:
	@$(PYTHON) -c 'import sys; sys.exit("Paribus needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@command -v cargo >/dev/null || { echo "Paribus needs Rust 1.88 or newer: https://rustup.rs" >&2; exit 1; }

$(BIN)/paribus: $(PACKAGE) | prerequisites
	@echo "installing into $(VENV) and compiling the load engine: some minutes the first time"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(DEV)/tools: tests/requirements.txt | prerequisites
	test -x $(DEVBIN)/python || $(PYTHON) -m venv $(DEV)
	$(DEVBIN)/python -m pip install --quiet --no-compile --require-hashes --requirement tests/requirements.txt
	@touch $@

$(DEV)/paribus: $(DEV)/tools $(PACKAGE)
	PATH="$(CURDIR)/$(DEVBIN):$$PATH" MATURIN_PEP517_ARGS='--profile gate' $(DEVBIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(RELEASE): $(ENGINE)
	cd engine && cargo build --release --quiet --locked
	@touch $@

demo: $(BIN)/paribus ## ask seven questions of the disk under this folder and of SQLite on it, in some minutes
	@echo "the command paribus is $(CURDIR)/$(BIN)/paribus"
	@$(BIN)/paribus run examples/first.toml

check: $(DEV)/paribus ## format, lint, spelling, types, layers, wording, schemas, unit tests; 3 minutes
	$(DEVBIN)/python tests/gate.py --check

packages:
	@tests/packages $(if $(filter install,$(AREA)),qemu-aarch64-static=qemu-user-static arch-test=arch-test buildah=buildah) $(if $(filter proof,$(MAKECMDGOALS)),patchelf=patchelf npm=npm)

test: packages $(DEV)/paribus ## the gate: `check`, the engine, a short real test of each capability; 11 minutes, 13 from a bare clone
	$(DEVBIN)/python tests/gate.py

test-system: packages $(DEV)/paribus $(RELEASE) ## as root: all tests of an area, AREA=knobs controllers layouts failures kvm servers remote fleet serve lifecycle tools examples faults install audit store; 3 to 15 minutes each
	@test -n "$(filter $(AREA),$(AREAS))" || { echo "name an area, such as: make test-system AREA=knobs (there are: $(AREAS))" >&2; exit 2; }
	$(SYSTEM) tests/system/$(AREA)

test-measured: packages $(DEV)/paribus $(RELEASE) ## as root, on a machine without other load: rates, times, memory, agreement with sysbench and fio; 5 minutes
	cd engine && cargo test --release --quiet --locked --test measured
	$(SYSTEM) tests/system/measured

proof: packages $(DEV)/paribus $(RELEASE) ## long tests: properties with new examples, Miri and sanitizers, power cuts of a virtual machine, knobs of another kernel, versions of databases, MySQL, TPC-C, playbooks
	PARIBUS_EXPLORE=1 $(DEVBIN)/python -m pytest -q -n 2 tests/property
	PARIBUS_EXPLORE=1 $(SYSTEM) tests/system/layouts
	$(DEVBIN)/python proof/sanitizers/run.py
	$(DEVBIN)/python proof/power_cut/run.py
	$(DEVBIN)/python proof/other_kernel/run.py
	PARIBUS_ENGINE="$(CURDIR)/$(RELEASE)" $(DEVBIN)/python proof/databases/matrix.py
	PARIBUS_ENGINE="$(CURDIR)/$(RELEASE)" $(DEVBIN)/python proof/databases/logins.py
	PARIBUS_ENGINE="$(CURDIR)/$(RELEASE)" $(DEVBIN)/python proof/databases/mysql.py
	PARIBUS_ENGINE="$(CURDIR)/$(RELEASE)" $(DEVBIN)/python proof/tpcc/run.py
	PARIBUS_ENGINE="$(CURDIR)/$(RELEASE)" $(DEVBIN)/python proof/rollout/run.py

field: $(BIN)/paribus ## import five published reports, judge them, and check their advice against their own numbers
	$(BIN)/python examples/field/run.py

soak: packages $(BIN)/paribus ## start and end a private server 1,000 times, every tenth time by a kill; some minutes
	$(BIN)/python proof/soak/run.py

campaign: packages $(DEV)/paribus $(RELEASE) ## as root: 1,000 faults of every kind, and whether the machine is restored after each; about two hours
	PARIBUS_ENGINE="$(CURDIR)/$(RELEASE)" $(DEVBIN)/python tests/system/faults/campaign.py

upgrade: $(DEV)/paribus ## renew the versions in tests/requirements.txt and those of release/
	$(DEVBIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 --extra dev --extra parquet --extra postgresql \
		--no-header pyproject.toml --output-file tests/requirements.txt
	$(DEVBIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 \
		--no-header release/requirements.in --output-file release/requirements.txt
	$(DEVBIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --constraint tests/requirements.txt \
		--no-header pyproject.toml --output-file release/libraries.txt

schema: $(DEV)/paribus ## write schema/ again from the code
	$(DEVBIN)/python -c 'from pathlib import Path; from paribus.cli.commands.schema import Document, text_of; \
		[Path("schema", f"{name}.json").write_text(text_of(name), encoding="utf-8") for name in Document]'

CATALOGUE := src/paribus/locale/zh_CN/LC_MESSAGES/paribus
catalogue: $(DEV)/paribus ## collect the messages of reports and pages into the catalogue of translations, and compile it
	$(DEVBIN)/pybabel --quiet extract -F pyproject.toml -k 'N_plural:1,2 stored_message' --no-location --sort-output \
		--project paribus --version '' -o $(DEV)/paribus.pot src/paribus
	$(DEVBIN)/pybabel --quiet update -i $(DEV)/paribus.pot -o $(CATALOGUE).po -l zh_CN --no-fuzzy-matching \
		--ignore-obsolete --ignore-pot-creation-date --no-wrap
	$(DEVBIN)/pybabel compile -i $(CATALOGUE).po -o $(CATALOGUE).mo -l zh_CN --statistics

reference: schema ## write docs/reference/ again from the code
	$(DEVBIN)/python docs/generate.py

WHEELS := .venv-wheels
DIST   := dist
wheels: | prerequisites ## build the wheels for x86-64 and ARM64 into dist/, on one machine without a cross-compiler; 6 minutes
	test -x $(WHEELS)/bin/python || $(PYTHON) -m venv $(WHEELS)
	$(WHEELS)/bin/python -m pip install --quiet --require-hashes --requirement release/requirements.txt
	$(WHEELS)/bin/python release/wheels.py "$(DIST)"

PYTHON_VERSION = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
deb: wheels ## build Debian packages of the wheels for PYTHON_VERSION="3.11 3.13", by default that of this machine; a minute more each
	$(WHEELS)/bin/python release/deb.py "$(DIST)" $(PYTHON_VERSION)

CONTAINERS = $(shell command -v podman || command -v docker)
image: override PYTHON_VERSION = 3.11
image: deb ## build the container image `paribus` of those packages, with podman or docker
	$(or $(CONTAINERS),$(error install podman or docker)) build --tag paribus --file release/Containerfile \
		--build-arg VERSION=$$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml) \
		--build-arg TARGETARCH=$(if $(filter aarch64,$(shell uname -m)),arm64,amd64) "$(DIST)"

docs: $(DEV)/paribus ## build the documentation site into build/docs; a warning is an error
	$(DEVBIN)/sphinx-build -q -W --keep-going -b html -d build/doctrees docs build/docs
	@echo "the site is $(CURDIR)/build/docs/index.html"

clean: ## remove what was built
	rm -rf $(VENV) $(DEV) $(WHEELS) engine/target artefacts build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
