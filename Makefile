# make demo   a virtual environment, the core, and the first example
# make test   everything that the tests need, and all of them
# make bench  what exists so far, measured: bench/results.json
# make gpu-check  two models profiled on this machine's GPU
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Where a kernel for the guest tests and other downloads are kept.
CACHE := .cache

.PHONY: demo test check unit kernel training browser guest bench gpu-check

demo: $(VENV)/core
	$(BIN)/roundelay run examples/two-vgg19.yaml

test: unit kernel training browser
	$(MAKE) --jobs=2 check guest
	@echo "all tests passed"

check: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/test
	$(BIN)/pytest tests/unit -n auto --dist loadfile

kernel: $(VENV)/test
	$(BIN)/pytest tests/kernel -m 'not undisturbed' -n 2 --dist loadfile
	$(BIN)/pytest tests/kernel -m undisturbed

# Real torch and DALI, and a real Ray cluster: they take both cores by themselves.
training: $(VENV)/test
	$(BIN)/pytest tests/training tests/sweep -m 'not undisturbed' -n 2 --dist loadfile
	$(BIN)/pytest tests/training -m undisturbed

browser: $(VENV)/test
	$(BIN)/pytest tests/browser

guest: $(VENV)/test
	$(BIN)/pytest tests/guest

gpu-check: $(VENV)/test
	$(BIN)/python -m tests.gpu.check

bench: $(VENV)/test
	./system-packages bench
	$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY))

define install
	./system-packages core
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.$(1)'
	@touch $(VENV)/core
endef

$(VENV)/core: pyproject.toml
	$(call install)

$(VENV)/test: pyproject.toml
	$(call install,[test])
	./system-packages test
	@touch $@
