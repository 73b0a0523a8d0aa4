#!/bin/bash
# Runs every fuzz target of the module, each for the given time (1m by default).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-1m}
found=0
while IFS=: read -r file target; do
  found=$((found + 1))
  echo "--- $target in $(dirname "$file")"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")"
done < <(grep -rHoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's,^\./,,; s,:func ,:,' | sort -u)
echo "$found fuzz targets, $time each, no finding"
