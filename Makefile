# Everything a fresh machine needs is python3 with venv, and make.
PYTHON ?= python3
BIN := .venv/bin
export OPENBLAS_NUM_THREADS := 1

.PHONY: demo test lint bench clean

demo: .venv/core
	$(BIN)/hideseek demo

test: .venv/test
	$(BIN)/pytest -n 2

lint: .venv/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/test  # $(BIN)/python -m benchmarks --help for parts of it; --readme puts the numbers into the pages
	$(BIN)/python -m benchmarks

.venv/core: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/test: .venv/core
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[geo,test]'
	@touch $@

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
