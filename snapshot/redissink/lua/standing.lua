-- Put before every script that deals with standings.
--
-- A standing is "seq mark pending state applied", each of fixed width, so that
-- strings compare as the numbers do: Lua's own numbers are doubles, which do not
-- hold 64 bits. State is L for a live writer, D for one that is being added up,
-- T for a tombstone. Applied counts the requests of the pending flush.

local NONE = string.rep('0', 32)
local UNKNOWN = string.rep('0', 20) .. ' ' .. NONE .. ' ' .. NONE .. ' L 00000000'

local function standing(writers, writer)
  return redis.call('HGET', writers, writer) or UNKNOWN
end

local function seqOf(st) return st:sub(1, 20) end
local function markOf(st) return st:sub(22, 53) end
local function pendingOf(st) return st:sub(55, 86) end
local function stateOf(st) return st:sub(88, 88) end
local function appliedOf(st) return tonumber(st:sub(90, 97)) end

local function pack(seq, mark, pending, state, applied)
  return string.format('%s %s %s %s %08d', seq, mark, pending, state, applied)
end

local function now()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- turn returns 1 if it is the turn of request index of the flush with this
-- mark, otherwise what to answer: 1 for a request that came before, 0 for one
-- of another flush or ahead of its turn.
local function turn(st, mark, index)
  if pendingOf(st) ~= mark or stateOf(st) ~= 'L' or index > appliedOf(st) then
    return false, 0
  end
  return index == appliedOf(st), 1
end

-- took notes that a request has been applied.
local function took(writers, writer, st, index)
  redis.call('HSET', writers, writer, pack(seqOf(st), markOf(st), pendingOf(st), 'L', index + 1))
  return 1
end
