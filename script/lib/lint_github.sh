#!/usr/bin/env bash
# Lints what only runs elsewhere: workflows, Dependabot's settings, and the container.
# Its argument is the folder of the linters; nothing is fetched.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
"$1/actionlint" -no-color
"$1/zizmor" --offline --strict-collection --no-progress --quiet --persona pedantic .github
"$1/hadolint" --failure-threshold style warmer/Containerfile
