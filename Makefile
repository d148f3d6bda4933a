# Each target does its own set-up in .venv, and says nothing when there is nothing to do.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
LOG    := $(VENV)/setup.log

.PHONY: demo test lint bench clean

demo: $(READY)
	@$(BIN)/legged-dynamics demo $(ARGS)

test: lint
	@$(BIN)/python -m pytest $(ARGS)

lint: $(READY)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary

bench: $(READY)
	@$(BIN)/python -m benchmarks $(ARGS)

$(READY): setup.py package.xml
	@echo "Setting up $(VENV) (once, about a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --upgrade pip setuptools > $(LOG) 2>&1 || { cat $(LOG); exit 1; }
	@$(BIN)/pip install --editable '.[all]' > $(LOG) 2>&1 || { cat $(LOG); exit 1; }
	@touch $@

clean:
	@rm -rf $(VENV) build install log *.egg-info
