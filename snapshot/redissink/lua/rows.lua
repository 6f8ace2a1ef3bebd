-- Applies some rows of a flush.
-- KEYS: writers, index, counter…
-- ARGV: writer, mark, request, seq, length of the keys' prefix, and for all rows of
-- the request: the number of the counter's key, created and value, in binary.
local writer, index = ARGV[1], tonumber(ARGV[3])
local st = standing(KEYS[1], writer)
local mine, answer = turn(st, ARGV[2], index)
if not mine then return answer end
local call, pack, unpack = redis.call, struct.pack, struct.unpack
local seqh, seql = split(ARGV[4])
local wholeh, wholel = split(seqOf(st))
local rows, at = ARGV[6], 1
while at <= #rows do
  local key, dh, dl, vh, vl
  key, dh, dl, vh, vl, at = unpack('>I4I4I4I4I4', rows, at)
  key = KEYS[key]
  local row, new = call('HGET', key, writer), nil
  if not row then
    new = pack(ROW, seqh, seql, dh, dl, vh, vl, 0, 0, 0, 0)
  else
    local sh, sl, tdh, tdl, tvh, tvl, ch, cl, wh, wl = unpack(ROW, row)
    if sh < wholeh or sh == wholeh and sl <= wholel then wh, wl = plus(tvh, tvl, ch, cl) end
    if dh == tdh and dl == tdl then
      if sh < seqh or sh == seqh and sl < seql then
        new = pack(ROW, seqh, seql, dh, dl, vh, vl, ch, cl, wh, wl)
      end
    elseif dh > tdh or dh == tdh and dl > tdl then
      ch, cl = plus(tvh, tvl, ch, cl)
      new = pack(ROW, seqh, seql, dh, dl, vh, vl, ch, cl, wh, wl)
    end
  end
  if new and call('HSET', key, writer, new) == 1 then
    call('ZADD', KEYS[2], 0, key:sub(ARGV[5] + 1, -2))
  end
end
return took(KEYS[1], writer, st, index)
