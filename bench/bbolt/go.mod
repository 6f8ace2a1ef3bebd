module github.com/hotcount/hotcount/bench/bbolt

go 1.26.0

require (
	github.com/hotcount/hotcount v0.0.0
	go.etcd.io/bbolt v1.4.3
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/hotcount/hotcount => ../..
