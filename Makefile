# cordon's own commands. `make help` lists them; `make run` and `make test`
# bring what they need (see scripts/setup), on a fresh machine too.
#
# Variables that you may set:
#   VERSION=dev   what `make release` names its archives by
#   RUNS=20000    how many runs `make soak` does
#   FUZZTIME=20s  how long `make fuzz` stays with each target
#   HOSTS=        the kinds of hosts that `make kernels` tries: see scripts/kernels.d/job
#   TESTFLAGS=    more flags for go test: make test TESTFLAGS='-run Wall -v'
#   BENCHFLAGS=   flags of the bench: -quick, -strict, -only NAME, -json FILE
#
# What the tests find in their environment (set by scripts/test, or by you):
#   CORDON_TEST_VENV       a virtual environment with numpy and pandas
#   CORDON_TEST_PYTEST     one with pytest, for the Python package
#   CORDON_TEST_FRAMEWORKS one with the frameworks that it has adapters for
#   CORDON_TEST_SUITE      the directory of CPython's own tests, lib/python3.N/test
#   CORDON_TEST_NODE       the directory in which scripts/setup installed MCP clients and a validator
#   CORDON_TEST_WINE       the directory in which scripts/setup made a Windows of Wine's
#   CORDON_TEST_EXTRAS     none: skip the tests that need an extra (see below), as make test
#                          does; all: fail where an extra is missing, as make test-all does;
#                          unset: run them where their extra is set up
#   CORDON_TEST_LONG=1     all of the corpora of ordinary code: every file of CPython's
#                          own tests, every script on every CPython; the chart, and what
#                          `scripts/setup agents` brings; see test-long
#   CORDON_TEST_AGENTS     the directory in which that installed agents
#                          The extras are Wine, Node.js with clients of others, agent
#                          frameworks, clang for WASI and CPython for WebAssembly
#   CORDON_REQUIRE_HOST=1  what the host lacks fails a test instead of skipping
#                          it; .ci/run sets it, so that no skip hides a hole

VERSION    ?= dev
RUNS       ?= 20000
FUZZTIME   ?= 20s
TESTFLAGS  ?=
BENCHFLAGS ?=
HOSTS      ?=

# Static and without paths of the machine that built it: one binary runs on
# every distribution, and the same source gives the same bytes.
BUILD := CGO_ENABLED=0 go build -trimpath -ldflags '-s -w'

.DEFAULT_GOAL := help
.PHONY: help run build python-wasm wheel release test test-all test-long race check lint api api-update cross bench soak fuzz wine kernels picture generate fmt clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## run two scripts behind the walls: a result, and what was blocked
	@scripts/setup run
	bin/cordon run -v result examples/untrusted.py
	@# The second one does not catch its denials: it fails, and cordon says why.
	@echo 'bin/cordon run examples/hostile.py'; bin/cordon run examples/hostile.py; \
	  code=$$?; echo "exit code $$code"; test $$code -eq 1

# The linker writes its file through a memory map, and the kernel's cache keeps it
# in single pages. A copy lies there in large pieces, and starts a tenth faster.
build: ## build bin/cordon, and bin/cordond beside it
	@mkdir -p bin
	$(BUILD) -o bin/cordon.linked ./cmd/cordon
	@cp bin/cordon.linked bin/cordon.copied && mv bin/cordon.copied bin/cordon && rm bin/cordon.linked
	$(BUILD) -o bin/cordond ./cmd/cordond

# Debian's CPython as a WebAssembly module, for where no kernel puts up walls. It takes
# minutes once, and nothing while its sources and tools stay the same.
python-wasm: ## build bin/python-wasm.zip
	@scripts/setup python-wasm
	scripts/python-wasm

wheel: build ## build the Python package with the binaries in it, in dist/
	@mkdir -p dist
	cd python && python3 -c 'import sys; sys.path.insert(0, "backend"); import cordon_build; print("dist/" + cordon_build.build_wheel("../dist"))'

release: python-wasm ## make the archives of all platforms in dist/, as VERSION
	scripts/release $(VERSION)

