# SPDX-License-Identifier: Apache-2.0
# A thin front: CMake and Ninja do the work, tools/ holds the longer scripts.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 600
export DESTDIR

.PHONY: help demo build test check fuzz mutants bench study install format clean

help:
	@echo "make demo                 set up, build, and show alone, global and cd side by side"
	@echo "make test                 set up, then every test, sanitizers, short fuzzing, checks"
	@echo "make build                the library and the program, in $(BUILD)/"
	@echo "make check                format, lint, arrows between modules"
	@echo "make bench BENCH=name     run bench/name.c; writes bench/results/name.csv"
	@echo "make study STUDY=name     run tools/study_name.sh; writes bench/results/name.csv"
	@echo "make fuzz                 every fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS)"
	@echo "make mutants              break the code on purpose and see the tests fail"
	@echo "make install              to PREFIX=$(PREFIX), under DESTDIR if given"
	@echo "make format               clang-format all sources in place"
	@echo "make clean                remove the build folders"

demo:
	@tools/setup.sh build
	@tools/build.sh $(BUILD)
	@$(BUILD)/tacit demo

build:
	@tools/setup.sh build
	@tools/build.sh $(BUILD)

test:
	@tools/setup.sh build test
	@tools/test.sh

check:
	@tools/setup.sh build test
	@tools/build.sh $(BUILD)
	@tools/check.sh $(BUILD)

fuzz:
	@tools/setup.sh build test
	@tools/fuzz.sh $(FUZZ_SECONDS)

mutants:
	@tools/setup.sh build test
	@tools/mutants.sh

bench: build
	@test -n "$(BENCH)" || { echo "say which: make bench BENCH=name, one of:" \
	    $(basename $(notdir $(wildcard bench/*.c))) >&2; exit 2; }
	@test -x $(BUILD)/bench/$(BENCH) || { echo "there is no bench/$(BENCH).c" >&2; exit 2; }
	@mkdir -p bench/results
	$(BUILD)/bench/$(BENCH)

study:
	@tools/setup.sh build study
	@tools/build.sh $(BUILD)
	@test -x tools/study_$(STUDY).sh || { echo "say which: make study STUDY=name, one of:" \
	    $(patsubst tools/study_%.sh,%,$(wildcard tools/study_*.sh)) >&2; exit 2; }
	@TACIT=$(BUILD)/tacit tools/study_$(STUDY).sh

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

format:
	@find include src cli tests bench examples -name '*.[ch]' -exec clang-format -i {} +

clean:
	rm -rf build build-*
