# `make help` lists the commands. `make run` and `make test` install what they need, on a
# fresh machine too; see scripts/setup.
#
# Variables:
#   VERSION=dev   the version in the names of the archives of `make release`
#   RUNS=20000    the number of runs of `make soak`
#   ONLY=         only its kinds of runs with this word in their names, such as session
#   FUZZTIME=20s  the time of each target of `make fuzz`
#   HOSTS=        the hosts for `make hosts`; see scripts/hosts.d/hosts
#   TESTFLAGS=    more flags for go test: make test TESTFLAGS='-run Wall -v'
#   BENCHFLAGS=   flags of the bench: -quick, -strict, -only NAME, -json FILE, -peers
#                 (after scripts/setup peers); make bench BENCHFLAGS=-growth doubles
#                 quantities instead, and fails if a cost for each unit grows
#
# Environment variables of the tests, set by scripts/test or by you:
#   CORDON_TEST_VENV       a virtual environment with numpy and pandas
#   CORDON_TEST_PYTEST     one with pytest, for the Python package
#   CORDON_TEST_FRAMEWORKS one with the frameworks for which the package has adapters
#   CORDON_TEST_SUITE      the directory of CPython's own tests, lib/python3.N/test
#   CORDON_TEST_NODE       the directory with MCP clients and a validator for Node.js
#   CORDON_TEST_WINE       the directory with Wine's Windows
#   CORDON_TEST_MCP        a virtual environment with the MCP client of Python, and matplotlib
#   CORDON_TEST_AGENTS     the directory with agents (scripts/setup agents)
#   CORDON_TEST_EXTRAS     none: skip the tests that need an extra, as make test does;
#                          all: fail if an extra is missing, as make test-all does;
#                          unset: run them if their extra is installed. The extras are
#                          Wine, Node.js with other projects' clients, agent frameworks,
#                          gVisor, clang for WASI, CPython for WebAssembly and CPython for musl
#   CORDON_TEST_LONG=1     test all of the corpora: every file of CPython's own tests, every
#                          script on every CPython, the chart, the agents; see test-long
#   CORDON_REQUIRE_HOST=1  fail a test if the host lacks something, instead of skipping it;
#                          .ci/run sets it

VERSION    ?= dev
RUNS       ?= 20000
FUZZTIME   ?= 20s
TESTFLAGS  ?=
BENCHFLAGS ?=
HOSTS      ?=

# Static and without paths of the build machine: one binary runs on every distribution,
# and builds are reproducible.
BUILD := CGO_ENABLED=0 go build -trimpath -ldflags '-s -w'

.DEFAULT_GOAL := help
.PHONY: help run build python-wasm runsc wheel release test test-all test-long race check lint api api-update cross bench soak fuzz wine hosts picture generate fmt clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## run two scripts behind the walls: a result, and what was blocked
	@scripts/setup run
	bin/cordon run -v result examples/untrusted.py
	@# The second one does not catch its errors: it fails, and cordon explains why.
	@echo 'bin/cordon run examples/hostile.py'; bin/cordon run examples/hostile.py; \
	  code=$$?; echo "exit code $$code"; test $$code -eq 1

# The linker writes through a memory map, so the page cache has its file in single pages.
# A copy is cached in large folios, and starts 10 % faster.
build: ## build bin/cordon, and bin/cordond beside it
	@mkdir -p bin
	$(BUILD) -o bin/cordon.linked ./cmd/cordon
	@cp bin/cordon.linked bin/cordon.copied && mv bin/cordon.copied bin/cordon && rm bin/cordon.linked
	$(BUILD) -o bin/cordond ./cmd/cordond

# Debian's CPython as a WebAssembly module, for hosts without kernel walls. It takes
# minutes once, and is built again only if its sources or tools change.
python-wasm: ## build bin/python-wasm.zip
	@scripts/setup python-wasm
	scripts/python-wasm

# gVisor's program, for the tier `gvisor`. It takes minutes once.
runsc: ## build bin/runsc, beside bin/cordon
	@scripts/runsc bin

wheel: build ## build the Python package with the binaries in it, in dist/
	scripts/wheel

release: python-wasm ## make the archives and wheels of all platforms in dist/, as VERSION
	scripts/release $(VERSION)

# The set-up mostly waits for downloads. Meanwhile vet runs, and the packages that the
# tests link are compiled. Many tests wait, so three packages at a time keep two cores
# busy. The longest packages come first.
define run-tests
@scripts/setup $@ & go vet ./... && go list -export -test ./... >/dev/null; \
  vetted=$$?; wait $$! && exit $$vetted
go run ./scripts/testreport $1 scripts/test -p 3 -timeout 40m $(TESTFLAGS) ./internal/backend/... ./...
endef

test: export CORDON_TEST_EXTRAS = none
test: ## run the tests
	$(call run-tests)

test-all: export CORDON_TEST_EXTRAS = all
test-all: ## run the tests, and those with Wine, Node.js, frameworks, gVisor, CPython for WebAssembly
	$(call run-tests,-complete)

test-long: export CORDON_TEST_EXTRAS = all
test-long: ## run all tests, and all of CPython's own on every CPython
	@CORDON_TEST_LONG=1 scripts/setup test-all && scripts/setup agents
	CORDON_TEST_LONG=1 scripts/test -timeout 90m $(TESTFLAGS) ./...

# These packages are not tested under the race detector: they or their tests have no
# threads, or test what guests do. Single tests: see hosttest.NotUnderRace.
RACELESS_PACKAGES := bench|bench/proc|bench/soak|compat|policy|python|run|internal/(arch|backend/jail/containtest|backend/jail/toolstest|doctor|elf|hostfeature|jobobject|landlock|policyfile|pythonwasm|report|script|seatbelt|seccomp|seccomp/compile|wasmbin|wine)

# The race detector needs a C compiler. Nothing else does.
race: ## run the short tests under the race detector, where gcc is installed
	@if command -v gcc >/dev/null; then \
	  echo 'CGO_ENABLED=1 go test -race -short, of packages with threads'; \
	  CGO_ENABLED=1 scripts/test -p 3 -race -short -timeout 40m \
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
	go run ./bench/soak -runs $(RUNS) -only '$(ONLY)'

fuzz: ## give every fuzz target its time
	scripts/fuzz $(FUZZTIME)

wine: ## run cordon.exe under Wine: scripts, hooks, commands, modules, the Python package, Python as WebAssembly
	@scripts/setup test-all
	CORDON_TEST_EXTRAS=all CORDON_TEST_LONG=1 scripts/test -count=1 -v ./internal/wine

hosts: ## boot other kernels in virtual machines, and compare what cordon does there with docs/hosts.md
	scripts/hosts $(HOSTS)

picture: ## draw the pictures of README.md from real runs
	@scripts/setup test-all
	CORDON_TEST_EXTRAS=all scripts/test ./cmd/cordond -count=1 -run '^(TestPicture|TestPlot)$$' -update-picture

generate: ## generate seccomp programs, tables and bytecode
	go generate ./...

fmt: ## format all Go files
	gofmt -w .

clean: ## remove everything that was built or installed: bin, dist, .cache
	rm -rf bin dist .cache
