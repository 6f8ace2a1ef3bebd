module github.com/hotcount/hotcount/cmd

go 1.26.0

require github.com/hotcount/hotcount v0.0.0

replace github.com/hotcount/hotcount => ../
