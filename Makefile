# What developers and CI run. "make" alone lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
.PHONY: help test fast lint fmt bench bench-search bench-growth bench-pages memory golden pictures clicks bench-neighbour bench-backup simulate house client install check check-dossier pdf-check local-cluster deploy-check saml-check package

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 14

# The browser that the pages are tested in.
browser := echo "$${TEST_BROWSER:-$$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}"

# The race detector looks where goroutines meet: at the packages that start some, serve HTTP or guard what is shared, in
# code or tests. Of the large ones, whose spreadsheets, simulated years and browsers take many times as long with it, it
# looks at the tests about calls at the same time, whose names have a word of "together".
meeting := "sync|\bgo func|\.Go\(|httptest\.NewServer|filestest\.
large := ./e2e/browser ./internal/api ./e2e ./internal/web ./internal/app ./internal/store ./internal/backup ./internal/dossier
concurrent := ./internal/api ./internal/web ./internal/app ./internal/backup ./internal/dossier
together := Once|Twice|AsItHappens|Together|Crowd|Key|Stream|Follow|Limit|Held|Rival|Wait|Room|Opposite|Readers|Concurrent|Locked|DeferredCommit|DoesNotBlock
# The detector looks at our code; SQLite, which is C turned into Go, would take five times as long with it.
race := -race -gcflags=modernc.org/...=-race=false

# Compilers and tests take up to a third less processor time with this; commands that must be small set their own.
test check lint pdf-check: export GOGC := 400

test: install check lint pdf-check .bin/withpostgres .bin/versitygw .bin/promtool .bin/nginx .bin/caddy .bin/testgate ## everything CI asks: checks, then all tests on SQLite and PostgreSQL, with the race detector where goroutines meet; no skips
	@echo "== tests"
	browser=$$($(browser))
	[ -n "$$browser" ] || { echo "no browser to test the pages with: install Chromium, or set TEST_BROWSER to the path of one"; exit 1; }
	raced=$$(grep -lrE --include='*.go' '$(meeting)' client internal | xargs -n 1 dirname | sort -u | sed 's,^,./,' |
		grep -vxFf <(printf '%s\n' $(large)))
	others=$$(go list ./... | grep -vxFf <(go list $(large) $$raced))
	export CGO_ENABLED=1 TEST_BROWSER=$$browser ALIQUOT_TEST_S3="$(CURDIR)/.bin/versitygw"
	export ALIQUOT_TEST_NGINX="$(CURDIR)/.bin/nginx" ALIQUOT_TEST_CADDY="$(CURDIR)/.bin/caddy"
	export ALIQUOT_TEST_CLAMD=$$(PATH=$$PATH:/usr/sbin command -v clamd)
	{ failed=0
	  .bin/withpostgres -- go test -vet=off $(race) -timeout 30m -json $$raced || failed=1
	  .bin/withpostgres -- go test -vet=off $(race) -timeout 30m -run '$(together)' -json ./internal/store || failed=1
	  go test -vet=off $(race) -timeout 30m -run '$(together)' -json $(concurrent) || failed=1 # whose goroutines are the same on SQLite
	  .bin/withpostgres -- go test -vet=off -timeout 30m -json $(large) $$others || failed=1
	  exit $$failed; } | .bin/testgate

fast: ## all tests on SQLite alone
	@go test ./...

lint: .bin/golangci-lint ## golangci-lint
	@echo "== golangci-lint"
	.bin/golangci-lint run

fmt: ## format the Go code
	@gofmt -w .

bench: install .bin/withpostgres ## the benchmarks, on SQLite and a durable PostgreSQL
	@.bin/withpostgres -durable -- go test -timeout 2h -run '^$$' -bench . ./bench/...

sizes ?= 10000,100000,1000000
bench-search: install .bin/withpostgres ## the benchmark of searches: make bench-search sizes=10000,100000 folder=/where/databases/are/kept
	@SEARCH_SIZES=$(sizes) SEARCH_FOLDER=$(folder) .bin/withpostgres -durable -- go test -timeout 4h -run '^$$' -bench '^BenchmarkSearch' -benchtime 1x ./bench

bench-growth: install .bin/withpostgres ## rates, latencies and sizes as the database grows: make bench-growth sizes=10000,1000000 folder=/where/databases/are/kept
	@GROWTH_SIZES=$(sizes) SEARCH_FOLDER=$(folder) .bin/withpostgres -durable -- go test -timeout 6h -run '^$$' -bench '^BenchmarkRates$$' -benchtime 1x ./bench

