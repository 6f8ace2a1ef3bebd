# shellcheck shell=bash
# What a user sees who has nothing but a version: each released module is packed as it
# would be published, served from a folder, and used from outside the tree.

# test_version is a version that nobody will publish.
readonly test_version=v0.999.0-consumer

readonly own_path=github.com/hotcount/hotcount

# publish packs the modules, keeps their paths in $published, and points the go command
# at them. Modules of others come from this machine's cache where they are there.
publish() {
	local cache proxies
	cache=$(go env GOMODCACHE) proxies=$(go env GOPROXY)
	published=$(run release pack "$test_version" "$scratch/proxy")
	export GOWORK=off GONOSUMDB=$own_path GOMODCACHE=$scratch/modules GOFLAGS='-modcacherw -mod=mod'
	export GOPROXY=file://$scratch/proxy,file://$cache/cache/download,$proxies
}

# consume MODULE fetches a module into an empty one and checks the go blocks of its
# README there, run where a server is.
consume() {
	local dir=$scratch/consumer/$1 readme
	mkdir -p "$dir"
	cd "$dir" || exit
	quietly go mod init example.com/consumer
	quietly go get "$1@$test_version"
	readme=$(go list -m -f '{{.Dir}}' "$1")/README.md
	run readmecheck -go "$readme"
}

# install_command installs the command, with the clients of stores and without, and
# compares the version that it prints.
install_command() {
	local tags
	export GOBIN=$scratch/installed
	for tags in '' hotcount_stores; do
		quietly go install -tags "$tags" "$own_path/cmd/hotcount@$test_version"
		run "$GOBIN/hotcount" version | tee "$scratch/version"
		grep -q "^hotcount $test_version," "$scratch/version" || fail "hotcount version is not $test_version"
	done
}
