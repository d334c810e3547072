# The two commands to know are `make demo` and `make test`. The others are for those who work on the project.
GO ?= go
NPM ?= npm
BIN := bin/odarchive
# The program knows its revision, and a tag, from git. Without a tag it says the version of cmd/odarchive/version.go.
export GOFLAGS ?= -buildvcs=$(shell git status --porcelain >/dev/null 2>&1 && echo auto || echo false)
SHIP := -trimpath -ldflags='-s -w'
# All that is not under the race detector is compiled as cmd/deploy/release compiles it, so that it is compiled once.
SHARED_BUILD := CGO_ENABLED=0 GOFLAGS="$(GOFLAGS) -trimpath"
# The race detector delays the exit of each program by a second, to see races with it. There are two hundred test programs.
export GORACE ?= atexit_sleep_ms=50
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEADCODE := golang.org/x/tools/cmd/deadcode@v0.49.0
REDOCLY := @redocly/cli@2.77.0

.PHONY: demo test needs check lint lint-api build ui docs pictures module licences sbom package image test-chart reproducible test-browser sample bench bench-store bench-load bench-growth bench-sparql kill failover model faults vuln fuzz fuzz-smoke hostile golden w3c clean help

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | expand -t 16

demo: build ## build everything and run the main job on a sample web
	./$(BIN) demo

build: needs ui ## the one binary, with its pages
	$(SHARED_BUILD) $(GO) build $(SHIP) -o $(BIN) ./cmd/odarchive

# What this machine lacks is said at once, in a sentence each.
needs:
	@GO="$(GO)" NPM="$(NPM)" .ci/needs go npm git

# Without npm, or without the network that the first `npm ci` needs, the pages are plain forms and still work.
ui: ui/dist/manifest.json ## the pages' scripts and styles

ui/dist/manifest.json: $(shell find ui/src -type f 2>/dev/null) ui/package.json ui/package-lock.json
	@NPM="$(NPM)" .ci/pages

# What is run with the race detector and what without is computed: see cmd/internal/suite.
test: needs ui ## set up and run every test, as CI does (SLOWEST=20 tells which packages took longest)
	@$(GO) -C sparqlapi/openapi/client mod download || echo "a client generated from the OpenAPI document will not be tested"
	@GO="$(GO)" $(SHARED_BUILD) $(GO) run ./cmd/internal/suite $(SUITE) $(if $(SLOWEST),-slowest $(SLOWEST)) ./...

check: lint ## lint, vet and the tests, without the race detector
	$(SHARED_BUILD) $(GO) test -vet=all ./...

lint: ## formatting, go.mod, staticcheck and deadcode (downloaded once); all must say nothing
	@$(SHARED_BUILD) GO="$(GO)" STATICCHECK=$(STATICCHECK) DEADCODE=$(DEADCODE) .ci/lint

lint-api: ## the OpenAPI document with redocly's recommended rules (downloaded once); it must find nothing
	npm_config_cache=.cache/npm REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true npx --yes $(REDOCLY) lint sparqlapi/openapi/openapi.json

