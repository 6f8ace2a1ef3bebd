module github.com/hotcount/hotcount/cmd

go 1.26.0

require (
	github.com/hotcount/hotcount v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/term v0.48.0
)

replace github.com/hotcount/hotcount => ../
