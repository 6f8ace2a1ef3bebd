package text

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGroup(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 1234567: "1,234,567",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		assert.Equal(t, want, Group(n))
	}
}

func TestCount(t *testing.T) {
	assert.Equal(t, "0 lines", Count(0, "line"))
	assert.Equal(t, "1 line", Count(1, "line"))
	assert.Equal(t, "1,000 lines", Count(1000, "line"))
}

func TestSpark(t *testing.T) {
	assert.Equal(t, "·▁▁▅█", Spark([]int64{0, 1, 50, 500, 1000}, 1000))
	assert.Equal(t, "··", Spark([]int64{0, 0}, 0))
}

func TestBar(t *testing.T) {
	assert.Equal(t, "", Bar(0, 10, 4))
	assert.Equal(t, "█", Bar(1, 1000, 4))
	assert.Equal(t, "██", Bar(5, 10, 4))
	assert.Equal(t, "████", Bar(10, 10, 4))
}