module: ## give the module the path of whoever publishes it: make module MODULE=host/owner/name
	@case "$(MODULE)" in *.*/*) ;; *) echo "usage: make module MODULE=host/owner/name"; exit 2;; esac
	@old=$$(sed -n 's/^module //p' go.mod); \
	(git ls-files '*.go' 2>/dev/null || find . -name '*.go') | xargs sed -i -E \
	  -e "s#^(import |[[:space:]]*)(([A-Za-z_.][A-Za-z0-9_]*) )?\"$$old/#\1\2\"$(MODULE)/#" && \
	sed -i "s#^module $$old\$$#module $(MODULE)#" go.mod && gofmt -w $$(gofmt -l .) && \
	$(GO) list -deps -test ./... >/dev/null && $(GO) $(or $(TRY),build ./...) && echo "The module is $(MODULE) now; other programs import $(MODULE)/triplestore and $(MODULE)/triplestore/sparql."

licences: ui ## write the licences of all third-party software (cmd/internal/licences/third_party.txt)
	@mkdir -p .cache && $(GO) run ./cmd/internal/licences/inventory licences > .cache/licences && mv .cache/licences cmd/internal/licences/third_party.txt

docs: ## rewrite the pages of the documentation that are made from the code (ui/docs/reference)
	$(GO) test ./cmd/odarchive -run '^TestTheReferenceIsMadeOfTheCode$$' -update

pictures: ## take the pictures of the documentation anew, in a real browser (ui/docs/pictures)
	@.ci/browser
	@$(MAKE) --no-print-directory ui
	ODARCHIVE_BROWSER=required ODARCHIVE_PICTURES=$(CURDIR)/ui/docs/pictures $(GO) test ./ui -tags browser -run '^TestBrowserPicturesOfTheDocumentation$$' -timeout 15m

sbom: build ## write a bill of materials beside the program (CycloneDX)
	$(GO) run ./cmd/internal/licences/inventory sbom > $(BIN).cdx.json

reproducible: build ## build the same revision elsewhere, with an empty cache, and compare
	@rm -rf .cache/again && git clone -q . .cache/again && cp -r ui/dist .cache/again/ui/ && cd .cache/again && \
	$(SHARED_BUILD) GOCACHE=$(CURDIR)/.cache/gocache $(GO) build $(SHIP) -o again ./cmd/odarchive && cmp again $(CURDIR)/$(BIN) && sha256sum again; \
	status=$$?; cd $(CURDIR); chmod -R u+w .cache/gocache; rm -rf .cache/again .cache/gocache; exit $$status

package: ui ## tarballs, .deb, bills of materials and checksums of all platforms, the same bytes for the same revision (bin/packages)
	$(GO) run ./cmd/deploy/release -out bin/packages $(if $(VERSION),-version $(VERSION)) $(if $(MAINTAINER),-maintainer "$(MAINTAINER)")

image: ui ## the image of containers for amd64 and arm64, as an archive that podman, skopeo and docker load (bin/image)
	$(GO) run ./cmd/deploy/release -out bin/image -image-only $(if $(VERSION),-version $(VERSION))

HELM_PACKAGE ?= helm.sh/helm/v4/cmd/helm@v4.3.1
test-chart: ## render the Helm chart with helm (built once), decode the objects strictly, parse alerts and dashboards
	@mkdir -p .cache/helm && test -x .cache/helm/helm || GOBIN=$(CURDIR)/.cache/helm $(GO) install $(HELM_PACKAGE)
	HELM=$(CURDIR)/.cache/helm/helm $(GO) test ./cmd/deploy/chart $(if $(UPDATE),-update)

clean: ## remove what was built
	rm -rf bin ui/dist/* ui/node_modules

# Longer campaigns, each for itself.
ROUNDS ?= 200
FUZZTIME ?= 30s
MODULES = $(shell git ls-files '*_test.go' | xargs grep -l '^func Fuzz' 2>/dev/null | xargs -n1 dirname | sort -u)

test-browser: ## the pages in a real browser (installs Debian's chromium and npm where they are missing)
	@.ci/browser
	@$(MAKE) --no-print-directory ui
	$(SHARED_BUILD) ODARCHIVE_BROWSER=required $(GO) test ./ui/... -tags browser -run Browser -timeout 15m

sample: build ## make an archive to look at, in sample-archive: a year of five generated portals, over a thousand files
	$(GO) run ./cmd/samplearchive -program ./$(BIN)
test-tools: ## the snippets of the pages, and the files of tables, with the tools that read them (installs DuckDB from npm)
	@mkdir -p .cache/tools && npm_config_cache=.cache/npm $(NPM) install --silent --no-save --ignore-scripts --prefix .cache/tools @duckdb/node-api@1.5.5-r.1
	ODARCHIVE_NODE_MODULES=$(CURDIR)/.cache/tools/node_modules $(GO) test ./sparqlapi/data/... -run 'Snippets|DuckDB' -v

kill: ## kill -9 the store, a crawl and a harvest at random moments, ROUNDS times, and look for what was lost
	$(GO) test -tags campaign ./triplestore -run Kill -rounds $(ROUNDS) -timeout 2h
	$(GO) test ./cmd/odarchive -run Killed -kill-rounds $(ROUNDS) -timeout 2h

failover: ## lose the machine of a writer with --backup-wait ROUNDS times, over a directory and an S3 server, and look for what was acknowledged
	$(GO) test -tags campaign ./cmd/odarchive -run AFailover -failover-rounds $(ROUNDS) -timeout 6h -v

model: ## write while the disk fails and the power goes, ROUNDS times a test, and compare with what was acknowledged
	ODARCHIVE_SEEDS=$(ROUNDS) $(GO) test ./triplestore/... ./crawler/... -run TestWhateverFails -timeout 2h

# The judge of other people, which knows the program from outside only: it damages files, lets system calls fail, cuts the
# power (needs root, for FUSE) and serves hostile files. PARTS names some of it; a part that cannot run here is skipped.
FAULTS ?= ../shared/bench/faults
PARTS ?= flip syscalls shapes powercut
SEED ?= $(shell date +%s)
N ?=
faults: ## damages, failing system calls, hostile files and power cuts, of SEED, N trials of each of PARTS
	@if ! test -d $(FAULTS); then echo "faults: skipped, the judge is not at $(FAULTS); name it with FAULTS=DIR"; exit 0; fi; \
	$(MAKE) --no-print-directory build && mkdir -p .cache && (cd $(FAULTS) && $(GO) build -o $(CURDIR)/.cache/faults .) || exit 1; \
	failed=; for part in $(PARTS); do \
	  n=; if test -n "$(N)" && test $$part != shapes; then n="-n $(N)"; fi; \
	  echo "faults $$part -seed $(SEED) $$n"; .cache/faults $$part -bin $(BIN) -seed $(SEED) $$n; status=$$?; \
	  case $$status in 0) ;; 3) echo "faults: $$part is not possible here";; *) failed="$$failed $$part";; esac; done; \
	if test -n "$$failed"; then echo "faults: not all right:$$failed (SEED=$(SEED))"; exit 1; fi

fuzz: ## every fuzz target for FUZZTIME
	@for p in $(MODULES); do for f in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$p/*_test.go | cut -c6-); do \
	  echo "$$p $$f"; $(GO) test ./$$p -run '^$$' -fuzz "^$$f\$$" -fuzzminimizetime 20x -fuzztime $(FUZZTIME) || exit 1; done; done

fuzz-smoke: ## as many fuzz targets as fit into SECONDS_ALL, EACH seconds each (150 and 1); each commit begins with another one
	@.ci/fuzz

hostile: ## files that cost much more than their size, of the generators in ../shared, through the processes that examine
	ODARCHIVE_HOSTILE=all $(GO) test ./crawler/inspect/examine -run '^TestABomb' -v -count=1 -timeout 2h

vuln: ## ask the Go vulnerability database about the code that is called; says so where it cannot be reached
	@.ci/vuln

bench-store: ## the triple store against one key per triple, and the RDF syntaxes against knakk/rdf
	$(GO) test ./triplestore ./triplestore/rdfio -run '^$$' -bench . -timeout 2h

bench: bench-store ## every benchmark beside the code
	$(GO) test $$($(GO) list ./... | grep -v -e /triplestore$$ -e /rdfio$$) -run '^$$' -bench . -timeout 4h

golden: ## rewrite the expected files; read the diff
	$(GO) test ./crawler/archive/describe ./crawler/inspect/csvprofile ./triplestore/sparql ./triplestore/sparql/internal/plan ./triplestore/rdfio ./ui/plot ./cmd/odarchive -update

w3c: ## the W3C suites alone (they need the test data; see ODARCHIVE_SHARED)
	$(GO) test ./triplestore/rdfio/... ./triplestore/sparql/... ./sparqlapi/... -run W3C -v | grep -v -e '^=== ' -e 'no test'

bench-load: ## what loading, opening and asking cost at TRIPLES triples, of a file NT or generated
	ODARCHIVE_BENCH_TRIPLES=$(TRIPLES) ODARCHIVE_BENCH_FILE=$(NT) $(GO) test ./triplestore -run '^$$' -bench '^BenchmarkGrowth' -benchtime 1x -timeout 8h -v
TRIPLES ?= 16000000
NT ?=

bench-growth: ## what a new file costs in an archive of FILES files
	ODARCHIVE_FILES=$(FILES) $(GO) test ./crawler -run '^$$' -bench '^BenchmarkGrowth$$' -benchtime 1x -timeout 8h -v
FILES ?= 1000,10000,100000

# The engine against real peers: needs the benchmark programs beside the checkout, Python 3, and peers that already serve
# the same triples (their README says how to start them); PEERS names them as NAME=URL. QUERIES=triplestore/sparql/testdata/shapes
# are our own, of many more shapes.
BENCH ?= ../shared/bench
SIZE ?= 1000000
PEERS ?=
QUERIES ?= $(BENCH)/sparql/queries
bench-sparql: build ## the open queries, or those of QUERIES=DIR, over SIZE generated triples, ours and PEERS
	@test -d $(BENCH)/sparql || { echo "the benchmark programs are not at $(BENCH); name them with BENCH=DIR"; exit 1; }
	@mkdir -p .cache && rm -rf .cache/bench && (cd $(BENCH)/sparqlgen && $(GO) build -o $(CURDIR)/.cache/sparqlgen .)
	.cache/sparqlgen -triples $(SIZE) -seed 1 -o .cache/bench.nt
	./$(BIN) load .cache/bench.nt --data .cache/bench
	@./$(BIN) serve --data .cache/bench --no-crawl --listen 127.0.0.1:18899 --log-level error & server=$$!; sleep 2; \
	  $(BENCH)/sparql/run.py -w 2 -k 5 -q $(abspath $(QUERIES)) ours=http://127.0.0.1:18899/sparql $(PEERS); status=$$?; \
	  kill $$server; wait $$server 2>/dev/null; rm -rf .cache/bench .cache/bench.nt; exit $$status
