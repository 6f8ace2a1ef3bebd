# shellcheck shell=bash
# What .ci/run is made of besides its steps: running commands, finding things,
# fetching tools, and the loop over the steps.

# scratch is shared by the steps of one run and goes with it.
scratch=${HOTCOUNT_CI_SCRATCH:-}

say() { printf '  %s\n' "$*"; }

# fail prints its arguments, one a line, and ends the step.
fail() {
	printf '%s\n' "$@" >&2
	exit 1
}

# run prints a command on standard error, as set -x would, then runs it.
run() {
	show "$@"
	"$@"
}

show() { printf '+ %s%s\n' "$(settings)" "$*" >&2; }

# settings prints what changes the meaning of a go command: where it runs, and variables.
settings() {
	local name
	[[ $PWD == "$top" ]] || printf 'cd %s && ' "${PWD#"$top"/}"
	for name in GOWORK GOOS GOARCH CGO_ENABLED GOTOOLCHAIN HOTCOUNT_CI; do
		[[ -z ${!name:-} ]] || printf '%s=%s ' "$name" "${!name}"
	done
}

# quietly is run for a command whose output matters only when it fails. The output
# stays in $last_output until the next call.
quietly() {
	last_output=$scratch/output
	show "$@"
	"$@" >"$last_output" 2>&1 || fail "$(<"$last_output")"
}

# in_dir DIR COMMAND… runs a command in a directory.
in_dir() (
	cd "$1" || exit
	shift
	"$@"
)

# gotest is go test, never from the cache, with HOTCOUNT_CI=1, which turns an absent
# service or tool from a skip into a failure. Any other skip must be in .ci/skips.
gotest() {
	need_tools
	local -x HOTCOUNT_CI=1
	run go test -json -count=1 "$@" | testreport -run "$step" -allow "$top/.ci/skips"
}

# under_toolchain VERSION PATTERN… tests under another version of Go.
under_toolchain() {
	need_tools
	export GOTOOLCHAIN=$1
	shift
	if ! run go version; then
		say "not checked: $GOTOOLCHAIN cannot be fetched here"
		return
	fi
	need_services
	gotest "$@"
}

# modules prints the directory of each module in the workspace.
modules() { go list -m -f '{{.Dir}}'; }

# tracked prints the files that git knows, or would if they were added, by pattern.
tracked() {
	local file
	git ls-files --cached --others --exclude-standard -- "$@" | sort -u |
		while read -r file; do [[ ! -e $file ]] || printf '%s\n' "$file"; done
}

# tree_state prints what tells the tree from HEAD, so that two calls can be compared.
tree_state() {
	git diff HEAD
	git ls-files --others --exclude-standard -z | xargs -0 --no-run-if-empty sha256sum
}

# need_tools builds the pinned tools and our own into the scratch directory, once a run
# and for this machine whatever the step builds for.
need_tools() {
	[[ ! -e $scratch/bin/testreport ]] || return 0
	GOWORK=off GOOS='' GOARCH='' CGO_ENABLED='' GOBIN=$scratch/bin \
		in_dir "$top/tools" go install tool ./...
}

# need_deb COMMAND PACKAGE… installs Debian packages unless the command is there.
need_deb() { [[ -n $(type -P "$1") ]] || install_deb "${@:2}"; }

install_deb() {
	if [[ ! -e $scratch/apt-updated ]]; then
		quietly apt-get update
		touch "$scratch/apt-updated"
	fi
	DEBIAN_FRONTEND=noninteractive quietly apt-get install --yes --no-install-recommends "$@"
}

# main runs the steps that its arguments name, or all of them.
main() {
	local names=("$@")
	case ${1:-} in
	-step) # main's own call, one process a step
		step=$2
		"step_$step"
		return
		;;
	-l)
		printf '%s' "${steps#$'\n'}"
		return
		;;
	'') mapfile -t names < <(awk 'NF { print $1 }' <<<"$steps") ;;
	esac
	local name
	for name in "${names[@]}"; do
		declare -F "step_$name" >/dev/null || fail "there is no step $name; .ci/run -l lists them"
	done

	HOTCOUNT_CI_SCRATCH=$(mktemp -d)
	scratch=$HOTCOUNT_CI_SCRATCH
	export HOTCOUNT_CI_SCRATCH PATH=$scratch/bin:$PATH:/usr/sbin
	trap cleanup EXIT
	trap 'exit 130' INT TERM
	run_steps "${names[@]}"
}

cleanup() {
	[[ -z ${child:-} ]] || kill "$child" 2>/dev/null || true
	stop_services
	rm -rf "$scratch"
}

# run_steps runs each step under a time limit and ends with a table.
run_steps() {
	local name start seconds verdict passed=0 failed=0 table=''
	for name; do
		printf '\n== %s\n' "$name"
		start=$SECONDS
		timeout --kill-after=10 "$step_limit" bash .ci/run -step "$name" </dev/null 2>&1 &
		child=$!
		if wait "$child"; then
			verdict=ok passed=$((passed + 1))
		elif (($? == 124)); then
			verdict='TIMED OUT' failed=$((failed + 1))
		else
			verdict=FAILED failed=$((failed + 1))
		fi
		child=''
		seconds=$((SECONDS - start))
		printf '== %s: %s, %d s\n' "$name" "$verdict" "$seconds"
		table+=$(printf '%-12s %-10s %5d s' "$name" "$verdict" "$seconds")$'\n'
	done
	printf '\n%s%-12s %-10s %5d s\n\n' "$table" total '' "$SECONDS"
	printf 'steps: %d passed, %d failed\n' "$passed" "$failed"
	((failed == 0))
}
