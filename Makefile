# `make` lists the targets. Everything works in a clean clone with Go alone;
# `make test` installs what else it needs through .ci/setup.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Packages that link the embedded Temporal server. With the race detector the
# server, its UI and their dependencies compile for many minutes, and none of
# that is our code; these packages are tested without it.
SERVER_PACKAGES := ./internal/devserver/... ./cmd/covel/...
RACE_PACKAGES = $(shell go list ./... | grep -v -e '/internal/devserver$$' -e '/cmd/covel$$')

# Integration tests start these instead of building their own.
TEST_BINARIES := COVEL_TEST_BINARY=$(CURDIR)/bin/covel COVEL_TEST_FAILPOINT_BINARY=$(CURDIR)/bin/covel-failpoint

TEST_FLAGS ?= -shuffle=on -timeout=20m
BENCH ?= .
BENCH_TIME ?= 1s

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

.PHONY: build
build: ## build bin/covel
	go build -o bin/covel ./cmd/covel

.PHONY: failpoint
failpoint: ## build bin/covel-failpoint, whose workers die where COVEL_FAILPOINT says
	go build -tags=failpoint -ldflags="-s -w" -o bin/covel-failpoint ./cmd/covel

.PHONY: setup
setup: ## install what the tests need and this machine lacks
	.ci/setup

.PHONY: test
test: setup build failpoint ## run all tests, shuffled and with the race detector
	$(TEST_BINARIES) go test -race $(TEST_FLAGS) $(RACE_PACKAGES)
	$(TEST_BINARIES) go test $(TEST_FLAGS) $(SERVER_PACKAGES)

.PHONY: short
short: ## run the tests of the packages that start no process, without the race detector
	go test $(TEST_FLAGS) $(filter-out %/integration %/internal/testenv %/store/postgres,$(RACE_PACKAGES))

.PHONY: crash
crash: setup build failpoint ## kill workers at every activity and see what survives
	$(TEST_BINARIES) go test -race -count=1 -v -timeout=20m -run 'Crash|Lock|Terminated' ./integration/...

.PHONY: golden
golden: ## write the golden files anew; look at the difference before you commit it
	go test ./assembler/... -run Golden -update
	git diff --stat -- '*/testdata/*'

.PHONY: bench
bench: ## run the benchmarks; BENCH=Regexp and BENCH_TIME=10x narrow them
	go test -run='^$$' -bench='$(BENCH)' -benchtime=$(BENCH_TIME) $(RACE_PACKAGES)

.PHONY: bench-devserver
bench-devserver: ## measure the embedded Temporal server (docs/decisions/0001)
	go test -run='^$$' -bench=. -benchtime=50x ./internal/devserver

.PHONY: bench-turn
bench-turn: build ## measure whole turns on a real server
	go run ./bench

.PHONY: play
play: ## play the bundled world in this terminal
	go run ./cmd/covel play --world lanternfall

.PHONY: lint
lint: bin/golangci-lint ## check formatting, go.mod, all linters and workflow determinism
	@unformatted=$$(git ls-files -z '*.go' | xargs -0 gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "gofmt these files:"; echo "$$unformatted"; exit 1; fi
	go mod tidy -diff
	go -C tools mod tidy -diff
	bin/workflowcheck -config tools/workflowcheck.yaml ./workflows/...
	bin/golangci-lint run ./...

# Both tools come from tools/go.mod; compiling them takes about two minutes,
# once a version.
bin/golangci-lint: tools/go.mod tools/go.sum
	go -C tools build -o ../bin/ tool
	@touch $@

.PHONY: clean
clean: ## remove what was built
	rm -rf bin
