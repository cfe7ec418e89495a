"""Lua scripts of the sessions. Each one changes a session completely or not at all.

A stream entry has one field. Its name is the header: the time, the length of all earlier events in
bytes, the mark of the event and the mark of the event before it. Its value is the body. A mark is a
random text of each append; the mark before the first event is the epoch. The marks are a chain:
after a failover that lost events, the marks show that numbers were used a second time.
"""

from hashlib import sha1
from typing import Final

from msgspec import Struct


class Script(Struct, frozen=True):
    """A Lua script, and the SHA-1 digest by which a server caches it."""

    text: bytes
    digest: bytes


def _script(*parts: str) -> Script:
    text = ''.join(parts).encode()
    return Script(text, sha1(text, usedforsecurity=False).hexdigest().encode())


_SESSION: Final = """
-- KEYS: hash of the session, stream, batches, order of the batches.
-- ARGV 1: channel. 2: epoch of a new numbering. 3 to 5: epoch, number and mark of the last event
-- that the process knows of. 6 to 8: maximum number of events, maximum bytes, time of the oldest
-- event. Further arguments are those of each script.
local hash, stream, batches, batch_order = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local max_events, max_bytes, oldest = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local epoch, top, mark, total, end_seq, snapshot

local function id(seq)
  return string.format('%.0f-0', seq)
end

local function parse(entry)
  local seq, part = string.match(entry[1], '^(%d+)%-(%d+)$')
  return tonumber(seq), tonumber(part)
end

local function signal(text)
  -- A user without the permission for channels can still store events.
  redis.pcall('PUBLISH', ARGV[1], text)
end

local function write_session()
  redis.call('HSET', hash, 'epoch', epoch, 'top', string.format('%.0f', top), 'mark', mark,
    'total', string.format('%.0f', total))
end

-- Begins a numbering without events.
local function begin_epoch()
  -- Fails before anything is written if a key has another type.
  redis.call('HLEN', batches)
  redis.call('ZCARD', batch_order)
  epoch, top, mark, total = ARGV[2], 0, ARGV[2], 0
  end_seq, snapshot = nil, nil
  redis.call('DEL', hash, stream, batches, batch_order)
  write_session()
  signal(epoch)
end

-- Begins a numbering with the stored events, because other events had their numbers before.
local function renumber()
  epoch = ARGV[2]
  write_session()
  signal(epoch)
end

-- Returns whether the events that this process knows of are not those of the store.
local function has_other_history()
  if epoch ~= ARGV[3] then return false end
  local seq = tonumber(ARGV[4])
  if top < seq then return true end
  if top == seq then return mark ~= ARGV[5] end
  local following = redis.call('XRANGE', stream, id(seq + 1), id(seq + 1))[1]
  return following and string.match(following[2][1], '(%S+)$') ~= ARGV[5]
end

-- Reads the hash; returns whether there is a session.
local function load()
  local fields = redis.call('HMGET', hash, 'epoch', 'top', 'mark', 'total', 'end', 'snapshot')
  epoch, top = fields[1], tonumber(fields[2] or '')
  mark, total = fields[3], tonumber(fields[4] or '')
  end_seq, snapshot = tonumber(fields[5] or ''), tonumber(fields[6] or '')
  -- Fails before anything is written if the key has another type.
  local length = redis.call('XLEN', stream)
  if not (epoch and top and mark and total) then return false end
  if length == 0 and top > 0 and redis.call('EXISTS', stream) == 0 then
    -- Trimming leaves an empty stream: another client has deleted it.
    begin_epoch()
  elseif has_other_history() then
    renumber()
  end
  return true
end

local function load_or_begin()
  if not load() then
    begin_epoch()
  end
end

-- Returns the lowest number from which all events are there, by looking at each.
local function scan()
  local first, bound = top + 1, '+'
  while first > 1 do
    local page = redis.call('XREVRANGE', stream, bound, '-', 'COUNT', 100)
    if #page == 0 then return first end
    for _, entry in ipairs(page) do
      local seq, part = parse(entry)
      if seq < first - 1 then return first end
      if seq == first - 1 and part == 0 then first = first - 1 end
    end
    bound = '(' .. page[#page][1]
  end
  return first
end

-- Writes the stream anew, without the entries of other clients.
local function rebuild(first)
  local entries = redis.call('XRANGE', stream, id(first), id(top))
  redis.call('DEL', stream)
  for _, entry in ipairs(entries) do
    local seq, part = parse(entry)
    if part == 0 then redis.call('XADD', stream, id(seq), entry[2][1], entry[2][2]) end
  end
  if first > top and top > 0 then
    -- An empty stream, not a missing one.
    redis.call('XADD', stream, id(top), '-', '-')
    redis.call('XDEL', stream, id(top))
  end
end

-- Returns the lowest number from which all events are there, and its entry unless there was a hole.
-- Deletes what is before a hole.
local function first_stored(has_to_scan)
  local length = redis.call('XLEN', stream)
  local first, part, last_seq, last_part
  if length > 0 then
    local entry = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
    first, part = parse(entry)
    last_seq, last_part = parse(redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1])
    local is_whole = part == 0 and last_part == 0 and last_seq == top and length == top - first + 1
    if is_whole and not has_to_scan then return first, entry end
    first = scan()
    rebuild(first)
    return first
  end
  return top + 1
end

local function is_within_limits(entry)
  local at, before = string.match(entry[2][1], '^(%S+) (%d+) ')
  -- An entry of another client has no time, and counts as old.
  return at and tonumber(at) >= oldest and total - before <= max_bytes
end

-- Deletes the oldest events until the limits hold. Returns the lowest number that remains.
local function trim(first)
  local last_cut = end_seq and top or top + 1
  local cut, count = math.max(first, top + 1 - max_events), 1
  local is_done = false
  while cut < last_cut and not is_done do
    local page = redis.call('XRANGE', stream, id(cut), '+', 'COUNT', count)
    if #page == 0 then break end
    for _, entry in ipairs(page) do
      is_done = cut >= last_cut or is_within_limits(entry)
      if is_done then break end
      cut = parse(entry) + 1
    end
    count = 50
  end
  cut = math.min(cut, last_cut)
  if cut > first then redis.call('XTRIM', stream, 'MINID', id(cut)) end
  return math.max(cut, first)
end
"""

