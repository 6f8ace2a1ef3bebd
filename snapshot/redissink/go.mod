module github.com/hotcount/hotcount/snapshot/redissink

go 1.26.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/hotcount/hotcount v0.0.0
	github.com/redis/go-redis/v9 v9.23.0
)

require (
	github.com/dgryski/go-metro v0.0.0-20250106013310-edb8663e5e33 // indirect
	github.com/kamstrup/intmap v0.5.2 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/hotcount/hotcount => ../../
