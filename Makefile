# Two commands do all the set-up: `make demo` and `make test`. `make help` lists the others.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
export TOKENIZERS_PARALLELISM ?= false
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1
ENV ?=
STAMPS := $(VENV)/.make

-include $(wildcard make/*.mk)

.PHONY: help setup demo demo-all test lint bench lock clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: $(STAMPS)/base  ## make .venv and install memtrial (about 2 minutes, 900 MB)

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "memtrial needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/base: pyproject.toml requirements/base.txt | $(STAMPS)/venv
	$(BIN)/pip install --quiet --require-hashes -r requirements/base.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(STAMPS)/test: requirements/test.txt $(STAMPS)/base
	$(BIN)/pip install --quiet --require-hashes -r requirements/test.txt
	@touch $@

$(STAMPS)/lint: requirements/lint.txt $(STAMPS)/base
	$(BIN)/pip install --quiet --require-hashes -r requirements/lint.txt
	@touch $@

demo: setup  ## the embedded default: real ScienceWorld, offline reader, no key (make demo ENV=alfworld_mini for another world)
	$(BIN)/python -m scripts.run +experiment=demo$(if $(ENV),_$(ENV))
	$(BIN)/python -m scripts.report results/demo$(if $(ENV),_$(ENV))/runs

demo-all: setup  ## the demo with every memory
	$(BIN)/python -m scripts.run +experiment=demo_all
	$(BIN)/python -m scripts.report results/demo/runs

test: $(STAMPS)/test  ## install what the tests need and run them
	$(BIN)/python -m pytest $(ARGS)

lint: $(STAMPS)/lint $(STAMPS)/test  ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMPS)/test  ## speed, as ratios within one run
	$(BIN)/python -m scripts.bench

clean:  ## remove the virtual environment; results stay
	rm -rf $(VENV)

UV := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate
lock:  ## write requirements/*.txt anew from pyproject.toml (needs uv and a network)
	# One resolution for all, so that what is installed later never changes what was installed before.
	$(UV) --extra test --extra lint pyproject.toml requirements/build.in -o requirements/lint.txt
	$(UV) --constraint requirements/lint.txt --extra test pyproject.toml requirements/build.in -o requirements/test.txt
	$(UV) --constraint requirements/lint.txt pyproject.toml requirements/build.in -o requirements/base.txt
	$(UV) --constraint requirements/lint.txt --extra alfworld pyproject.toml requirements/build.in -o requirements/alfworld.txt
	printf 'huggingface-hub>=1\n' > requirements/.override  # browsergym asks for an older one that nothing of it uses
	$(UV) --constraint requirements/lint.txt --override requirements/.override --extra webarena pyproject.toml requirements/build.in -o requirements/webarena.txt
	rm requirements/.override
