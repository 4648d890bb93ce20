# The short way to everything; CMakeLists.txt is the build itself.
#
#   make            library, tool, examples and tests, in build/
#   make demo       a first benchmark on this machine
#   make test       all tests, then the sanitizer builds (build-asan/, build-tsan/)
#   make bench      a larger benchmark; BENCH="map --keys 2^28 ..." says which
#   make install    PREFIX=/usr/local DESTDIR=
#   make asan tsan  one sanitizer build with its tests
#   make clean      removes all of these folders
#
# CMAKE_OPTIONS=-DHEDDLE_INSTANCES=k32_v32 and the like are handed on to CMake. JOBS limits how many
# compilers run at a time.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BENCH ?= map --keys 2^26 --load 0.8 --op build,find,miss --device auto --repeat 5
BUILD = cmake --build build -j $(JOBS)
export JOBS CMAKE_OPTIONS

.PHONY: all tool setup demo test bench install asan tsan clean

all: setup
	scripts/configure.sh build $(CMAKE_OPTIONS)
	$(BUILD)

tool: setup
	scripts/configure.sh build $(CMAKE_OPTIONS)
	$(BUILD) --target heddle_tool

setup:
	@scripts/setup.sh build

demo: tool
	build/heddle bench map --keys 2^24 --load 0.8 --op build,find,miss --device auto --repeat 3

bench: tool
	build/heddle bench $(BENCH)

test:
	@scripts/setup.sh test
	scripts/test.sh

asan tsan:
	@scripts/setup.sh test
	scripts/test.sh $@

install: all
	DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build build-asan build-tsan
