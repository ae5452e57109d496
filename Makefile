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

.PHONY: help demo test setup configure build bench fuzz eval docs format lint tidy check-format check-docs install clean

help: ## What there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@echo "  PRESET=debug|asan, JOBS=N, CMAKE_ARGS=…, PREFIX=DIR (make install)"

demo: build ## Set up, build, and run the main job on a BERT-tiny made on the spot
	@scripts/demo.sh

test: build ## Set up, build, and run every test (what CI runs)
	@$(PYTHON) scripts/run_tests.py --build $(BUILD) $(TESTS)

setup: ## Debian packages, .venv, ONNX C++: only what is missing
	@scripts/setup.sh

configure: setup
	@$(ENV); if [ ! -e $(BUILD)/build.ninja ] || [ "$$(cat $(BUILD)/.htp-configured 2>/dev/null)" != "$$HTP_ONNX_ROOT $(CMAKE_ARGS)" ]; then \
	  .venv/bin/cmake --fresh --preset $(PRESET) $(CMAKE_ARGS) && echo "$$HTP_ONNX_ROOT $(CMAKE_ARGS)" > $(BUILD)/.htp-configured; fi

build: configure ## All programs and libraries, into build/bin and build/lib
	@$(ENV); .venv/bin/cmake --build $(BUILD) --parallel $(JOBS)

bench: build ## Time and memory of everything beside their limits (FULL=1: up to 1,000,000 nodes)
	@$(PYTHON) benchmarks/run.py --bin $(BUILD)/bin $(if $(FULL),--full)
	@$(PYTHON) benchmarks/export.py
	@$(PYTHON) benchmarks/compile.py

fuzz: ## Fuzz the ONNX import and the trace reader for SECONDS_PER_TARGET (default 60) each, with libFuzzer and sanitizers
	@scripts/fuzz.sh $(or $(SECONDS_PER_TARGET),60)

eval: build ## Field models, the corpus and the held-out set, wrong traces: tag, score, write docs/Accuracy.md
	@mkdir -p $(BUILD)/evaluation; status=0; \
	  $(PYTHON) evaluation/field_check.py --jobs $(JOBS) --json $(BUILD)/evaluation/field.jsonl --report $(BUILD)/evaluation/field.md || status=1; \
	  $(PYTHON) evaluation/deployed_check.py --bin $(BUILD)/bin --work $(BUILD)/evaluation/deployed --jobs $(JOBS) --json $(BUILD)/evaluation/deployed.jsonl || status=1; \
	  $(PYTHON) evaluation/evaluate.py --bin $(BUILD)/bin --work $(BUILD)/evaluation --jobs $(JOBS) --field $(BUILD)/evaluation/field.jsonl --deployed $(BUILD)/evaluation/deployed.jsonl || status=1; \
	  $(PYTHON) evaluation/wrong_pairs.py $(BUILD)/evaluation/corpus --bin $(BUILD)/bin --work $(BUILD)/evaluation/wrong-pairs --jobs $(JOBS) || status=1; \
	  exit $$status

docs: setup ## Generate docs/Passes.md and docs/Dialects/HTP.md from the .td files
	@scripts/docs.sh

format: setup ## Format all C++ and Python
	@clang-format-22 -i $(CPP)
	@.venv/bin/ruff check -q --fix . && .venv/bin/ruff format -q .

lint: build ## Everything that complains: clang-format, clang-tidy, ruff, mypy
	@$(PYTHON) scripts/run_tests.py --build $(BUILD) format tidy ruff mypy docs

install: build ## Programs, headers and CMake files into PREFIX (default ./install)
	@.venv/bin/cmake --install $(BUILD) --prefix $(PREFIX)

clean: ## Remove what was built (not .venv, not the ONNX cache)
	rm -rf build build-debug build-asan build-fuzz install dist
