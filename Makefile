# Everything a fresh machine needs is python3 with venv, and make.
PYTHON ?= python3
BIN := .venv/bin
export OPENBLAS_NUM_THREADS := 1

.PHONY: demo test lint docs bench clean

demo: .venv/core
	$(BIN)/hideseek demo

test: .venv/test
	$(BIN)/pytest -n 2

lint: .venv/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/docs  # into build/docs; a warning is an error, and nothing may be loaded from another host
	$(BIN)/sphinx-build -q -E -W --keep-going docs build/docs
	! grep -rniE '<(script|link|img|iframe)[^>]+(src|href)="(https?:)?//' build/docs --include='*.html'

bench: .venv/test  # $(BIN)/python -m benchmarks --help for parts of it; --readme puts the numbers into the pages
	$(BIN)/python -m benchmarks

.venv/core: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/test: .venv/core
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[geo,test]'
	@touch $@

.venv/docs: .venv/core
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

clean:
	rm -rf .venv build docs/reference dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
