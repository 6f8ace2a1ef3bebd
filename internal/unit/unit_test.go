package unit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsAmount(t *testing.T) {
	for name, want := range map[string]bool{
		"http_request_duration_nanoseconds_total": true,
		"http_response_bytes_total":               true,
		"bytes_total":                             true,
		"cpu_seconds":                             true,
		"http_requests_total":                     false,
		"views":                                   false,
		"bytes_read_errors_total":                 false,
		"seconds_ticks_total":                     false,
		"kilobytesque_total":                      false,
		"_total":                                  false,
		"":                                        false,
	} {
		assert.Equal(t, want, IsAmount(name), name)
	}
}
