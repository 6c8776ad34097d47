# The front door. Everything else is CMake's: cmake -B build && cmake --build build && cmake --install build
#
#   make            build into build/
#   make demo       build, then show what it does
#   make test       build, then run the tests; T=NAME for those whose names match
#   make soak       build, then run the randomised tests with fresh seeds, settings and load; MINUTES=N (60)
#   make positions  build, then send 2^31 messages, each checked: minutes on a quiet machine
#   make test-libraries  build, then build HDF5, FFTW and ScaLAPACK's BLACS with it and run their tests; L=NAME for one
#   make bench      build, then measure; B=NAME for one benchmark
#   make install    PREFIX=/where/to (default: what ./configure --prefix said, else /usr/local)
#   make dist       the source archive, in dist/;   make package  also tarball, Debian packages and wheel
#   make package-check  make them twice and compare, install and try them
#   make format     apply the style;   make lint  check it
#   make clean      remove build/

BUILD ?= build
# What ./configure --prefix, or cmake itself, has said; else the usual place.
configured = $(shell sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' $(BUILD)/CMakeCache.txt 2>/dev/null)
PREFIX ?= $(or $(configured),/usr/local)
export BUILD

sources = $(shell find src launch libmurmur mpijob compat tests bench examples tools -name '*.[ch]' 2>/dev/null)

.PHONY: all demo test test-libraries soak positions bench install dist package package-check format lint clean
all:
	@tools/deps build
	@tools/build
	@echo "make: built; mpiexec is in $(BUILD)/bin, the library in $(BUILD)/src"

demo:
	@tools/deps build
	@tools/build
	@tools/demo

test:
	@tools/deps test
	@tools/test '$(T)'

test-libraries:
	@tools/deps test
	@tools/deps libraries
	@tools/build
	@tools/test-libraries $(L)

soak:
	@tools/deps test
	@tools/build
	@tools/soak '$(or $(MINUTES),60)' '$(T)'

positions:
	@tools/deps test
	@tools/build
	@time MUR_TEST_MESSAGES=2148532224 $(BUILD)/bin/mpiexec -n 2 $(BUILD)/tests/pt2pt/pt2pt-soak
	@echo "make positions: all is well"

bench:
	@tools/deps build
	@tools/build
	@bench/run $(B)

install:
	@tools/deps build
	@tools/build
	@cmake --install $(BUILD) --prefix $(PREFIX) >$(BUILD)/install.log || { cat $(BUILD)/install.log; exit 1; }
	@echo "make install: installed below $(PREFIX); try $(PREFIX)/bin/mpicc -show"

dist:
	@tools/package/make.py dist source

package:
	@tools/deps build
	@tools/package/make.py dist

package-check:
	@tools/deps build
	@tools/package/check

format:
	@tools/deps lint
	@clang-format -i $(sources)
	@echo "make format: done"

lint:
	@tools/deps lint
	@clang-format --dry-run -Werror $(sources) || { echo "make lint: run make format"; exit 1; }
	@python3 tests/api/layers.py .
	@python3 tests/api/tags.py .
	@echo "make lint: all is well"

clean:
	@rm -rf $(BUILD)
	@echo "make clean: removed $(BUILD)/"
