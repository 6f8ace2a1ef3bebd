module github.com/hotcount/hotcount/cmd

go 1.26.0

require (
	github.com/hotcount/hotcount v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/term v0.48.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/hotcount/hotcount => ../
