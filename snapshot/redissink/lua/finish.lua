-- Makes a flush whole, if all its requests have been applied.
-- KEYS: writers, leases. ARGV: writer, mark, seq, requests, lease in ms.
local st = standing(KEYS[1], ARGV[1])
if markOf(st) == ARGV[2] then return 1 end
if pendingOf(st) ~= ARGV[2] or stateOf(st) ~= 'L' or appliedOf(st) ~= tonumber(ARGV[4]) then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], pack(ARGV[3], ARGV[2], NONE, 'L', 0))
redis.call('ZADD', KEYS[2], now() + ARGV[5], ARGV[1])
return 1