memory: install .bin/withpostgres ## the memory of an idle process, with sample data, of an import of 100,000 rows and with 32 writers
	@.bin/withpostgres -- go test -run '^$$' -bench '^Benchmark(Start|StartDemo|BulkMemory|WriterMemory)$$' -benchtime 1x ./bench

bench-pages: install .bin/withpostgres ## the benchmark of pages: make bench-pages size=10000 for a small one
	@PAGES_SIZE=$(size) .bin/withpostgres -durable -- go test -timeout 2h -run '^$$' -bench '^BenchmarkPages$$' -benchtime 5x ./bench

rows ?= 200000
bench-neighbour: install .bin/withpostgres ## what others feel of one heavy user: make bench-neighbour rows=20000 for a small one
	@NEIGHBOUR_ROWS=$(rows) .bin/withpostgres -durable -- go test -timeout 1h -run '^$$' -bench '^BenchmarkNeighbour$$' -benchtime 1x ./bench

seconds ?= 300
bench-load: install .bin/withpostgres ## peak, steady work, ten times the peak and slow clients: make bench-load seconds=30 for a short one
	@LOAD_SECONDS=$(seconds) .bin/withpostgres -durable -- go test -timeout 1h -run '^$$' -bench '^BenchmarkLoad$$' -benchtime 1x ./bench

bench-backup: install .bin/withpostgres ## backup while others work, restore, verify: make bench-backup size=10000 for a small one
	@BACKUP_SIZE=$(size) .bin/withpostgres -durable -- go test -timeout 1h -run '^$$' -bench '^BenchmarkBackup$$' -benchtime 1x ./bench

minutes ?= 10
chaos: install .bin/withpostgres .bin/versitygw ## a cluster under load and one fault after the other, as root on Linux: make chaos minutes=2 seed=7
	@export ALIQUOT_TEST_S3=$(CURDIR)/.bin/versitygw ALIQUOT_TEST_CLAMD=$$(PATH=$$PATH:/usr/sbin command -v clamd)
	.bin/withpostgres -- go test -timeout 3h -count=1 -v -run '^TestChaos$$' ./e2e -chaos $(minutes)m -seed $(or $(seed),0)

saml-check: .bin/keycloak/done ## signs in at an identity provider of SAML by way of Keycloak, as docs/deploy.md has it
	@go test -timeout 10m -count=1 -v -run '^TestSAML_SignsInThroughKeycloak$$' ./e2e -keycloak "$(CURDIR)"/.bin/keycloak/keycloak-*

.bin/keycloak/done:
	@$(MAKE) --no-print-directory install only='default-jdk-headless\|maven'
	mvn -q dependency:copy -Dartifact=org.keycloak:keycloak-quarkus-dist:26.5.6:zip -DoutputDirectory="$(CURDIR)/.bin/keycloak"
	(cd .bin/keycloak && jar xf keycloak-*.zip && rm keycloak-*.zip)
	chmod +x .bin/keycloak/keycloak-*/bin/kc.sh
	touch $@

# The last release: the newest tag, or as long as there is none, what was before the newest migration.
from ?= $(shell git describe --tags --abbrev=0 2>/dev/null || git log -1 --first-parent --format=%h^ -- internal/store/migration)
rolling: install .bin/withpostgres .bin/caddy ## processes of an older release are replaced under load, with a migration: make rolling from=v1.2.0
	@folder=$$(mktemp -d)
	trap 'git worktree remove --force "$$folder/source"; rm -rf "$$folder"' EXIT
	git worktree add --quiet --detach "$$folder/source" $(from)
	(cd "$$folder/source" && go build -o "$$folder/aliquot" ./cmd/aliquot)
	ALIQUOT_TEST_CADDY=$(CURDIR)/.bin/caddy .bin/withpostgres -- go test -timeout 30m -count=1 -v -run '^TestRolling$$' ./e2e -rolling "$$folder/aliquot"

requests ?= 1000
simulate: install .bin/withpostgres ## days until agreements are executed, by paper and without: make simulate requests=200 seed=7
	@.bin/withpostgres -- go test ./simulate -count=1 -v -run TestSimulation_MeetsItsBars -requests $(requests) -seed $(or $(seed),1) | grep -v '^=== '

