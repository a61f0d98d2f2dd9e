# Everything sets itself up: `make demo` and `make test` work on a fresh machine with Python 3.11.
PYTHON ?= python3
TORCH ?= torch==2.13.0

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Some containers forbid Python to keep what it compiled, and every process would compile all again.
export PYTHONDONTWRITEBYTECODE :=

SMOKE := tests/test_smoke.py tests/contracts/test_structure.py tests/model/surgery
THOROUGH := tests/model/surgery tests/model/test_footprint.py tests/pruning/selection

.PHONY: demo study smoke test slow check format bench docs clean

demo: .venv/ready  ## everything once, in about four minutes: a pruned model and a page, in demo/
	$(BIN)/polyprune demo $(DEMO) --out demo --force

study: .venv/ready  ## a few systems on a few tasks, in minutes, in study/; without --quick, all of them
	$(BIN)/polyprune study configs/miniature/study.toml --quick --out study

smoke: .venv/ready  ## every verb and every package once, in half a minute
	$(BIN)/pytest -n auto --dist loadfile $(SMOKE)

test: .venv/ready  ## all unit tests, on all cores
	$(BIN)/pytest -n auto --dist worksteal

slow: .venv/ready  ## whole programs, many more random cases, everything on the real e5-small
	$(BIN)/pytest -n auto --dist worksteal -m slow
	$(BIN)/pytest -n auto --dist worksteal --hypothesis-profile=thorough $(THOROUGH)

check: .venv/ready  ## linters, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/ready  ## speed against transformers, quality against peers; close other programs first
	$(BIN)/python benchmarks/encoder.py
	$(BIN)/python benchmarks/pruning.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/finetuning.py
	$(BIN)/python benchmarks/same.py
	$(BIN)/python benchmarks/shrunk.py
	$(BIN)/python benchmarks/shrunk.py --exported
	$(BIN)/python benchmarks/shrunk.py --speedup 2
	$(BIN)/python benchmarks/cost.py $(if $(TEXT),--text $(TEXT))
# Text that is not ours to hand out: a folder of line-aligned files, such as NTREX's.
ifdef TEXT
	$(BIN)/python benchmarks/retrieval.py --text $(TEXT)
else
	@echo "Retrieval is left out: it needs line-aligned text. Give it: make bench TEXT=FOLDER"
endif
# A folder in XTREME's layout.
ifdef XTREME
	$(BIN)/python benchmarks/tasks.py --data $(XTREME) --work build/tasks
else
	@echo "Own tasks are left out: they need XTREME's files. Give them: make bench XTREME=FOLDER"
endif
# The tools that we are compared with. No extra of ours: nobody needs them to use polyprune, and what
# TextPruner asks for, a numpy older than Python 3.11, cannot be installed; it works with any. A tool
# that does not install is told of in the results, as one that fails is.
	-$(PIP) matplotlib onnx onnxscript onnxruntime
	-$(PIP) torch-pruning
	-$(PIP) --no-deps textpruner
	$(BIN)/python benchmarks/peers.py

docs: .venv/ready  ## the site, in site/
	$(PIP) -e ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# torch first and by itself: a plain `pip install torch` may fetch gigabytes of CUDA packages.
.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) "$(TORCH)"
	$(PIP) -e ".[e5,dev]"
	touch $@

clean:
	rm -rf .venv site build demo study .pytest_cache .ruff_cache .hypothesis
