# Everything a person does with the repository. CMake builds; this file names the common ways to call it and installs
# missing Debian packages first (scripts/packages.sh).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# What `make train` learns; add flags with `make train ARGS="--seed 2"`.
TRAIN := --model mnist-cnn --data fashion-mnist --epochs 2
ARGS ?=
# How long `make fuzz` spends on each reader.
FUZZ_SECONDS ?= 60
# Options for ctest, e.g. `make test CTEST="-R graph"`.
CTEST ?=
# Labels of tests that `make test` leaves out: `peer` is what `make test-peer` runs.
LEAVE_OUT ?= peer

PACKAGES := scripts/packages.sh
RUN_CTEST = ctest --output-on-failure -j$(JOBS)
SOURCES = find src include tests bench examples -name '*.h' -o -name '*.cpp'

.PHONY: help build train test test-fast test-peer test-pypi test-asan test-tsan test-cluster fuzz bench bench-micro docs lint format install uninstall \
  deb test-deb clean

help:  ## this list
	@echo "Trireme: trains deep networks on CPUs."
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

build/build.ninja:
	@$(PACKAGES) core
	@cmake --preset release --log-level=WARNING >/dev/null

build: build/build.ninja  ## the program, build/trireme
	@$(PACKAGES) core
	@cmake --build build --target trireme

train: build  ## build the program and watch a CNN learn Fashion-MNIST
	build/trireme train $(TRAIN) $(ARGS)

test:  ## build and run all tests but those that need PyTorch or scikit-learn (test-peer)
	@$(PACKAGES) core test
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build build --target trireme trireme_tests
	@$(RUN_CTEST) --test-dir build -LE '$(LEAVE_OUT)' $(CTEST)

test-fast:  ## the tests that take a minute or two
	@$(MAKE) test LEAVE_OUT='peer|slow'

test-peer:  ## the tests that need PyTorch, scikit-learn or promtool, which are installed; one that is skipped is a failure
	@$(PACKAGES) core test peer
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build build --target trireme trireme_tests
	@TRIREME_PEER_REQUIRED=yes $(RUN_CTEST) --test-dir build -L peer --no-tests=error $(CTEST) | tee build/test-peer.log
	@! grep -q '(Skipped)' build/test-peer.log || { echo "test-peer: tests were skipped, see above"; exit 1; }

test-pypi: build  ## tests that need PyPI's TensorBoard and TensorFlow, installed into build/pypi; not part of CI
	@$(PACKAGES) core test pypi
	@cmake --build build --target test_cli_slow
	@for name in tensorboard tensorflow; do \
	  test -d build/pypi/$$name || python3 -m venv build/pypi/$$name; \
	  build/pypi/$$name/bin/pip --quiet --disable-pip-version-check install -r tests/pypi/$$name.txt; \
	done
	@build/pypi/tensorboard/bin/python tests/pypi/tensorboard_test.py build/trireme
	@TRIREME_PYTHON=$(CURDIR)/build/pypi/tensorflow/bin/python $(RUN_CTEST) --test-dir build -R CompareTensorflow --no-tests=error $(CTEST) | \
	  tee build/test-pypi.log
	@! grep -q '(Skipped)' build/test-pypi.log || { echo "test-pypi: tests were skipped, see above"; exit 1; }

test-asan:  ## all tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(PACKAGES) core test
	@cmake --preset asan --log-level=WARNING >/dev/null
	@cmake --build build-asan --target trireme trireme_tests
	@UBSAN_OPTIONS=print_stacktrace=1 $(RUN_CTEST) --test-dir build-asan $(CTEST)

test-tsan:  ## all tests under ThreadSanitizer, with one OpenMP thread
	@$(PACKAGES) core test
	@cmake --preset tsan --log-level=WARNING >/dev/null
	@cmake --build build-tsan --target trireme trireme_tests
	@OMP_NUM_THREADS=1 TSAN_OPTIONS=halt_on_error=1 $(RUN_CTEST) --test-dir build-tsan $(CTEST)

test-cluster:  ## one job over ssh between network namespaces, under mpirun and under Slurm; needs root
	@$(PACKAGES) core test cluster
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build build --target trireme test_cluster
	@tests/cluster/all.sh

fuzz:  ## feed every reader of files and of the network with libFuzzer, FUZZ_SECONDS each; findings stay in build-fuzz/
	@$(PACKAGES) core fuzz
	@cmake --preset fuzz --log-level=WARNING >/dev/null
	@cmake --build build-fuzz --target trireme_fuzz
	@cd build-fuzz && export TMPDIR=$$(cd /dev/shm 2>/dev/null && pwd || echo /tmp) && ls fuzz/fuzz_* | xargs -P$(JOBS) -I{} bash -c 'set -e; name=$$(basename {}); mkdir -p corpus/$$name; \
	  {} --write-seeds corpus/$$name; \
	  {} -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix=$$name- \
	    corpus/$$name > $$name.log 2>&1 || { tail -30 $$name.log; exit 255; }; \
	  echo "$$name: $$(grep -o "number_of_executed_units: [0-9]*" $$name.log), nothing found"'

bench: build  ## measure the training step; against PyTorch with `make bench ARGS="--peer pytorch"`
	build/trireme bench step $(ARGS)

bench-micro:  ## build and run the micro-benchmarks in bench/
	@$(PACKAGES) core bench
	@cmake --preset bench --log-level=WARNING >/dev/null
	@cmake --build build --target trireme_benches
	@shopt -s nullglob; for program in build/bench/*_bench; do echo "== $$(basename $$program)"; $$program $(ARGS); done

docs: build  ## write the tables of the documentation that the program prints (options, models, ops, ...)
	scripts/docs_tables.py --program build/trireme

lint:  ## check formatting and run clang-tidy
	@$(PACKAGES) core lint
	@$(SOURCES) | xargs clang-format --dry-run -Werror
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build build --target trireme_version
	@find src -name '*.cpp' | sort | xargs -P$(JOBS) -n1 clang-tidy -p build --quiet 2>&1 | \
	  sed '/^[0-9]* warnings\? generated\.$$/d'

format:  ## rewrite the sources as `make lint` wants them
	@$(PACKAGES) lint
	@$(SOURCES) | xargs clang-format -i

install: build  ## install program, man pages, completions, libraries and headers into PREFIX (default /usr/local)
	@scripts/prefix.sh install build "$(PREFIX)"

uninstall:  ## remove what `make install` put into PREFIX
	@scripts/prefix.sh uninstall build "$(PREFIX)"

deb:  ## Debian packages, in build-deb/
	@$(PACKAGES) core deb
	@packaging/deb.sh build-deb

test-deb: deb  ## install the packages into a fresh Debian 12, train there and remove them; needs root and a mirror
	@$(PACKAGES) debootstrap
	@tests/install/deb.sh build-deb

clean:  ## remove what was built
	rm -rf build build-asan build-tsan build-fuzz build-deb