BEGIN: Final = _script(
    _SESSION,
    """
load_or_begin()
return {epoch, top, mark}
""",
)

APPEND: Final = _script(
    _SESSION,
    """
-- ARGV 9: time. 10: mark. 11: '1' for the end. 12: '=' and the id of the batch, or ''.
-- 13: number of batch ids that are kept. 14: '1' if replicas are awaited. Then the length and the
-- body of each event.
-- Returns: 'ok' | 'again' | 'closed', epoch, number of the last event, its mark, its time. One line
-- of text: redis-py reads an array of five parts six times as slowly.
local function reply(outcome, seq, mark, at)
  local text = string.format('%s %s %.0f %s %s', outcome, epoch, seq, mark, at)
  return redis.status_reply(text)
end

local batch = ARGV[12]
load_or_begin()
if batch ~= '' then
  redis.call('ZCARD', batch_order)
  local earlier = redis.call('HGET', batches, batch)
  if earlier then
    local seq, earlier_mark, at = string.match(earlier, '^(%d+) (%S+) (%S+)$')
    -- WAIT waits for the last write of the connection, and this one comes after the batch.
    if ARGV[14] == '1' then redis.call('HINCRBY', hash, 'repeats', 1) end
    return reply('again', tonumber(seq), earlier_mark, at)
  end
end
if end_seq then
  return reply('closed', top, mark, ARGV[9])
end

local is_first = true
for index = 15, #ARGV, 2 do
  local seq = top + 1
  local header = string.format('%s %.0f %s %s', ARGV[9], total, ARGV[10], mark)
  local added = redis.pcall('XADD', stream, 'MAXLEN', ARGV[6], id(seq), header, ARGV[index + 1])
  if added.err and is_first and string.find(added.err, 'equal or smaller', 1, true) then
    -- Another client has added an entry with a larger id, or has set the id.
    rebuild(scan())
    added = redis.pcall('XADD', stream, 'MAXLEN', ARGV[6], id(seq), header, ARGV[index + 1])
  end
  if added.err then return added end
  is_first = false
  top, mark, total = seq, ARGV[10], total + tonumber(ARGV[index])
end
if ARGV[11] == '1' then
  end_seq = top
  redis.call('HSET', hash, 'end', string.format('%.0f', top))
end
write_session()
if batch ~= '' then
  redis.call('HSET', batches, batch, string.format('%.0f %s %s', top, mark, ARGV[9]))
  redis.call('ZADD', batch_order, string.format('%.0f', top), batch)
  for _, old in ipairs(redis.call('ZRANGE', batch_order, 0, -1 - tonumber(ARGV[13]))) do
    redis.call('ZREM', batch_order, old)
    redis.call('HDEL', batches, old)
  end
end
local oldest_entry = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
if not is_within_limits(oldest_entry) then trim((parse(oldest_entry))) end
signal(string.format('%s %.0f', epoch, top))
return reply('ok', top, mark, ARGV[9])
""",
)

