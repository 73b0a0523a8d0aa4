# make run    build weir and start a demonstration
# make test   everything that must hold, under ten minutes on two cores
GO         ?= go
SHELL      := /bin/bash
PREFIX     ?= /usr/local
FUZZTIME   ?= 1m
BENCHTIME  ?= 1s
export CGO_ENABLED := 0

.PHONY: run build install test lint bench fuzz tools clean

run: build
	./weir demo

build: tools
	$(GO) build -trimpath -o weir ./cmd/weir

install: build
	install -D -m 755 weir $(DESTDIR)$(PREFIX)/sbin/weir

test:
	./test/all.sh

lint: tools
	./test/static.sh

bench: build
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./internal/...
	@if [ -d ../shared/bench ]; then cd ../shared/bench && $(GO) run . -weir "$(CURDIR)/weir"; fi

fuzz: tools
	./test/fuzz.sh $(FUZZTIME)

tools:
	@command -v $(GO) >/dev/null || { echo "weir needs Go 1.26 or later: https://go.dev/dl/"; exit 1; }

clean:
	rm -f weir
