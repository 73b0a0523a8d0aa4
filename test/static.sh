#!/bin/bash
# Static checks: formatting, vet on both architectures and on assertion builds, staticcheck, our own lint
# and the import order.
set -euo pipefail
cd "$(dirname "$0")/.."
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2

step() { echo "--- $*"; "$@"; }

unformatted=$(gofmt -l $(find . -name '*.go' -not -path './.git/*'))
if [ -n "$unformatted" ]; then
  echo "gofmt -w is needed for:"; echo "$unformatted"; exit 1
fi
step go vet ./...
step go vet -tags weirdebug ./...
GOARCH=arm64 step go vet ./...
step go test . ./internal/lint
# -checks: the defaults without the style rules about comments and error texts, which are our own here.
if go run $staticcheck -version >/dev/null 2>&1; then
  step go run $staticcheck -checks 'inherit,-ST1*' ./...
elif [ -n "${CI:-}" ]; then
  echo "staticcheck could not be built and CI wants it"; exit 1
else
  echo "staticcheck could not be fetched: skipped"
fi
