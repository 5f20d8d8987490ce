# shellcheck shell=bash
# The commands with which a reader of README.md begins, tried with an installed kassay. Sourced by scripts/test-install and
# run in a bare system by scripts/test-bare-root.
#
#   first_commands KASSAY TESTDATA HOST   HOST: a compiled OpenCL program, or empty if there is no OpenCL runtime

# expect CODE PATTERN COMMAND...: runs the command and fails unless it ends with CODE and prints PATTERN (extended).
expect() {
  local wanted=$1 pattern=$2 code=0 started=$EPOCHREALTIME output
  shift 2
  output=$("$@" 2>&1) || code=$?
  printf '  %6.1f s  %s\n' "$(awk "BEGIN { print $EPOCHREALTIME - $started }")" "$*"
  if [[ $code -ne $wanted ]]; then
    printf '%s\nFAILED: ended with %s instead of %s: %s\n' "$output" "$code" "$wanted" "$*" >&2
    return 1
  fi
  if ! grep -qE -- "$pattern" <<<"$output"; then
    printf '%s\nFAILED: printed nothing like "%s": %s\n' "$output" "$pattern" "$*" >&2
    return 1
  fi
}

first_commands() {
  local kassay=$1 testdata=$2 host=$3 into
  into=$(mktemp -d)
  local suite=$testdata/saxpy_tail/suite.toml
  local race=$testdata/check/race_tree_sum_without_barrier/race_tree_sum_without_barrier.cl
  expect 0 '^kassay [0-9]' "$kassay" --version || return
  if [[ -n $host ]]; then
    expect 0 'simulator' "$kassay" devices || return
  else
    expect 3 'no OpenCL driver' "$kassay" devices || return
  fi
  expect 0 'mutants +[1-9]' "$kassay" inspect "$testdata/saxpy_tail/saxpy_tail.cl" || return
  expect 0 '3 tests: 3 passed' "$kassay" run "$suite" || return
  expect 0 'one +0 +1' "$kassay" cover "$suite" -o "$into/cover.json" || return
  expect 0 '' "$kassay" report "$into/cover.json" -o "$into/cover.lcov" || return
  expect 0 'saxpy_tail' cat "$into/cover.lcov" || return
  expect 0 '^mutation score +87\.8' "$kassay" mutate "$suite" --operators liu || return
  expect 1 'verdict: racy' "$kassay" check "$race" || return
  expect 0 '\.TH .*kassay' "$kassay" man || return
  expect 0 'complete' "$kassay" completions bash || return
  if [[ -n $host ]]; then
    expect 0 'total +[1-9][0-9]* .*%' "$kassay" cover -- "$host" || return
    expect 0 '' "$kassay" capture -o "$into/captured" -- "$host" || return
    expect 0 'passed' "$kassay" run "$into"/captured/*/suite.toml || return
  fi
  rm -rf "$into"
}
