-- Replaces some sketches that Redis cannot merge by unions made elsewhere, if
-- they still are what the unions were made of.
-- KEYS: writers, index, sketch…
-- ARGV: writer, mark, request, length of the keys' prefix, and for each key the
-- field, the SHA-1 of what it held or '', and the union.
-- Answers 2 if one is not what it was.
local writer, index = ARGV[1], tonumber(ARGV[3])
local st = standing(KEYS[1], writer)
local mine, answer = turn(st, ARGV[2], index)
if not mine then return answer end
for i = 3, #KEYS do
  local arg = 3 * i - 4
  local there = redis.call('HGET', KEYS[i], ARGV[arg])
  if (there and redis.sha1hex(there) or '') ~= ARGV[arg + 1] then return 2 end
end
for i = 3, #KEYS do
  local arg = 3 * i - 4
  redis.call('HSET', KEYS[i], ARGV[arg], ARGV[arg + 2])
  redis.call('ZADD', KEYS[2], 0, KEYS[i]:sub(ARGV[4] + 1, -2))
end
return took(KEYS[1], writer, st, index)
