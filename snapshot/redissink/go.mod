module github.com/hotcount/hotcount/snapshot/redissink

go 1.26.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/hotcount/hotcount v0.1.0
	github.com/redis/go-redis/v9 v9.23.0
	github.com/stretchr/testify v1.12.1
)

require (
	go.uber.org/atomic v1.12.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
