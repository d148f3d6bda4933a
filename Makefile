# Each target does its own set-up in .venv, and says nothing when there is nothing to do.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
LOG    := $(VENV)/setup.log
# The demo needs less: no linters, no oracles. The documents need what builds them.
DEMO   := $(if $(wildcard $(VENV)/.ready),$(VENV)/.ready,$(VENV)/.demo)
DOCS   := $(VENV)/.docs
SITE   := site
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); [ $$n -lt 8 ] && expr $$n + 1 || echo 8)
# Real ROS 2 for the tests of it, and for `make demo MIDDLEWARE=ros2`.
ROS    := .venv-ros

.PHONY: demo test test-ros2 lint bench docs clean

demo: $(DEMO) $(if $(filter ros2,$(MIDDLEWARE)),$(ROS)/.ready)
ifeq ($(MIDDLEWARE),ros2)
	@test -e $(ROS)/.ready || { cat $(ROS)/skipped; exit 1; }
	@$(ROS)/bin/legged-dynamics demo --middleware rclpy $(ARGS)
else
	@$(BIN)/legged-dynamics demo $(ARGS)
endif

# One worker more than processors, for some tests mostly wait; the longest files first, as
# test/conftest.py has them.
test: lint
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile \
	    --no-loadscope-reorder $(ARGS)
	@$(MAKE) --no-print-directory test-ros2

test-ros2: $(ROS)/.ready
	@if test -e $(ROS)/.ready; then \
	    $(ROS)/bin/python -m pytest -k "ros2 or rclpy" test/ros2 test/middleware/test_safe_end.py \
	        test/middleware/test_polling.py; \
	else echo "Tests on real ROS 2 are skipped: $$(cat $(ROS)/skipped)"; fi

lint: $(READY)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary

bench: $(READY)
	@$(BIN)/python -m benchmarks $(ARGS)

# Warnings are errors.
docs: $(DOCS)
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs $(SITE)
	@echo "Site: $(SITE)/index.html"

$(READY): EXTRAS := all
$(VENV)/.demo: EXTRAS := demo
$(DOCS): EXTRAS := docs,sim
$(READY) $(VENV)/.demo $(DOCS): setup.py package.xml
	@echo "Setting up $(VENV) for $(EXTRAS) (once, about a minute) ..."
	@test -e $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --upgrade pip setuptools > $(LOG) 2>&1 || { cat $(LOG); exit 1; }
	@$(BIN)/pip install --editable '.[$(EXTRAS)]' > $(LOG) 2>&1 || { cat $(LOG); exit 1; }
	@touch $@

# Without a wheel for this Python, or without network, it says why, and is tried again.
$(ROS)/.ready: setup.py package.xml
	@$(PYTHON) test/ros2/set_up.py $(ROS)

clean:
	@rm -rf $(VENV) $(ROS) $(SITE) build install log *.egg-info
