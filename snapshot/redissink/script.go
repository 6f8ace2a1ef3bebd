package redissink

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"slices"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed lua/standing.lua
	luaStanding string
	//go:embed lua/number.lua
	luaNumber string
	//go:embed lua/row.lua
	luaRow string
	//go:embed lua/claim.lua
	luaClaim string
	//go:embed lua/rows.lua
	luaRows string
	//go:embed lua/buckets.lua
	luaBuckets string
	//go:embed lua/merge.lua
	luaMerge string
	//go:embed lua/replace.lua
	luaReplace string
	//go:embed lua/finish.lua
	luaFinish string
	//go:embed lua/expire.lua
	luaExpire string
	//go:embed lua/fold.lua
	luaFold string
	//go:embed lua/bury.lua
	luaBury string
	//go:embed lua/count.lua
	luaCount string
)

// A script is Lua source with its name in Redis.
type script struct{ source, sha string }

func newScript(parts ...string) script {
	var source string
	for _, p := range parts {
		source += p
	}
	sum := sha1.Sum([]byte(source)) // Redis' own choice
	return script{source, hex.EncodeToString(sum[:])}
}

// The scripts. They are constants, but for the language.
var (
	claimScript   = newScript(luaStanding, luaClaim)
	rowsScript    = newScript(luaStanding, luaRow, luaRows)
	bucketsScript = newScript(luaStanding, luaNumber, luaBuckets)
	mergeScript   = newScript(luaStanding, luaMerge)
	replaceScript = newScript(luaStanding, luaReplace)
	finishScript  = newScript(luaStanding, luaFinish)
	expireScript  = newScript(luaStanding, luaExpire)
	foldScript    = newScript(luaStanding, luaNumber, luaRow, luaFold)
	buryScript    = newScript(luaStanding, luaBury)
	countScript   = newScript(luaNumber, luaRow, luaCount)
)

// A call is one run of a script.
type call struct {
	script *script
	keys   []string
	args   []any
	cmd    *redis.Cmd // with the answer
}

// run makes the calls in one round trip to each node. Each call has its own
// error then. Calls to one partition are made in order.
func (k *Sink) run(ctx context.Context, calls ...*call) {
	pipe := k.client.Pipeline()
	for _, c := range calls {
		c.cmd = pipe.EvalSha(ctx, c.script.sha, c.keys, c.args...)
	}
	pipe.Exec(ctx) // each command has its error
	if !slices.ContainsFunc(calls, (*call).unknown) {
		return
	}
	// Scripts are lost when a server restarts or another takes over. All calls
	// are made again, in order, and none minds that it has been made before.
	pipe = k.client.Pipeline()
	for _, c := range calls {
		c.cmd = pipe.Eval(ctx, c.script.source, c.keys, c.args...)
	}
	pipe.Exec(ctx)
}

// unknown reports whether the server does not know the script.
func (c *call) unknown() bool { return redis.HasErrorPrefix(c.cmd.Err(), "NOSCRIPT") }
