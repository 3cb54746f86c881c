PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test bench check unit system-packages clean-venv

demo: $(BIN)/roundelay
	$(BIN)/roundelay run examples/two-vgg19.yaml