proxy ?= nginx
local-cluster: .bin/versitygw .bin/$(proxy) ## Aliquot on this machine as on several, until Ctrl-C (docs/deploy.md): make local-cluster proxy=caddy
	@$(MAKE) --no-print-directory install only=postgresql
	go build -o .bin/aliquot ./cmd/aliquot
	go build -o .bin/local-cluster ./deploy/local-cluster
	exec .bin/local-cluster -aliquot .bin/aliquot -s3 .bin/versitygw -$(proxy) .bin/$(proxy)

deploy-check: .bin/goreleaser .bin/cyclonedx-gomod .bin/nfpm .bin/helm ## builds the last commit twice as a release, its list of components, Debian package, image and Helm chart, and checks them: many minutes
	@ALIQUOT_TEST_DEPLOY="$(CURDIR)/.bin" go test -count=1 -timeout 2h -v ./deploy

package: .bin/nfpm ## the Debian package of a program for Linux, in .bin: make package program=FILE arch=arm64 version=1.2.3
	@PROGRAM="$(program)" GOARCH="$(arch)" VERSION="$(version)" \
		SOURCE_DATE_EPOCH="$$(git log -1 --format=%ct)" .bin/nfpm package -f deploy/nfpm.yaml -p deb -t .bin/

house: ## what the code is like to live in: sizes, a new field, two calls through the packages; times and memory as last measured
	@HOUSE=1 go test -count=1 -v -run TestHouse_MeetsItsBars ./internal | grep -Ev '^(=|-|PASS|ok)'

golden: ## regenerate the golden files; review the diff before committing it
	@packages=$$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r dirname | sort -u || true)
	[ -z "$$packages" ] || TEST_BROWSER=$$($(browser)) go test $$packages -update
	$(MAKE) --no-print-directory client

pictures: install ## retake the pictures of docs/pages
	@TEST_BROWSER=$$($(browser)) go test ./e2e/browser -run TestPictures_ShowEachMainPage -update

clicks: install ## measure what people do in the browser, and write the table of docs/pages.md
	@TEST_BROWSER=$$($(browser)) go test ./e2e/browser -run TestClicks_MeetTheBars -update

dossier ?= request-1-record.zip
check-dossier: ## check a dossier with bagit and roc-validator of PyPI: make check-dossier dossier=request-1-record.zip
	@test -x .bin/dossier/bin/python || python3 -m venv .bin/dossier
	@.bin/dossier/bin/pip install -q bagit==1.9.0 roc-validator==0.13.0 rocrate==0.16.0
	@.bin/dossier/bin/python internal/dossier/testdata/programs.py "$(dossier)"

pdf-check: install .bin/verapdf/done .bin/pyhanko/done ## check letters with veraPDF, and their seals with pyHanko
	@echo "== PDF/A, PDF/UA and seals, by veraPDF and pyHanko"
	rm -rf .bin/letters && mkdir .bin/letters
	go test -count=1 ./internal/agreement/pades ./internal/agreement/signing ./internal/seal -run '_RefusesEveryAlteration$$' -keep "$(CURDIR)/.bin/letters" >/dev/null
	java -cp '.bin/verapdf/*' internal/agreement/pdfa/testdata/Check.java .bin/letters/{letter,sealed}*.pdf
	.bin/pyhanko/bin/python internal/agreement/pades/testdata/pyhanko_check.py .bin/letters
	.bin/pyhanko/bin/python internal/agreement/signing/testdata/passkey_check.py .bin/letters/passkeys.json

.bin/verapdf/done: internal/agreement/pdfa/testdata/pom.xml
	@mvn -q -f $< dependency:copy-dependencies -DoutputDirectory="$(CURDIR)/.bin/verapdf"
	touch $@

.bin/pyhanko/done:
	@python3 -m venv .bin/pyhanko
	.bin/pyhanko/bin/pip install -q pyhanko==0.38.0 webauthn==3.0.1 fido2==2.2.1
	touch $@

client: .bin/oapi-codegen ## regenerate the Go client from docs/openapi.json
	@.bin/oapi-codegen -config client/generate.yaml -o client/client.gen.go docs/openapi.json

# Formatting, go.mod, and whether the client is that of docs/openapi.json: what is cheap to tell. lint has go vet in it.
check: .bin/oapi-codegen
	@echo "== gofmt, go mod, client"
	unformatted=$$(gofmt -l .)
	[ -z "$$unformatted" ] || { echo "not formatted (make fmt):" $$unformatted; exit 1; }
	go mod verify
	go mod tidy -diff
	.bin/oapi-codegen -config client/generate.yaml docs/openapi.json | cmp - client/client.gen.go ||
		{ echo "client/client.gen.go is not that of docs/openapi.json (make client)"; exit 1; }

