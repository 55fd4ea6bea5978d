# Everything here works on a fresh clone with Python 3.11 or newer and make; `make help` says what there is.

PYTHON ?= python3
PORT ?= 8765
# Tests wait for servers and processes more than they compute: two to a core, and eight at most, each with a PostgreSQL.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(8, 2 * (os.cpu_count() or 1)))')

BIN := .venv/bin
# Neighbours share what is dear to set up; who has done his part takes of the others' rest.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
VENV_READY := .venv/.ready-venv
RUN_READY := .venv/.ready-run
DEV_READY := .venv/.ready-dev
EXTRAS := server,mcp,postgres,langgraph
# The encoder's table comes out of this repository, not from an index.
ENCODER := ./packages/lamina-encoder

# What the caller's shell points Python at is not ours; and without bytecode every process compiles all of us anew.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

.PHONY: help run test test-all faults soak bench lint docs sbom clean chromium
.DEFAULT_GOAL := help

help:  ## what there is to do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile
	@echo "  PYTHON=python3.12 picks the interpreter for a new .venv, PORT=9000 the port of make run."

run: $(RUN_READY)  ## a demo workspace, a tour of it, and Studio on 127.0.0.1:8765
	$(BIN)/lamina demo demo/workspace
	$(BIN)/lamina -w demo/workspace serve --port $(PORT) --open

# Studio is tried in a real browser. Without one those tests are skipped, and say so.
chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 || [ "$$(id -u)" != 0 ] || \
	  ! command -v apt-get >/dev/null || \
	  { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; } >/dev/null 2>&1 || \
	  echo "No Chromium could be installed; tests of Studio in a browser are skipped."

test: lint chromium  ## what CI runs: ruff, mypy and every test that is not slow
	$(PYTEST) -m 'not slow'

test-all: lint chromium  ## the slow tests too
	LAMINA_TEST_ALL=1 $(PYTEST)

# FAULTS='--every 3' takes every third point, --seed another run; docs/guides/operate.md says what the table means.
faults: $(DEV_READY)  ## kills, power cuts, full disks and restarts at every point of every kind of work
	$(BIN)/python -m tests.faults --postgres own $(FAULTS)

soak: $(DEV_READY)  ## half an hour of mixed work: memory, descriptors, threads, log and times by quarter (MINUTES=5)
	$(BIN)/python -m bench.soak --minutes $(or $(MINUTES),30)

bench: $(DEV_READY)  ## the figures that decide, in one table
	$(BIN)/python -m bench

lint: $(DEV_READY)  ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy

docs:  ## the documentation as a site with search, in build/site
	@[ -x .venv-docs/bin/zensical ] || { $(PYTHON) -m venv .venv-docs && .venv-docs/bin/python -m pip install --quiet --upgrade 'pip>=25.1' && \
	  .venv-docs/bin/python -m pip install --quiet --group docs; }
	.venv-docs/bin/python -m tools.site

sbom: $(RUN_READY)  ## what an installation is made of, as CycloneDX, in build/sbom.json
	@[ -x .venv-docs/bin/cyclonedx-py ] || { $(PYTHON) -m venv .venv-docs && .venv-docs/bin/python -m pip install --quiet --upgrade 'pip>=25.1' && \
	  .venv-docs/bin/python -m pip install --quiet --group sbom; }
	@mkdir -p build
	.venv-docs/bin/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --output-reproducible --of JSON -o build/sbom.json

clean:  ## remove .venv, caches, the demo and build artefacts
	rm -rf .venv .venv-docs .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist demo bench/out
	find . -name .git -prune -o -type d \( -name __pycache__ -o -name '*.egg-info' \) -prune -exec rm -rf {} +

$(VENV_READY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Lamina needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)." >&2; \
	  echo "Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'  # the first that knows --group
	@touch $@

$(RUN_READY): $(VENV_READY) pyproject.toml $(ENCODER)/pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]' --editable $(ENCODER)
	@touch $@

$(DEV_READY): $(VENV_READY) pyproject.toml $(ENCODER)/pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS),embed,llm]' --editable $(ENCODER) --group dev
	@touch $(RUN_READY) $@
