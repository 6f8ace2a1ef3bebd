module github.com/hotcount/hotcount

go 1.26.0

require (
	github.com/axiomhq/hyperloglog v0.3.0
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.50.0
)
