# make eval           evaluate on the bundled scenarios and print the table (MODEL=... for a model of your own)
# make test           the whole test suite
# make lint           ruff and mypy
# make bench          speed, as ratios, beside the numbers to hold
# make train-demo     train a small model here by SFT and RL, and score it before, between and after (15 CPU-minutes)
# make data           fetch the benchmark data that tests and tasks need

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
LOGS ?= logs/$(shell date +%Y-%m-%d-%H%M%S)
MODEL ?= reference/oracle,reference/random,reference/noop
USER_MODEL ?= reference/scripted_user
SETTING ?= all
LIMIT ?= 32
# The small checkpoints that ship are played as well, unless a model is named.
ifeq ($(origin MODEL),file)
DEMO_CHECKPOINTS := training/demo/checkpoints
CHECKPOINTS := checkpoint/$(DEMO_CHECKPOINTS)/base,checkpoint/$(DEMO_CHECKPOINTS)/sft,checkpoint/$(DEMO_CHECKPOINTS)/rl
endif
INSPECT = INSPECT_DISPLAY=$${INSPECT_DISPLAY:-plain} $(BIN)/inspect
DEMO ?= logs/train-demo
export OMP_NUM_THREADS ?= 1

.PHONY: eval test lint types bench train-demo data clean

$(BIN)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(BIN)/.serve: $(BIN)/.core
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable '.[serve]'
	touch $@

$(BIN)/.dev: $(BIN)/.core
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable '.[dev,serve]'
	touch $@

$(BIN)/.train: $(BIN)/.core
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable '.[train,serve]'
	touch $@

# Checkpoints in folders are served here, which other models do without.
eval: $(BIN)/$(if $(CHECKPOINTS)$(findstring checkpoint/,$(MODEL)),.serve,.core)
	$(INSPECT) eval envscaler/scenarios -T setting=$(SETTING) -T limit=$(LIMIT) \
		--model $(MODEL) --model-role user=$(USER_MODEL) --no-log-realtime --log-dir $(LOGS)
ifneq ($(CHECKPOINTS),)
	$(INSPECT) eval envscaler/scenarios -T corpus=training/demo/held_out -T limit=8 \
		--model $(CHECKPOINTS) --max-tokens 48 --no-log-realtime --log-dir $(LOGS)
endif
	$(BIN)/envscaler results $(LOGS)

data: $(BIN)/.core
	$(BIN)/python -c "from harness.artifacts import find; find('bfcl')" 2>/dev/null || $(BIN)/envscaler data pull bfcl

test: $(BIN)/.dev data
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal $(ARGS)

lint: $(BIN)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

train-demo: $(BIN)/.train
	$(BIN)/envscaler train demo --to $(DEMO)

bench: $(BIN)/.dev
	$(BIN)/python -m tests.performance

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache build dist
