# The short way to everything; `make help` lists the targets. CMakeLists.txt is the build itself.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BENCH ?= map --keys 2^26 --load 0.8 --op build,find,miss --device auto --repeat 5
BUILD = cmake --build build -j $(JOBS)
export JOBS CMAKE_OPTIONS SETUP V PREFIX DESTDIR BUILD_DIR

.PHONY: all help tool setup demo test check check-speed check-abi reproducible full kernels bench install uninstall \
        package site asan tsan fuzz soak clean \
        python-test wheel

all: setup
	scripts/configure.sh build $(CMAKE_OPTIONS)
	$(BUILD)

help:
	@echo 'make            library, tool, examples and tests, in build/'
	@echo 'make demo       a first benchmark on this machine (1 to 3 minutes)'
	@echo 'make test       tests of a table of every kind (10 minutes on two cores)'
	@echo 'make check      all other tests: every table, CUDA compiled, sanitizers (45 minutes)'
	@echo 'make full, kernels, asan, tsan'
	@echo '                one part of make check; scripts/test.sh says what each is'
	@echo 'make fuzz SECONDS=60   the fuzzers, so many seconds each, with the coverage of what is parsed'
	@echo 'make soak SECONDS=3600  mixed work by 16 threads, and whether memory stays flat; build/soak.csv'
	@echo 'make bench      a larger benchmark; BENCH="map --keys 2^28 ..." says which'
	@echo 'make check-speed REF=COMMIT   this tree beside a commit, operation by operation, in turns'
	@echo 'make check-abi  whether older programs run with this library; REF=COMMIT compares the libraries, too'
	@echo 'make reproducible   two builds in two folders, and whether their bytes are the same'
	@echo 'make install    the library and the tool into PREFIX=$(PREFIX); DESTDIR= is put before it'
	@echo 'make wheel      the Python package in one file, in build-python/wheels/'
	@echo 'make python-test   the tests of the Python package, a part of make test'
	@echo 'make uninstall  removes what make install has put there'
	@echo 'make package    Debian packages and a tarball, in build-package/packages/'
	@echo 'make site       a web site of all documents and the reference, in build-site/html/'
	@echo 'make clean      removes all build folders'
	@echo
	@echo 'V=1 shows what compilers and tests say. SETUP=no installs no packages. JOBS=2 compilers at a time.'
	@echo 'CMAKE_OPTIONS="-DHEDDLE_TABLES=full ..." goes to CMake; CONTRIBUTING.md lists the options.'

tool: setup
	scripts/configure.sh build $(CMAKE_OPTIONS)
	$(BUILD) --target heddle_tool

setup:
	@scripts/setup.sh build

demo:
	@scripts/setup.sh build
	@scripts/demo.sh

bench: tool
	build/heddle bench $(BENCH)

test:
	@scripts/setup.sh test
	@echo 'Tests: about 10 minutes on two cores.'
	@scripts/test.sh quick python

python-test:
	@scripts/setup.sh test
	@scripts/test.sh python

wheel:
	@scripts/setup.sh build
	@scripts/wheel.sh

check:
	@scripts/setup.sh check
	@echo 'All other tests: about 45 minutes on two cores.'
	@scripts/test.sh full kernels asan tsan

full kernels asan tsan:
	@scripts/setup.sh check
	@scripts/test.sh $@

SECONDS ?= 60
fuzz:
	@scripts/setup.sh check
	@SECONDS_EACH='$(SECONDS)' scripts/fuzz.sh $(FUZZERS)

soak: setup
	scripts/configure.sh build $(CMAKE_OPTIONS)
	$(BUILD) --target test_soak
	HEDDLE_SOAK_SECONDS='$(SECONDS)' HEDDLE_SOAK_CSV=build/soak.csv build/tests/test_soak

# The same few tables of both, each in a folder of its own.
SPEED = -DHEDDLE_TESTS=OFF -DHEDDLE_INSTANCES='^(cuckoo|open)_k32_v32_b8$$|^cuckoo_k64_v64_b8$$|^cuckoo_k32_b8$$|^iceberg_k32_v32_b16$$|^open_k32_v(32|64)_b(8|16)$$'
check-speed: setup
	@test -n "$(REF)" || { echo 'make check-speed REF=COMMIT'; exit 2; }
	rm -rf build-speed/ref && mkdir -p build-speed/ref
	git archive $(REF) | tar -x -C build-speed/ref
	build-speed/ref/scripts/configure.sh build $(SPEED) $(CMAKE_OPTIONS)
	cmake --build build-speed/ref/build -j $(JOBS) --target heddle_tool
	scripts/configure.sh build-speed/new $(SPEED) $(CMAKE_OPTIONS)
	cmake --build build-speed/new -j $(JOBS) --target heddle_tool
	scripts/compare_speed.sh build-speed/ref/build/heddle build-speed/new/heddle $(SPEED_OPTIONS)

check-abi:
	@scripts/setup.sh test
	@scripts/check_abi.sh $(REF)

reproducible:
	@scripts/setup.sh build
	@scripts/reproduce.sh

install:
	@scripts/setup.sh build
	@scripts/install.sh

uninstall:
	@scripts/install.sh remove

package:
	@scripts/setup.sh package
	@scripts/package.sh

site:
	@scripts/setup.sh site
	@scripts/site.sh

clean:
	rm -rf build build-demo build-package build-test build-full build-kernels build-asan build-tsan build-fuzz build-speed \
	    build-site build-python build-abi build-reproduce