READ: Final = _script(
    _SESSION,
    """
-- ARGV 9: epoch of the reader, or ''. 10: number of its last event. 11: maximum number of events.
-- 12: '1' to look at every entry.
-- Returns false, or in MessagePack: epoch, top, mark, first stored, snapshot, end, events after the
-- number. redis-py needs 20 microseconds for each entry in its own protocol.
if not load() then return false end
local first, entry = first_stored(ARGV[12] == '1')
if not entry or top - first >= max_events or not is_within_limits(entry) then
  first = trim(first)
end
local after, count = tonumber(ARGV[10]), tonumber(ARGV[11])
if ARGV[9] == '' or after < first - 1 then
  if snapshot and snapshot >= first - 1 then
    after = math.max(after, snapshot)
  else
    -- Without a position, what there is. After a gap, nothing: no part of a replay is sent.
    after = ARGV[9] == '' and first - 1 or top
  end
end
local entries = {}
if (ARGV[9] == '' or ARGV[9] == epoch) and after < top and count > 0 then
  entries = redis.call('XRANGE', stream, id(after + 1), id(top), 'COUNT', count)
end
return cmsgpack.pack({epoch, top, mark, first, snapshot or -1, end_seq or -1, entries})
""",
)

ACKNOWLEDGE: Final = _script(
    _SESSION,
    """
-- ARGV 9: epoch. 10: number.
if not load() then return {'missing'} end
local seq = tonumber(ARGV[10])
if ARGV[9] ~= epoch then return {'epoch', epoch} end
if seq > top then return {'ahead', top} end
redis.call('XTRIM', stream, 'MINID', id(math.min(seq + 1, end_seq or seq + 1)))
return {'ok'}
""",
)

SNAPSHOT: Final = _script(
    _SESSION,
    """
-- ARGV 9: epoch. 10: number. 11: JSON of the state.
if not load() then return {'missing'} end
local seq = tonumber(ARGV[10])
if ARGV[9] ~= epoch then return {'epoch', epoch} end
if seq > top then return {'ahead', top} end
if not snapshot or seq >= snapshot then
  redis.call('HSET', hash, 'snapshot', string.format('%.0f', seq), 'state', ARGV[11])
end
return {'ok'}
""",
)

DELETE: Final = _script(
    """
-- KEYS and ARGV 1 as of the other scripts.
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
redis.pcall('PUBLISH', ARGV[1], '-')
return 'ok'
"""
)

_LEASES: Final = """
-- KEYS: hash from keys to holders, sorted set from keys to times, hash from keys to attempts, each
-- with its number before the client. ARGV 1: holder. 2: seconds.
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local holders, times, attempts, holder = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local expires_at = string.format('%.6f', now + tonumber(ARGV[2]))
redis.call('ZCARD', times)
"""

ACQUIRE: Final = _script(
    _LEASES,
    """
-- ARGV 3: key. 4: number of the attempt. 5: client.
if ARGV[4] then
  local number, client = string.match(redis.call('HGET', attempts, ARGV[3]) or '', '^(%d+) (.*)$')
  if client == ARGV[5] and tonumber(number) > tonumber(ARGV[4]) then
    return {}
  end
  redis.call('HSET', attempts, ARGV[3], ARGV[4] .. ' ' .. ARGV[5])
else
  redis.call('HDEL', attempts, ARGV[3])
end
redis.call('HSET', holders, ARGV[3], holder)
redis.call('ZADD', times, expires_at, ARGV[3])
return {ARGV[3]}
""",
)

RENEW: Final = _script(
    _LEASES,
    """
local held = {}
for index = 3, #ARGV do
  local key = ARGV[index]
  if redis.call('HGET', holders, key) == holder then
    redis.call('ZADD', times, expires_at, key)
    held[#held + 1] = key
  end
end
return held
""",
)

RELEASE: Final = _script(
    _LEASES,
    """
if redis.call('HGET', holders, ARGV[3]) == holder then
  redis.call('HDEL', holders, ARGV[3])
  redis.call('ZREM', times, ARGV[3])
  redis.call('HDEL', attempts, ARGV[3])
end
return {}
""",
)

TAKE_EXPIRED: Final = _script(
    _LEASES,
    """
local taken = {}
local bound = string.format('%.6f', now)
for _, key in ipairs(redis.call('ZRANGEBYSCORE', times, '-inf', bound)) do
  if string.sub(key, 1, #ARGV[3]) == ARGV[3] then
    redis.call('HSET', holders, key, holder)
    redis.call('ZADD', times, expires_at, key)
    redis.call('HDEL', attempts, key)
    taken[#taken + 1] = key
  end
end
return taken
""",
)
