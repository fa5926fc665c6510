# Everything here works on a machine that has only make and Python 3.11 or newer.
# The first target that needs it makes a virtual environment in .venv.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test frontends recipes check style types examples docs gallery package validate \
	bench soak compiled clean

# Name another Python with `make PYTHON=...`; without that, a newer one is looked for if need be.
PYTHON ?= python3
# Processes for the tests.
JOBS ?= auto
# Length of the statistical suites: 1 is the full length.
SCALE ?= 1
# Seconds after which one of them is said to hang.
LIMIT ?= 7200
# Hours of a soak.
HOURS ?= 24
# Pythons that `make package` tries the package on.
PYTHONS ?= $(CURDIR)/$(BIN)/python
# Arguments for the benchmarks, e.g. ARGS=--quick.
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
FRONTENDS := .venv-frontends
RECIPES := .venv-recipes

# numba's cache on disk does not notice a change in a called module, so every state of the compiled
# sources has a cache of its own. tests/conftest.py does the same for those who run pytest by hand.
NUMBA_CACHE = $(CURDIR)/.cache/numba/$(shell $(BIN)/python tools/compiled_sources.py 2>/dev/null)
demo test examples validate bench soak compiled: export NUMBA_CACHE_DIR = $(NUMBA_CACHE)

# A third of the time in which aptmc is loaded, and more of that in which pytest loads the tests, is
# spent on bytecode, unless Python may keep it. Tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

PYTEST := $(BIN)/python -m pytest --quiet
# loadfile: what one file of tests compiles, one process compiles. Files in the order in which they
# are collected: tests/conftest.py has the long ones begin. A process that dies is not replaced: it
# would die of the same test again and again. At the end stands what all has cost.
PARALLEL := --numprocesses=$(JOBS) --maxprocesses=4 --dist=loadfile --no-loadscope-reorder \
	--max-worker-restart=0 -p tests.support.lost_processes -p tests.support.processor_seconds
# The parts of `make check`, the longest first, two at a time; what one prints stays together.
SIDE_BY_SIDE := --jobs=2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

help:
	@echo "make demo      see anytime parallel tempering at work on a small example"
	@echo "make test      run the tests, some minutes"
	@echo "make frontends run the tests of models in other languages, in an environment of their own"
	@echo "make recipes   run the recipes for simulators of other libraries, likewise"
	@echo "make check     lint, types, layers, examples in the documents, short validate and bench"
	@echo "make docs      build the documentation in build/docs"
	@echo "make package   build wheel and sdist, and try them (PYTHONS=\"python3.12 python3.13\")"
	@echo "make validate  run the long statistical suites (SCALE=0.1: a tenth of the length)"
	@echo "make bench     measure speed (ARGS=--quick: a short run)"
	@echo "make soak      let everything happen to one run, HOURS=24"
	@echo "make clean     remove the virtual environment, caches and build products"

demo: $(INSTALLED)
	@$(BIN)/aptmc demo

test: compiled
	$(PYTEST) $(PARALLEL) --ignore=tests/docs

# PyMC wants an older numba than the one that all else is tested with. Validations are part of it, for
# `make validate` has no PyMC.
frontends: $(INSTALLED)
	@[ -e $(FRONTENDS) ] || $(BIN)/python -m venv $(FRONTENDS)
	@$(FRONTENDS)/bin/python -m pip install --quiet --no-input --disable-pip-version-check \
		--editable '.[frontends]'
	$(FRONTENDS)/bin/python -m pytest --quiet tests/frontends tests/docs/test_documents.py \
		-k "frontends or from_" -m "validation or not validation" \
		--override-ini=faulthandler_timeout=$(LIMIT) && \
	$(FRONTENDS)/bin/python -m pytest --quiet --doctest-modules src/aptmc/frontends

# Other people's simulators, in an environment of their own; those that are not installed are skipped.
recipes: $(INSTALLED)
	@[ -e $(RECIPES) ] || $(BIN)/python -m venv $(RECIPES)
	@$(RECIPES)/bin/python -m pip install --quiet --no-input --disable-pip-version-check \
		--editable '.[recipes]'
	$(RECIPES)/bin/python -m pytest --quiet tests/docs/test_recipes.py \
		-m "validation or not validation" --override-ini=faulthandler_timeout=$(LIMIT)

check: compiled
	@$(MAKE) --no-print-directory $(SIDE_BY_SIDE) JOBS=2 SCALE=0.02 LIMIT=300 ARGS=--quick \
		validate examples bench types style docs

style: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --cache-dir .cache/import-linter

types: $(INSTALLED)
	$(BIN)/mypy

examples: compiled
	$(PYTEST) -p tests.support.processor_seconds --doctest-modules src tests/docs

# Once, by two processes: each that tests, measures or runs examples would compile the same.
compiled: $(INSTALLED)
	@if [ ! -e "$$NUMBA_CACHE_DIR/.all" ]; then \
		echo "Compiling aptmc, once for these sources, which takes half a minute"; \
		$(BIN)/python tools/compile_library.py && touch "$$NUMBA_CACHE_DIR/.all"; \
	fi

docs: $(INSTALLED)
	$(BIN)/mkdocs build --quiet --site-dir build/docs

# Runs all examples, some minutes; what they print and draw is kept in docs/gallery.
gallery: compiled
	$(BIN)/python -m tools.gallery

package: $(INSTALLED)
	@$(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check --editable '.[package]'
	$(BIN)/python -m tools.package $(PYTHONS)

validate: compiled
	APTMC_VALIDATION_SCALE=$(SCALE) $(PYTEST) $(PARALLEL) -m validation \
		--override-ini=faulthandler_timeout=$(LIMIT)

bench: compiled
	$(BIN)/python -m benchmarks $(ARGS)

soak: compiled
	$(BIN)/python -m experiments.soak --hours $(HOURS)

clean:
	rm -rf $(VENV) $(FRONTENDS) $(RECIPES) .cache .hypothesis build dist
	find src tests experiments benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
# A Python that the user named is used or refused, never replaced.
CANDIDATES = $(PYTHON) $(if $(filter file,$(origin PYTHON)),python3.13 python3.12 python3.11 python3.14)

# The stamp comes last, so that an installation that failed halfway is done again. An environment
# that works is kept and only brought up to date.
$(INSTALLED): pyproject.toml src/aptmc/__about__.py
	@rm -f $@
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		for candidate in $(CANDIDATES); do \
			if "$$candidate" -c '$(NEW_ENOUGH)' >/dev/null 2>&1; then found="$$candidate"; break; fi; \
		done; \
		if [ -z "$$found" ]; then \
			echo "aptmc needs Python 3.11 or newer, and $(PYTHON) is" \
				"$$("$(PYTHON)" --version 2>/dev/null || echo 'not there'):" \
				"install a newer one and name it, make PYTHON=/path/to/python3.11" >&2; \
			exit 1; \
		fi; \
		echo "Making a virtual environment in $(VENV) with $$found"; \
		"$$found" -m venv --clear $(VENV) || { \
			echo "$$found cannot make virtual environments:" \
				"install its venv module (on Debian and Ubuntu the package python3-venv)" >&2; \
			exit 1; \
		}; \
	fi
	@echo "Installing aptmc and its tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check --editable '.[dev]'
	@touch $@
