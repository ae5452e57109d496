# The entrance to everything a user or a developer repeats. `make demo` and `make test` need nothing but a
# Debian 12 with git, g++, cmake and Python 3.11: they set up and build what is missing, and skip what is there.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PRESET ?= release
BUILD_release := build
BUILD_debug := build-debug
BUILD_asan := build-asan
BUILD := $(BUILD_$(PRESET))
PREFIX ?= $(CURDIR)/install
# In CI a warning is an error.
CMAKE_ARGS ?= $(if $(CI),-DHTP_WERROR=ON)
JOBS ?= $(shell nproc)

ENV := source scripts/env.sh
PYTHON := .venv/bin/python
CPP := $(shell git ls-files '*.cpp' '*.h' 2>/dev/null)

.PHONY: help demo test setup configure build viewer bench fuzz eval fit docs site format lint tidy check-format check-docs wheel wheel-check install clean

help: ## What there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@echo "  PRESET=debug|asan, JOBS=N, CMAKE_ARGS=…, PREFIX=DIR (make install)"

demo: build ## Set up, build, and run the main job on a BERT-tiny made on the spot
	@scripts/demo.sh

test: build ## Set up, build, and run every test (what CI runs)
	@$(PYTHON) scripts/run_tests.py --build $(BUILD) $(TESTS)

setup: ## Debian packages, .venv, ONNX C++, Debian 11's C library for the wheel: only what is missing
	@scripts/setup.sh

configure: setup
	@$(ENV); if [ ! -e $(BUILD)/build.ninja ] || [ "$$(cat $(BUILD)/.htp-configured 2>/dev/null)" != "$$HTP_ONNX_ROOT $(CMAKE_ARGS)" ]; then \
	  .venv/bin/cmake --fresh --preset $(PRESET) $(CMAKE_ARGS) && echo "$$HTP_ONNX_ROOT $(CMAKE_ARGS)" > $(BUILD)/.htp-configured; fi

build: configure ## All programs and libraries, into build/bin and build/lib
	@$(ENV); .venv/bin/cmake --build $(BUILD) --parallel $(JOBS)

viewer: setup ## The page of htp view, from viewer/ into python/htp/viewer (needs Node.js 18; the result is committed)
	@[ -d viewer/node_modules ] || { echo "error: needs Node.js 18 or newer with npm"; exit 1; }
	@cd viewer && npx tsc --noEmit && npm test --silent && node build.mjs

bench: build ## Time and memory of everything beside their limits (FULL=1: up to 1,000,000 nodes)
	@$(PYTHON) benchmarks/run.py --bin $(BUILD)/bin $(if $(FULL),--full)
	@$(PYTHON) benchmarks/growth.py --bin $(BUILD)/bin
	@$(PYTHON) benchmarks/export.py
	@$(PYTHON) benchmarks/compile.py
	@$(PYTHON) benchmarks/driver.py --build $(BUILD)
	@$(PYTHON) benchmarks/package.py
	@$(PYTHON) benchmarks/profiling.py

fuzz: build ## libFuzzer with sanitizers for SECONDS_PER_TARGET (60) on each target, random models, MUTANTS (1000) of exports; SEED
	@scripts/fuzz.sh $(or $(SECONDS_PER_TARGET),60) $(or $(SEED),1) $(or $(MUTANTS),1000)

eval: build ## Field models, the corpus and the held-out set, wrong traces, bugs for htp diff: tag, score, write docs/Accuracy.md
	@mkdir -p $(BUILD)/evaluation; status=0; \
	  $(PYTHON) evaluation/field_check.py --jobs $(JOBS) --keep $(BUILD)/evaluation/field --json $(BUILD)/evaluation/field.jsonl --report $(BUILD)/evaluation/field.md || status=1; \
	  $(PYTHON) evaluation/deployed_check.py --bin $(BUILD)/bin --work $(BUILD)/evaluation/deployed --jobs $(JOBS) --json $(BUILD)/evaluation/deployed.jsonl || status=1; \
	  $(PYTHON) evaluation/deployed_check.py --untrained --bin $(BUILD)/bin --work $(BUILD)/evaluation/deployed-untrained --jobs $(JOBS) || status=1; \
	  $(PYTHON) evaluation/evaluate.py --bin $(BUILD)/bin --work $(BUILD)/evaluation --jobs $(JOBS) --field $(BUILD)/evaluation/field.jsonl --deployed $(BUILD)/evaluation/deployed.jsonl || status=1; \
	  $(PYTHON) evaluation/diff_check.py --json $(BUILD)/evaluation/diff.jsonl || status=1; \
	  $(PYTHON) evaluation/wrong_pairs.py $(BUILD)/evaluation/corpus --bin $(BUILD)/bin --work $(BUILD)/evaluation/wrong-pairs --jobs $(JOBS) || status=1; \
	  $(PYTHON) evaluation/twins.py --corpus $(BUILD)/evaluation/corpus --bin $(BUILD)/bin --work $(BUILD)/evaluation/twins --jobs $(JOBS) || status=1; \
	  exit $$status

fit: build ## Count how often answers on each ground are right, over what `make eval` made; writes the confidences
	@$(PYTHON) evaluation/fit.py --bin $(BUILD)/bin --work $(BUILD)/evaluation --jobs $(JOBS)

docs: setup ## Generate docs/Passes.md and docs/Dialects/HTP.md from the .td files
	@scripts/docs.sh

site: setup ## The documentation as a site in build/site, without network
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet && echo "$(CURDIR)/build/site/index.html"

format: setup ## Format all C++ and Python
	@clang-format-22 -i $(CPP)
	@.venv/bin/ruff check -q --fix . && .venv/bin/ruff format -q .

lint: build ## Everything that complains: clang-format, clang-tidy, ruff, mypy
	@$(PYTHON) scripts/run_tests.py --build $(BUILD) format tidy ruff mypy docs

wheel: setup ## What is released, into dist/: wheels htp and htp-mlir for any Linux, and the source archive
	@$(ENV); $(PYTHON) scripts/wheel.py

wheel-check: ## Install the wheel of dist/ in bare Debian systems, 11 to 13, and use it there (root; a few minutes)
	@HTP_DIST=$(CURDIR)/dist HTP_WHEEL_SUITES="bullseye bookworm trixie" $(PYTHON) -m pytest -q -rs python/tests/test_wheel.py

install: build ## Programs, headers and CMake files into PREFIX (default ./install)
	@.venv/bin/cmake --install $(BUILD) --prefix $(PREFIX)

clean: ## Remove what was built (not .venv, not the ONNX cache)
	rm -rf build build-debug build-asan build-fuzz build-wheel* install dist
