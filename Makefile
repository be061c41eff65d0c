# Everything lives in .venv, installed from lock files with hashes.
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help up test check bench lock clean docs

help: ## Show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

up: .venv/run.stamp ## Set everything up and start the platform on 127.0.0.1:8400
	@exec $(BIN)/penstock up

test: .venv/dev.stamp ## Set up what the tests need and run them all
	$(BIN)/python -m pytest

check: .venv/dev.stamp ## Lint, format, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/dev.stamp ## Print each capability's ratio to the bare part beneath it
	$(BIN)/python -m bench

lock: .venv/dev.stamp ## Resolve the dependencies anew
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --extra build --extra gateway pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --extra dev pyproject.toml -o requirements-dev.lock

clean: ## Remove the environment and caches, never the data folder
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/run.stamp: requirements.lock pyproject.toml | .venv/bin/python
	@echo "Installing Penstock into .venv ..."
	@test -e .venv/dev.stamp || $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/dev.stamp: requirements-dev.lock pyproject.toml | .venv/bin/python
	@echo "Installing Penstock and its development tools into .venv ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@ .venv/run.stamp

docs: .venv/dev.stamp ## Write docs/reference and the golden files anew from the code
	PENSTOCK_WRITE_GOLDEN=1 $(BIN)/python -m pytest tests/golden
