-- Turns dead writers, whose rows have been added up, into tombstones.
-- KEYS: writers, leases. ARGV: for how many ms, writer…
local time = now()
for i = 2, #ARGV do
  local st = standing(KEYS[1], ARGV[i])
  if stateOf(st) == 'D' then
    redis.call('HSET', KEYS[1], ARGV[i], pack(seqOf(st), markOf(st), NONE, 'T', 0))
    redis.call('ZADD', KEYS[2], time + ARGV[1], ARGV[i])
  end
end
return 1
