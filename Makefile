# One door: the same targets by hand and in CI.

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help install up test check pytest bench simulate sync schema openapi lock clean

VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements.lock
STAMP := $(VENV)/.installed
SEEDS ?= 10000
ARGS ?=
UV_VERSION := 0.13.7

# The first Python of 3.11 or newer; `make install PYTHON=…` names another one.
PYTHON ?= $(shell for candidate in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$candidate; break; }; done)

# $(call timed,name,command): runs the command and says how long it took.
timed = start=$$(date +%s); $(2) && echo "── $(1): $$(( $$(date +%s) - start )) s"

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP) ## make .venv with the locked packages and this project (PYTHON=… to choose the interpreter)

$(STAMP): $(LOCK) pyproject.toml
	@if [ -z "$(PYTHON)" ]; then echo "Noonmark needs Python 3.11 or newer; name one with PYTHON=…" >&2; exit 1; fi
	@set -e; key=$$(cat $(LOCK) pyproject.toml | cksum); \
	if [ "$$(cat $@ 2>/dev/null)" = "$$key" ] && $(BIN)/python -c ''; then touch $@; exit 0; fi; \
	start=$$(date +%s); rm -f $@; \
	$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV); \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK); \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	echo "$$key" > $@; \
	echo "── install: $$(( $$(date +%s) - start )) s"

up: install ## start PostgreSQL, a node, a worker and a sample job; Ctrl-C stops them
	@exec $(BIN)/noonmark up $(ARGS)

test: install ## everything that CI runs: check, then the whole test suite
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory pytest

pytest: install ## the tests alone, on two cores (ARGS="tests/embedded -k attach" to choose, -n 0 for one process)
	@$(call timed,pytest,$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS))

check: install ## ruff, formatting, strict types, import contract
	@$(call timed,ruff check,$(BIN)/ruff check .)
	@$(call timed,ruff format,$(BIN)/ruff format --check .)
	@$(call timed,mypy,$(BIN)/mypy)
	@$(call timed,import contract,$(BIN)/lint-imports --no-cache)

bench: install ## all benchmarks, durable commits on (ARGS="--json FILE")
	@$(BIN)/python -m bench all $(ARGS)

simulate: install ## seeded random faults against the pure core (SEEDS=10000)
	@$(BIN)/python -m tests.simulation --seeds $(SEEDS) $(ARGS)

sync: install ## make the blocking SDK (client/sync) from the async one
	@$(BIN)/python tools/make_sync.py

schema: install ## write docs/manifest.schema.json anew, out of the structs
	@$(BIN)/noonmark apply --schema > docs/manifest.schema.json

openapi: install ## write docs/openapi.json anew, out of the routes
	@$(BIN)/python -m noonmark.api > docs/openapi.json.new && mv docs/openapi.json.new docs/openapi.json

lock: ## resolve the dependencies anew into requirements.lock (versions and hashes, no addresses)
	@set -e; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	$(PYTHON) -m venv "$$scratch"; \
	"$$scratch/bin/pip" install --quiet --disable-pip-version-check uv==$(UV_VERSION); \
	"$$scratch/bin/uv" --quiet --no-config pip compile pyproject.toml --group dev --upgrade --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
		--custom-compile-command "make lock" --output-file $(LOCK)

clean: ## remove the virtual environment and caches; data is kept
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
