package show

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.00", 0.004: "0.00", 1: "1.00", 9.944: "9.94", 9.95: "9.9", 12.34: "12.3", 99.49: "99.5", 99.5: "100", 12345.6: "12346",
	} {
		assert.Equal(t, want, Short(v), v)
	}
}
