#!/usr/bin/env bash
# Prints the path of a real Ollama, 0.33.3 or newer: the one in $OLLAMA_BIN or on the PATH, else one
# that Go builds from its module proxy and that is kept in the cache folder (about three minutes).
# With --older, of one that says it is 0.33.2, as an upgrade begins with; that one is always built.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

module=github.com/ollama/ollama
build=0.33.3 # the module's version; `go list` does not show it, and later ones are not served
wanted=$build
[ "${1:-}" = --older ] && wanted=0.33.2

is_new_enough() {
  local version
  version=$("$1" --version 2>/dev/null | grep -Eo '[0-9]+\.[0-9]+\.[0-9]+' | tail -n 1)
  [ -n "$version" ] && [ "$(printf '%s\n' "$build" "$version" | sort -V | head -n 1)" = "$build" ]
}

if [ "$wanted" = "$build" ]; then
  for found in "${OLLAMA_BIN:-}" "$(command -v ollama || true)"; do
    if [ -n "$found" ] && is_new_enough "$found"; then
      echo "$found"
      exit 0
    fi
  done
fi
kept=$cache/ollama/$wanted/bin/ollama
if [ ! -x "$kept" ]; then
  command -v go >/dev/null || exit 1
  say "Building Ollama $wanted"
  work=$(mktemp -d "${TMPDIR:-/tmp}/ollama-build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  # Two compilers at a time, as each takes a gigabyte.
  GOBIN=$work GOFLAGS=-mod=mod go install -p 2 \
    -ldflags "-s -w -X $module/version.Version=$wanted" "$module@v$build" >&2
  mkdir -p "${kept%/*}"
  mv "$work/ollama" "$kept.new.$$"
  mv "$kept.new.$$" "$kept"
fi
echo "$kept"
