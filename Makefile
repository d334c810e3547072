# The two commands to know are `make demo` and `make test`. The others are for those who work on the project.
GO ?= go
NPM ?= npm
BIN := bin/odarchive
export GOFLAGS ?= -buildvcs=false

.PHONY: demo test check build ui test-browser bench bench-sparql bench-store kill fuzz golden w3c clean help

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | expand -t 16

demo: build ## build everything and run the main job on a sample web
	./$(BIN) demo

build: ui ## the one binary, with its pages
	$(GO) build -o $(BIN) ./cmd/odarchive

# Without npm, or without the network that the first `npm ci` needs, the pages are plain forms and still work.
ui: ui/dist/manifest.json ## the pages' scripts and styles

ui/dist/manifest.json: $(shell find ui/src -type f 2>/dev/null) ui/package.json ui/package-lock.json
	@if command -v $(NPM) >/dev/null; then \
	  cd ui && $(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error && $(NPM) run --silent build; \
	else echo "npm was not found: the pages are built without scripts"; fi

test: ui ## set up and run every test, as CI does
	$(GO) vet ./...
	$(GO) test -race -timeout 20m ./...

check: ## formatting, vet and the fast tests
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt these:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) test ./...

clean: ## remove what was built
	rm -rf bin ui/dist/* ui/node_modules