# What the tests need and Debian's packages have: PostgreSQL, a browser, a C compiler for the race detector, a virus scanner, curl and python3 for manuals and examples, Java and Maven for veraPDF.
install:
	@missing=""
	command -v cc >/dev/null || missing+=" gcc libc6-dev"
	command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing+=" postgresql"
	[ -n "$$($(browser))" ] || missing+=" chromium"
	PATH=$$PATH:/usr/sbin command -v clamd >/dev/null || missing+=" clamav-daemon"
	command -v curl >/dev/null || missing+=" curl"
	command -v python3 >/dev/null || missing+=" python3"
	python3 -c 'import ensurepip' 2>/dev/null || missing+=" python3-venv"
	command -v javac >/dev/null || missing+=" default-jdk-headless"
	command -v mvn >/dev/null || missing+=" maven"
	[ -z "$(only)" ] || missing=$$(grep -ow "$(only)" <<<"$$missing" || true)
	[ -n "$$missing" ] || exit 0
	if ! command -v apt-get >/dev/null; then echo "please install:$$missing"; exit 1; fi
	sudo=""
	if [ "$$(id -u)" != 0 ]; then
		sudo -n true 2>/dev/null || { echo "please run: sudo apt-get install$$missing"; exit 1; }
		sudo="sudo"
	fi
	echo "== installing$$missing"
	$$sudo apt-get update -q
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing

# Tools, built once and kept in .bin.
.bin/golangci-lint: tools/go.mod tools/go.sum
	@echo "== building golangci-lint (about a minute)"
	cd tools && go build -o ../.bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.bin/oapi-codegen: tools/go.mod tools/go.sum
	@echo "== building oapi-codegen"
	cd tools && go build -o ../.bin/oapi-codegen github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen

# An S3 server, in a module of its own, so that its many dependencies do not decide which versions the other tools use.
# Without inlining most of it is compiled in three fifths of the time.
.bin/versitygw: tools/s3/go.mod tools/s3/go.sum
	@echo "== building versitygw (about a minute)"
	cd tools/s3 && go build -gcflags 'github.com/...=-l' -ldflags '-s -w' -o ../../.bin/versitygw github.com/versity/versitygw/cmd/versitygw

# What releases are made with, for deploy-check and package alone.
.bin/goreleaser: source := github.com/goreleaser/goreleaser/v2
.bin/cyclonedx-gomod: source := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
.bin/nfpm: source := github.com/goreleaser/nfpm/v2/cmd/nfpm
.bin/goreleaser .bin/cyclonedx-gomod .bin/nfpm: tools/release/go.mod tools/release/go.sum
	@echo "== building $(@F) (minutes)"
	cd tools/release && go build -ldflags '-s -w' -o ../../$@ $(source)

.bin/helm: tools/helm/go.mod tools/helm/go.sum
	@echo "== building helm (minutes)"
	cd tools/helm && go build -ldflags '-s -w' -o ../../$@ helm.sh/helm/v3/cmd/helm

.bin/withpostgres: $(wildcard internal/store/storetest/withpostgres/*.go internal/store/storetest/pgserver/*.go) go.mod
	@go build -o $@ ./internal/store/storetest/withpostgres

# Debian's packages have them; only the program is taken of each, so that no server is installed.
.bin/promtool: package := prometheus
.bin/nginx: package := nginx
.bin/caddy: package := caddy
.bin/promtool .bin/nginx .bin/caddy:
	@if program=$$(PATH=$$PATH:/usr/sbin command -v $(@F)); then ln -sf "$$program" $@; exit 0; fi
	command -v apt-get >/dev/null || { echo "please install $(@F)"; exit 1; }
	echo "== fetching $(@F)"
	folder=$$(mktemp -d)
	trap 'rm -rf "$$folder"' EXIT
	cd "$$folder"
	apt-get download -q $(package) 2>/dev/null ||
		{ $$(command -v sudo || true) apt-get update -q; apt-get download -q $(package); }
	dpkg-deb -x $(package)_*.deb unpacked
	mv unpacked/usr/*bin/$(@F) "$(CURDIR)/$@"

.bin/testgate: $(wildcard internal/testgate/*.go) go.mod
	@go build -o $@ ./internal/testgate
