# Two commands do everything: `make demo` and `make test`; `make proof` is for what takes long.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
ENGINE  := $(wildcard engine/Cargo.*) $(shell find engine/src -name '*.rs')
PACKAGE := pyproject.toml paribus.data/scripts/paribus $(ENGINE)

# The tests start the command thousands of times: without its compiled modules each start takes a quarter more.
unexport PYTHONDONTWRITEBYTECODE

SPELLED := src engine/src tests bench proof examples docs Makefile README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md

.PHONY: all demo check test proof field soak campaign packages schema catalogue reference docs clean help

all: $(BIN)/paribus ## build into .venv/ and print the path of the command
	@echo "paribus is $(abspath $(BIN)/paribus)"

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Paribus needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@command -v cargo >/dev/null || { echo "Paribus needs Rust 1.88 or newer: https://rustup.rs" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(BIN)/paribus: $(BIN)/python $(PACKAGE)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/dev: $(BIN)/paribus
	$(BIN)/python -m pip install --quiet --editable '.[dev,parquet]'
	@touch $@

demo: $(BIN)/paribus ## ask seven questions of the disk under this folder and of SQLite on it, in some minutes
	$(BIN)/paribus run examples/first.toml
	@echo "the command is $(abspath $(BIN)/paribus)"

check: $(VENV)/dev ## format, lint, spelling, types, layers, wording, schemas, unit tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell $(SPELLED)
	$(BIN)/mypy
	cd engine && cargo fmt --check && cargo clippy --quiet --locked --all-targets -- -D warnings
	@find src engine/src tests -name '*.py' -o -name '*.rs' | xargs wc -l | awk '$$1 > 300 && $$2 != "total" { print "over 300 lines: " $$2 " (" $$1 ")" }'
	$(BIN)/python -m pytest -q -n 2 tests/unit

packages:
	@tests/packages

test: packages check ## everything, on real devices and in a real browser
	cd engine && cargo test --quiet --locked
	$(BIN)/python -m pytest -q -n 4 -m 'not quiet' tests --ignore tests/unit
	$(BIN)/python -m pytest -q -m quiet tests --ignore tests/unit

proof: packages $(VENV)/dev ## long tests: properties with new examples, Miri and sanitizers, power cuts of a virtual machine, knobs of another kernel, MySQL, TPC-C
	PARIBUS_EXPLORE=1 $(BIN)/python -m pytest -q -n 2 tests/property
	PARIBUS_EXPLORE=1 $(BIN)/python -m pytest -q tests/integration/test_layouts.py tests/integration/test_stacks.py
	$(BIN)/python proof/sanitizers/run.py
	cd engine && cargo build --release --quiet --locked
	$(BIN)/python proof/power_cut/run.py
	$(BIN)/python proof/other_kernel/run.py
	$(BIN)/python proof/mysql/run.py
	$(BIN)/python proof/tpcc/run.py

field: $(BIN)/paribus ## import five published reports, judge them, and check their advice against their own numbers
	$(BIN)/python examples/field/run.py

soak: packages $(BIN)/paribus ## start and end a private server 1,000 times, every tenth time by a kill; some minutes
	$(BIN)/python proof/soak/run.py

campaign: packages $(VENV)/dev ## as root: 1,000 faults of every kind, and whether the machine is restored after each; about two hours
	$(BIN)/python tests/faults/campaign.py

schema: $(VENV)/dev ## write schema/ again from the code
	$(BIN)/python -c 'from pathlib import Path; from paribus.cli.commands.schema import Document, text_of; \
		[Path("schema", f"{name}.json").write_text(text_of(name), encoding="utf-8") for name in Document]'

CATALOGUE := src/paribus/locale/zh_CN/LC_MESSAGES/paribus
catalogue: $(VENV)/dev ## collect the messages of reports and pages into the catalogue of translations, and compile it
	$(BIN)/pybabel --quiet extract -F pyproject.toml -k 'N_plural:1,2 stored_message' --no-location --sort-output \
		--project paribus --version '' -o $(VENV)/paribus.pot src/paribus
	$(BIN)/pybabel --quiet update -i $(VENV)/paribus.pot -o $(CATALOGUE).po -l zh_CN --no-fuzzy-matching \
		--ignore-obsolete --ignore-pot-creation-date --no-wrap
	$(BIN)/pybabel compile -i $(CATALOGUE).po -o $(CATALOGUE).mo -l zh_CN --statistics

reference: schema ## write docs/reference/ again from the code
	$(BIN)/python docs/generate.py

docs: $(VENV)/dev ## build the documentation site into build/docs; a warning is an error
	$(BIN)/sphinx-build -q -W --keep-going -b html -d build/doctrees docs build/docs
	@echo "the site is $(abspath build/docs/index.html)"

clean: ## remove what was built
	rm -rf $(VENV) engine/target artefacts build .mypy_cache .ruff_cache .pytest_cache .hypothesis
