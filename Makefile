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

.PHONY: demo test test-all test-ros2 lint bench tables docs wheel clean

demo: $(DEMO) $(if $(filter ros2,$(MIDDLEWARE)),$(ROS)/.ready)
ifeq ($(MIDDLEWARE),ros2)
	@test -e $(ROS)/.ready || { cat $(ROS)/skipped; exit 1; }
	@$(ROS)/bin/legged-dynamics demo --middleware rclpy $(ARGS)
else
	@$(BIN)/legged-dynamics demo $(ARGS)
endif

# Some tests on real ROS 2 beside a command; what they say comes last.
define beside_ros2
@$(MAKE_COMMAND) --no-print-directory test-ros2 ROS2_TESTS='$(1)' \
    > $(VENV)/ros2.log 2>&1 & ros=$$!; trap "kill $$ros" INT TERM; \
$(2); suite=$$?; wait $$ros || suite=1; cat $(VENV)/ros2.log; exit $$suite
endef

# In process and deterministic, but for one run of the whole chain on Cyclone DDS and one on rclpy.
# One worker more than processors, for some tests wait. Files that take longest come first.
QUICK := end_to_end or not (dds or processes or browser or slow)
LINT := lint
PYTEST := -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
test: $(READY) $(LINT)
	$(call beside_ros2,-m end_to_end,$(BIN)/python $(PYTEST) -m '$(QUICK)' $(ARGS))

# The rest: buses, processes, browser, rclpy, and what takes long. A test that fails is run once
# more alone; one that passes then is named as unstable in the last lines.
test-all: $(READY)
	$(call beside_ros2,-m "not end_to_end",$(BIN)/python test/rerun.py $(PYTEST) \
	    -m 'not ($(QUICK))' $(ARGS))

test-ros2: $(ROS)/.ready
	@if test -e $(ROS)/.ready; then \
	    $(ROS)/bin/python test/rerun.py -m pytest $(ROS2_TESTS) -k "ros2 or rclpy" test/ros2 \
	        test/middleware/test_safe_end.py test/middleware/test_polling.py; \
	else echo "Tests on real ROS 2 are skipped: $$(cat $(ROS)/skipped)"; fi

lint: $(READY)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary

bench: $(READY)
	@$(BIN)/python -m benchmarks $(ARGS)

# The measured tables of docs/, each by the command in its line; all of them take hours.
tables: $(READY)
	@$(BIN)/python -m benchmarks tables $(ARGS)

# Warnings are errors.
docs: $(DOCS)
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs $(SITE)
	@echo "Site: $(SITE)/index.html"

$(READY): EXTRAS := all
$(VENV)/.demo: EXTRAS := demo
$(DOCS): EXTRAS := docs,sim,bag
$(READY) $(VENV)/.demo $(DOCS): setup.py package.xml
	@echo "Setting up $(VENV) for $(EXTRAS) (once, about a minute) ..."
	@test -e $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --upgrade pip setuptools > $(LOG) 2>&1 || { cat $(LOG); exit 1; }
	@$(BIN)/pip install --editable '.[$(EXTRAS)]' > $(LOG) 2>&1 || { cat $(LOG); exit 1; }
	@touch $@

# Without a wheel for this Python, or without network, it says why, and is tried again.
$(ROS)/.ready: setup.py package.xml
	@$(PYTHON) test/ros2/set_up.py $(ROS)

# A wheel with its kernels compiled, for this platform and Python, in dist/.
wheel: $(READY)
	@echo "Compiling the kernels (a minute or two) ..."
	@rm -rf build dist/*.whl
	@$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	@ls dist/*.whl

clean:
	@rm -rf $(VENV) $(ROS) $(SITE) jupyter_execute build dist install log *.egg-info
