-- Applies some buckets of a flush.
-- KEYS: writers, bucket…
-- ARGV: writer, mark, request, seq, earlier ids of the writer with the seq of the
-- last whole flush of each, and for each bucket: count, when it ends to be kept and
-- for how long it may be kept at most, in ms.
--
-- A bucket is a hash: its total, and for each writer "seq count whole", where whole
-- is what count was in the writer's last whole flush, if seq is newer. So the total
-- moves by what a writer's count does.
local writer, seq, index, earlier = ARGV[1], ARGV[4], tonumber(ARGV[3]), ARGV[5]
local st = standing(KEYS[1], writer)
local mine, answer = turn(st, ARGV[2], index)
if not mine then return answer end
local committed = seqOf(st):match('^0*(%d+)$')
local time = now()

local function unpackBucket(row)
  return row:match('^(%d+) (%S+) (%S+)$')
end

-- undo takes back what flushes of earlier ids that never ended have left. No row
-- of those ids can change any more.
local function undo(key, total)
  for id, last in earlier:gmatch('(%x+) (%d+)') do
    local row = redis.call('HGET', key, id)
    if row then
      local seqThere, count, whole = unpackBucket(row)
      if less(last, seqThere) then
        total = moved(total, count, whole)
        redis.call('HSET', key, id, last .. ' ' .. whole .. ' ' .. whole)
      end
    end
  end
  return total
end

for i = 2, #KEYS do
  local key = KEYS[i]
  local count, deadline, longest = ARGV[i + 4]:match('^(%S+) (%d+) (%d+)$')
  deadline = math.min(deadline, time + longest)
  if deadline > time then
    local there = redis.call('HMGET', key, writer, 'total')
    local before, whole = '0', '0'
    if there[1] then
      local seqThere
      seqThere, before, whole = unpackBucket(there[1])
      if not less(committed, seqThere) then whole = before end
    end
    local total = moved(undo(key, there[2] or '0'), before, count)
    redis.call('HSET', key, writer, seq .. ' ' .. count .. ' ' .. whole, 'total', total)
    redis.call('PEXPIREAT', key, deadline)
  end
end
return took(KEYS[1], writer, st, index)
