module github.com/hotcount/hotcount/bridge/otel

go 1.26.0

replace github.com/hotcount/hotcount => ../../
