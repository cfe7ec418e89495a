"""The circuit as Redis does it: every step of every process, one after the other, by the server's clock.

One hash a circuit, readable by `HGETALL`; to close a circuit by hand, delete it. Times are microseconds. A generation is the moment
when it began, so that none comes twice, not even after the hash was forgotten. A probe's lease is a field `probe:<token>`, with the
moment when it runs out as its value.
"""

from typing import Final

from seamwise.policies.redis.store import Script, script

CIRCUIT: Final[Script] = script("""
-- KEYS: the circuit. ARGV: open_for, probes, successes, lease, idle (milliseconds), trip (its name, then three numbers),
-- and steps: what (enter, ok, fail, release), generation, token ('' for none).
-- Answers of the last step: admitted, generation, leased, state, failures, what is left; then three numbers for each change.
local CLOSED, OPEN, HALF_OPEN = 0, 1, 2
local PARTS = 10
local time = redis.call('TIME')
local now = (tonumber(time[1]) - 1700000000) * 1000000 + tonumber(time[2])
local open_for, probes, successes, lease = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local trip, share, minimum, size = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

local state, generation, since, failures, passed, calls = CLOSED, now, now, 0, 0, ''
local leases, parts = {}, {}
local is_changed, changes = true, {}

local function read()
  local fields = redis.call('HGETALL', KEYS[1])
  for at = 1, #fields, 2 do
    local field, value = fields[at], fields[at + 1]
    is_changed = false
    if field == 'state' then state = ({closed = CLOSED, open = OPEN, half_open = HALF_OPEN})[value]
    elseif field == 'generation' then generation = tonumber(value)
    elseif field == 'since' then since = tonumber(value)
    elseif field == 'failures' then failures = tonumber(value)
    elseif field == 'passed' then passed = tonumber(value)
    elseif field == 'calls' then calls = value
    elseif field:sub(1, 6) == 'probe:' then leases[field:sub(7)] = tonumber(value)
    elseif field:sub(1, 5) == 'part:' then
      local all, bad = value:match('(%d+) (%d+)')
      parts[tonumber(field:sub(6))] = {tonumber(all), tonumber(bad)}
    end
  end
end

local function write()
  local function whole(number) return string.format('%.0f', number) end
  local fields = {'state', ({'closed', 'open', 'half_open'})[state + 1], 'generation', whole(generation), 'since', whole(since),
    'failures', whole(failures), 'passed', whole(passed)}
  local function add(field, value) fields[#fields + 1] = field; fields[#fields + 1] = value end
  if calls ~= '' then add('calls', calls) end
  for token, due in pairs(leases) do add('probe:' .. token, whole(due)) end
  for part, counted in pairs(parts) do add('part:' .. whole(part), whole(counted[1]) .. ' ' .. whole(counted[2])) end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], unpack(fields))
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end

local function change(after, counted, moment)
  for _, number in ipairs({state, after, math.max(failures, counted)}) do changes[#changes + 1] = number end
  state, failures, since = after, counted, moment
  generation = generation + 1
  passed, calls, leases, parts = 0, '', {}, {}
  is_changed = true
end

local function count_leases()
  local n, first = 0, nil
  for _, due in pairs(leases) do
    n = n + 1
    if first == nil or due < first then first = due end
  end
  return n, first
end

-- A clock that has gone back makes nothing last longer than a whole time from now.
local function mend()
  if since > now then since = now; is_changed = true end
  for token, due in pairs(leases) do
    if due > now + lease then leases[token] = now + lease; is_changed = true end
  end
end

local function see_who_hangs()
  local _, first = count_leases()
  if state == HALF_OPEN and first ~= nil and first <= now then change(OPEN, failures + 1, first) end
end

-- Count how a call to the closed circuit ended; says whether that opens it.
local function counted(has_failed)
  if trip == 'consecutive' then
    is_changed = is_changed or has_failed or failures > 0
    failures = has_failed and failures + 1 or 0
    return failures >= minimum
  end
  is_changed = true
  local all, bad = 0, 0
  if trip == 'calls' then
    calls = calls .. (has_failed and '1' or '0')
    bad = failures + (has_failed and 1 or 0)
    while #calls > size do
      if calls:sub(1, 1) == '1' then bad = bad - 1 end
      calls = calls:sub(2)
    end
    all = #calls
  else
    -- Known by its beginning, so that processes whose windows differ count together.
    local width = math.ceil(size / PARTS)
    local part = now - now % width
    local one = parts[part] or {0, 0}
    parts[part] = {one[1] + 1, one[2] + (has_failed and 1 or 0)}
    for begun, of in pairs(parts) do
      -- Those that are ahead are of a clock that has gone back.
      if begun <= part - PARTS * width or begun > now then parts[begun] = nil
      else all = all + of[1]; bad = bad + of[2] end
    end
  end
  failures = bad
  return has_failed and all >= minimum and bad / all >= share
end

local function enter(token)
  if state == OPEN and now >= since + open_for then change(HALF_OPEN, failures, now) end
  if state == CLOSED then return {1, generation, 0, state, failures, 0} end
  if state == OPEN then return {0, generation, 0, state, failures, since + open_for - now} end
  -- Asked again, as when the answer was lost: it has its lease.
  if leases[token] ~= nil then return {1, generation, 1, state, failures, 0} end
  local under_way, first = count_leases()
  if under_way >= probes then return {0, generation, 0, state, failures, first - now} end
  leases[token] = now + lease
  is_changed = true
  return {1, generation, 1, state, failures, 0}
end

local function leave(how, of, token)
  if token == '' then
    if state == CLOSED and of == generation and counted(how == 'fail') then change(OPEN, failures, now) end
    return
  end
  -- A token belongs to one generation: a change forgets its lease.
  if leases[token] == nil then return end
  leases[token] = nil
  is_changed = true
  if how == 'fail' then change(OPEN, failures + 1, now); return end
  if how == 'ok' then
    passed = passed + 1
    if passed >= successes then change(CLOSED, 0, now) end
  end
end

read()
mend()
local answer = {0, generation, 0, state, failures, 0}
for at = 10, #ARGV, 3 do
  see_who_hangs()
  if ARGV[at] == 'enter' then answer = enter(ARGV[at + 2]) else leave(ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]) end
end
if is_changed then write() else redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
for _, number in ipairs(changes) do answer[#answer + 1] = number end
return answer
""")