# The set-up waits for downloads and for one processor: vet, and the compiler that
# makes what the tests link, have the other. Many tests wait, so that three packages
# at a time keep two processors busy, and the longest ones come first.
define run-tests
@scripts/setup $@ & go vet ./... && go list -export -test ./... >/dev/null; \
  vetted=$$?; wait $$! && exit $$vetted
go run ./scripts/testreport $1 scripts/test -p 3 -timeout 40m $(TESTFLAGS) ./internal/backend/... ./...
endef

test: export CORDON_TEST_EXTRAS = none
test: ## run the tests
	$(call run-tests)

test-all: export CORDON_TEST_EXTRAS = all
test-all: ## run the tests, and those with Wine, Node.js, frameworks, CPython for WebAssembly
	$(call run-tests,-complete)

test-long: export CORDON_TEST_EXTRAS = all
test-long: ## run all tests, and all of CPython's own on every CPython
	@CORDON_TEST_LONG=1 scripts/setup test-all && scripts/setup agents
	CORDON_TEST_LONG=1 scripts/test -timeout 90m $(TESTFLAGS) ./...

# Under the race detector is what has threads. These packages have none, or none that
# a test of theirs has at work; and these tests are about what the guest does, which
# the detector does not see, or have one thread and much to do.
RACELESS_PACKAGES := bench|bench/proc|bench/soak|compat|policy|python|run|internal/(arch|doctor|elf|hostfeature|jobobject|landlock|policyfile|pythonwasm|report|script|seatbelt|seccomp|seccomp/compile|wasmbin|wine)
RACELESS_TESTS := ^Test(Containment.*|EachWallMatters|AttemptsEscapeWithoutWalls|$\
  TheCountIsTrue|AMillionFiles|Guest|ADirectoryIsNotCutSilently|$\
  HostileCommandsAreBounded|ManyOrdinaryArgumentsAreJudged)$$

# The race detector needs a C compiler, which cordon itself never does.
race: ## run the short tests of what has threads under the race detector, where gcc is installed
	@if command -v gcc >/dev/null; then \
	  echo 'CGO_ENABLED=1 go test -race -short, of what has threads'; \
	  CGO_ENABLED=1 scripts/test -p 3 -race -short -timeout 40m -skip '$(RACELESS_TESTS)' \
	    $$(go list ./... | grep -vE '/cordon/($(RACELESS_PACKAGES))$$'); \
	else echo 'race: no gcc, skipped'; fi

check: lint cross race ## formatting, linters, all platforms, the race detector

lint: ## formatting, vet, golangci-lint (with staticcheck), the recorded Go API
	@scripts/tools
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt -w needed: $$unformatted"; exit 1; }
	go vet ./...
	.cache/bin/golangci-lint run
	scripts/api check

api: ## compare the exported Go API with the recorded one, in api/
	scripts/api check

api-update: ## record the exported Go API, after a change that docs/compatibility.md allows
	scripts/api update

cross: ## compile for linux, darwin and windows on amd64 and arm64
	scripts/cross

# Compiled, not `go run`: the compiler must not share the cores with the clock.
bench: build ## measure against plain Python, bubblewrap and RestrictedPython, side by side
	@scripts/setup bench
	@go build -o bin/bench ./bench
	bin/bench -cordon bin/cordon $(BENCHFLAGS)

soak: ## many runs of every bad kind in one Runner; fails when anything is left
	@scripts/setup run
	go run ./bench/soak -runs $(RUNS)

fuzz: ## give every fuzz target its time
	scripts/fuzz $(FUZZTIME)

wine: ## run cordon.exe under Wine: scripts, commands, modules, Python as WebAssembly
	@scripts/setup test-all
	CORDON_TEST_EXTRAS=all CORDON_TEST_LONG=1 scripts/test -count=1 -v ./internal/wine

kernels: ## boot Debian 12's kernel in a virtual machine and run doctor --prove on each kind of host
	scripts/kernels $(HOSTS)

picture: ## draw docs/picture.svg, the terminal in README.md, from real runs
	go test ./cmd/cordond -count=1 -run '^TestPicture$$' -update-picture

generate: ## make the generated files anew: seccomp programs and tables
	go generate ./...

fmt: ## format all Go files
	gofmt -w .

clean: ## remove what was built, the linters and the virtual environment too
	rm -rf bin dist .cache
