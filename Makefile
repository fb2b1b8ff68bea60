# make demo        build, install, rank an embedded data set; under two minutes from a fresh clone
# make test        everything the suite needs, and the suite
# make check-more  sanitizers, doctests, the wheel in an empty environment
# make clean       remove all of it again
#
# Another Python:  make clean; make test PYTHON=python3.13

PYTHON ?= python3
VENV   ?= .venv
OUT    ?= demo-output

python := $(VENV)/bin/python
pip    := $(python) -m pip --disable-pip-version-check
# Built without isolation, in build/: only what changed is compiled again.
install := $(pip) install --quiet --no-build-isolation

# What is tested under the sanitizers: the tests marked so, of these files. NEARHIT_TEST_SMALL=1 asks for fewer examples.
SANITIZE_TESTS ?= tests/test_kernels.py tests/test_radius.py tests/test_neighbourhoods.py tests/test_permuted_sums.py
SANITIZE_ONLY  ?=
sanitized := $(CURDIR)/build/sanitize/site
sanitizers = $(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so)

.PHONY: demo test check-more sanitize doctest wheel clean
.DELETE_ON_ERROR:

demo: $(VENV)/built-with
	$(install) ".[cli,report]"
	$(python) -m nearhit.demo --out $(OUT)

test: $(VENV)/built-with
	$(install) ".[dev]"
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy
	$(python) -m pytest -n 2 -W error

check-more: sanitize doctest wheel

# gcc's sanitizers in a Python that was built without them: their library has to be loaded first, and so has the C++
# library, or the first exception finds no __cxa_throw. Python itself leaks, so leaks are not looked for.
sanitize: $(VENV)/built-with
	$(install) ".[dev]"
	rm -rf $(sanitized)
	$(install) --no-deps --target $(sanitized) --config-settings=build-dir=build/sanitize/cmake \
		--config-settings=install.strip=false --config-settings=cmake.build-type=RelWithDebInfo \
		--config-settings=cmake.define.NEARHIT_EXTRA_FLAGS="-O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" .
	PYTHONPATH=$(sanitized) LD_PRELOAD="$(sanitizers)" ASAN_OPTIONS=detect_leaks=0 \
		$(python) -c "import nearhit; nearhit.show_config(); assert '$(sanitized)' in nearhit.__file__, nearhit.__file__"
	PYTHONPATH=$(sanitized) LD_PRELOAD="$(sanitizers)" ASAN_OPTIONS=detect_leaks=0 NEARHIT_TEST_SMALL=1 \
		$(python) -m pytest -n 2 -W error -m sanitize $(SANITIZE_TESTS) $(if $(SANITIZE_ONLY),-k "$(SANITIZE_ONLY)")

doctest: $(VENV)/built-with
	$(install) ".[dev]"
	$(python) -m pytest -n 2 -W error --doctest-modules --pyargs nearhit
	$(python) -m pytest -W error tests/test_readme.py

# The wheel beside its core dependencies only: nothing may need an extra without saying so.
wheel: $(VENV)/built-with
	rm -rf build/wheel
	$(pip) wheel --quiet --no-build-isolation --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip --disable-pip-version-check install --quiet build/wheel/nearhit-*.whl
	cd build/wheel && venv/bin/python -W error -c "import nearhit; nearhit.show_config()"
	cd build/wheel && venv/bin/python -W error -m nearhit.demo --out demo-output
	cd build/wheel && { venv/bin/nearhit; test $$? -eq 2; }  # says which extra to install

# The environment, with what the build needs (pyproject.toml says the same to those who build in isolation).
$(VENV)/built-with: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "nearhit needs Python 3.11 or newer, and" \
		"$(PYTHON) is `$(PYTHON) --version 2>&1`. Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@command -v $(CXX) >/dev/null || { echo "nearhit needs a C++ compiler, and there is no $(CXX). Install g++," \
		"or name another one: make $(MAKECMDGOALS) CXX=clang++" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(pip) install --quiet "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.25" ninja
	touch $@

clean:
	rm -rf $(VENV) build dist $(OUT) .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
	rm -f src/nearhit/*.so
