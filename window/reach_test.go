package window

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRungs(t *testing.T) {
	for _, o := range []Options{
		{},
		{Resolution: time.Second, Buckets: 90},
		{Coarser: []Rung{{time.Minute, 7}}},
	} {
		w, err := New(new(oracle), o)
		require.NoError(t, err)
		want, err := o.ladder()
		require.NoError(t, err)
		assert.Equal(t, want, w.Rungs())
		w.Close()
	}
	e, err := NewEvents(EventsOptions{Resolution: time.Hour, Buckets: 24})
	require.NoError(t, err)
	assert.Equal(t, Rung{time.Hour, 24}, e.Rung())
	u, err := NewUniques(UniquesOptions{Buckets: 30})
	require.NoError(t, err)
	defer u.Close()
	assert.Equal(t, Rung{time.Minute, 30}, u.Rung())
}

func TestRungLabel(t *testing.T) {
	for label, r := range map[string]Rung{
		"1m":     {time.Second, 60},
		"1m30s":  {time.Second, 90},
		"1h":     {time.Minute, 60},
		"24h":    {15 * time.Minute, 96},
		"1h30m":  {time.Minute, 90},
		"10s":    {time.Second, 10},
		"20m":    {time.Minute, 20},
		"100ms":  {time.Millisecond, 100},
		"1h0m5s": {time.Second, 3605},
	} {
		assert.Equal(t, label, r.Label())
		back, err := time.ParseDuration(label)
		require.NoError(t, err)
		assert.Equal(t, r.Reach(), back)
	}
}
