#!/bin/bash
# Everything that must hold: static checks, unit tests, assertion build, race detector, scenarios on both pollers,
# malformed configurations. Prints one line per part and a summary that says what was not run.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
skipped=()
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

# Programs that some tests talk to. They are installed when that is possible and said to be missing otherwise.
need() {
  local missing=()
  for p in "$@"; do command -v "$p" >/dev/null || missing+=("$p"); done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "--- installing ${missing[*]}"
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log/apt" 2>&1 ||
      { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >>"$log/apt" 2>&1 || true
  fi
  for p in "${missing[@]}"; do
    command -v "$p" >/dev/null || skipped+=("tests that need $p (not installed)")
  done
}

part() { # part NAME COMMAND...
  local name=$1 start=$SECONDS; shift
  if "$@" >"$log/out" 2>&1; then
    printf 'ok    %-44s %4d s\n' "$name" $((SECONDS - start))
    grep -E '^--- SKIP|skipped' "$log/out" || true
  else
    printf 'FAIL  %-44s %4d s\n' "$name" $((SECONDS - start))
    cat "$log/out"
    exit 1
  fi
}

command -v go >/dev/null || { echo "weir needs Go 1.26 or later: https://go.dev/dl/"; exit 1; }
go version
need haproxy curl openssl
export PATH=$PATH:/usr/sbin

unit() { go test "$@" $(go list ./... | grep -vE '/test/(scenario|robust|differential)$'); }
shared() { # packages that more than one thread touches
  CGO_ENABLED=1 go test -race ./internal/base/... ./internal/rt/... ./internal/engine/... ./internal/feat/... ./internal/proc/...
}

part 'build (amd64, arm64)' bash -c 'GOARCH=amd64 go build ./... && GOARCH=arm64 go build ./...'
part 'static checks'        ./test/static.sh
part 'unit tests'           unit
part 'unit tests, assertion build' unit -tags weirdebug
if command -v "${CC:-gcc}" >/dev/null; then
  part 'unit tests, race detector' shared
else
  skipped+=('race detector (no C compiler)')
fi
part 'expressions beside haproxy'     go test -count=1 -timeout 5m ./test/differential
part 'malformed configurations'      go test -count=1 -run TestBadConfig ./test/scenario
part 'attacks, advisories and shortages'  go test -count=1 -timeout 5m ./test/robust
part 'scenarios on io_uring and epoll' go test -count=1 -timeout 5m -run '^Test' -skip TestBadConfig ./test/scenario
if command -v haproxy >/dev/null; then
  part 'scenarios on the reference itself' env WEIR_REF=haproxy go test -count=1 -timeout 5m ./test/scenario
fi

echo
echo "all parts passed in $SECONDS s"
for s in "${skipped[@]:+${skipped[@]}}"; do echo "not run: $s"; done
