# Shared by every script: where things are kept. Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${OLLAMA_WARM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ollama-warm}
export OLLAMA_WARM_CACHE=$cache
unit=$root/.venv-unit # Home Assistant 2026.10.4, for unit tests and the linters
e2e=$root/.venv-e2e   # Home Assistant 2026.11.0, llama.cpp and the warmer

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
