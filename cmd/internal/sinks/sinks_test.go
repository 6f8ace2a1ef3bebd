package sinks

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No form of an address shows its secret, nor does an error that quotes it.
func TestSecretsAreNotShown(t *testing.T) {
	for address, want := range map[string]string{
		"redis://host:6379/0":                    "redis://host:6379/0",
		"redis://:hunter2@host":                  "redis://:xxxxx@host",
		"redis://me:hunter2@host/0?pool=5":       "redis://me:xxxxx@host/0?pool=5",
		"postgres://me:hunter2@@/:host/db":       "postgres://me:xxxxx@/:host/db",
		"postgres://me@host/db?password=hunter2": "postgres://me@host/db?password=xxxxx",
		"postgres://next:x@host/x":               "postgres://next:xxxxx@host/xxxxx",
		"nats://hunter2@host":                    "nats://xxxxx@host",
		"nats://a:hunter2@h1,b:hunter2@h2":       "nats://a:xxxxx@h2",
		"redis://me:hunter%32@host":              "redis://me:xxxxx@host",
		"redis://me:%zzhunter2@host":             "redis://me:xxxxx@host",
		"nats://host?authToken=hunter2&x=1":      "nats://host?authToken=xxxxx&x=1",
		"file:/var/a:b@c":                        "file:/var/a:b@c",
	} {
		target := Target{address: address}
		assert.Equal(t, want, target.String())

		cause := errors.New("no route")
		err := target.Clean(fmt.Errorf("dial %s: %w", address, cause))
		require.ErrorIs(t, err, cause)
		assert.EqualError(t, err, "dial "+want+": no route")
	}
	target := Target{address: "nats://a:hunter%32@h1,b:other@h2"}
	for _, secret := range []string{"hunter%32", "hunter2", "other"} {
		assert.EqualError(t, target.Clean(errors.New("no user "+secret)), "no user xxxxx")
	}
	assert.NoError(t, target.Clean(nil))
}

func TestParse(t *testing.T) {
	target, err := Parse("file:dir")
	require.NoError(t, err)
	assert.Equal(t, "file:dir", target.String())
	for _, address := range []string{"", "dir", "me:hunter2@host", "gopher://me:hunter2@host", "redis:host", "postgres:me:hunter2@host"} {
		_, err := Parse(address)
		require.ErrorIs(t, err, ErrAddress)
		assert.ErrorContains(t, err, "file:DIR")
		assert.NotContains(t, err.Error(), "hunter2")
	}
	assert.True(t, IsAddress("file:dir"))
	assert.True(t, IsAddress("redis:host"))
	assert.True(t, IsAddress("gopher://host"))
	assert.False(t, IsAddress("dir"))
	assert.False(t, IsAddress("C:dir"))
}

func TestForms(t *testing.T) {
	for _, s := range schemes() {
		assert.Contains(t, Forms(), s.form)
		assert.Regexp(t, "^"+s.name+":", s.form)
		assert.NotNil(t, s.sink)
	}
}

// A directory is opened with one slash or three, locked for writing only.
func TestDir(t *testing.T) {
	dir := t.TempDir()
	target, err := Parse("file://" + dir)
	require.NoError(t, err)
	sink, err := target.Sink(context.Background())
	require.NoError(t, err)
	reader, err := Dir(dir).Reader(context.Background())
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	_, err = Dir(dir).Sink(context.Background())
	require.Error(t, err)
	require.NoError(t, sink.Close())
}
