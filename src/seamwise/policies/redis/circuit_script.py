"""Lua script of the circuit: applies the calls of all processes in order, by the server's clock.

A circuit is one hash, readable with `HGETALL`; delete it to close the circuit manually. Times are
in microseconds. A generation starts as the current time, so that its number is unique even after
the hash has expired. The lease of a probe is a field `probe:<token>` with its expiry as the value.
"""

from typing import Final

from seamwise.policies.redis.scripts import Script, new_script

CIRCUIT: Final[Script] = new_script("""
-- KEYS[1]: the circuit.
-- ARGV[1..5]: open_for, probes, successes, lease, ttl of the hash in milliseconds.
-- ARGV[6..9]: type of the trip condition (consecutive, calls, window), share, minimum, size.
-- ARGV[10..]: script calls, each an operation (enter, ok, fail, release), a generation and a token
-- ('' without a probe).
-- Returns six numbers for the last call: is admitted, generation, is a probe, state, failures, time
-- left; then three for each state change: old state, new state, failures.
local CLOSED, OPEN, HALF_OPEN = 0, 1, 2
local PARTS = 10
local time = redis.call('TIME')
local now = (tonumber(time[1]) - 1700000000) * 1000000 + tonumber(time[2])
local open_for, probes = tonumber(ARGV[1]), tonumber(ARGV[2])
local successes, lease, ttl = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local trip, share, minimum, size = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

local state, generation, since, failures, passed, calls = CLOSED, now, now, 0, 0, ''
local leases, parts = {}, {}
local is_changed, changes = true, {}

local function read()
  local fields = redis.call('HGETALL', KEYS[1])
  for index = 1, #fields, 2 do
    local field, value = fields[index], fields[index + 1]
    is_changed = false
    if field == 'state' then state = ({closed = CLOSED, open = OPEN, half_open = HALF_OPEN})[value]
    elseif field == 'generation' then generation = tonumber(value)
    elseif field == 'since' then since = tonumber(value)
    elseif field == 'failures' then failures = tonumber(value)
    elseif field == 'passed' then passed = tonumber(value)
    elseif field == 'calls' then calls = value
    elseif field:sub(1, 6) == 'probe:' then leases[field:sub(7)] = tonumber(value)
    elseif field:sub(1, 5) == 'part:' then
      local part_calls, part_failures = value:match('(%d+) (%d+)')
      parts[tonumber(field:sub(6))] = {tonumber(part_calls), tonumber(part_failures)}
    end
  end
end

local function write()
  local function integer(number) return string.format('%.0f', number) end
  local fields = {
    'state', ({'closed', 'open', 'half_open'})[state + 1], 'generation', integer(generation),
    'since', integer(since), 'failures', integer(failures), 'passed', integer(passed),
  }
  local function add(field, value) fields[#fields + 1] = field; fields[#fields + 1] = value end
  if calls ~= '' then add('calls', calls) end
  for token, expiry in pairs(leases) do add('probe:' .. token, integer(expiry)) end
  for start, part in pairs(parts) do
    add('part:' .. integer(start), integer(part[1]) .. ' ' .. integer(part[2]))
  end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], unpack(fields))
  redis.call('PEXPIRE', KEYS[1], ttl)
end

local function change_state(new_state, new_failures, moment)
  local change = {state, new_state, math.max(failures, new_failures)}
  for _, number in ipairs(change) do changes[#changes + 1] = number end
  state, failures, since = new_state, new_failures, moment
  generation = generation + 1
  passed, calls, leases, parts = 0, '', {}, {}
  is_changed = true
end

-- Returns the number of leases, and the earliest expiry.
local function count_leases()
  local count, first_expiry = 0, nil
  for _, expiry in pairs(leases) do
    count = count + 1
    if first_expiry == nil or expiry < first_expiry then first_expiry = expiry end
  end
  return count, first_expiry
end

-- After the clock went back, no duration exceeds its full length, counted from now.
local function limit_times()
  if since > now then since = now; is_changed = true end
  for token, expiry in pairs(leases) do
    if expiry > now + lease then leases[token] = now + lease; is_changed = true end
  end
end

-- Open the circuit if a probe has expired.
local function expire_probes()
  local _, first_expiry = count_leases()
  if state == HALF_OPEN and first_expiry ~= nil and first_expiry <= now then
    change_state(OPEN, failures + 1, first_expiry)
  end
end

-- Count the outcome of a call to the closed circuit; returns whether the circuit opens.
local function count_call(has_failed)
  if trip == 'consecutive' then
    is_changed = is_changed or has_failed or failures > 0
    failures = has_failed and failures + 1 or 0
    return failures >= minimum
  end
  is_changed = true
  local total_calls, total_failures = 0, 0
  if trip == 'calls' then
    calls = calls .. (has_failed and '1' or '0')
    total_failures = failures + (has_failed and 1 or 0)
    while #calls > size do
      if calls:sub(1, 1) == '1' then total_failures = total_failures - 1 end
      calls = calls:sub(2)
    end
    total_calls = #calls
  else
    -- The key of a part is its start, so that processes with different windows count together.
    local width = math.ceil(size / PARTS)
    local current_start = now - now % width
    local current = parts[current_start] or {0, 0}
    parts[current_start] = {current[1] + 1, current[2] + (has_failed and 1 or 0)}
    for start, part in pairs(parts) do
      -- A part in the future was counted before the clock went back.
      if start <= current_start - PARTS * width or start > now then parts[start] = nil
      else
        total_calls = total_calls + part[1]
        total_failures = total_failures + part[2]
      end
    end
  end
  failures = total_failures
  return has_failed and total_calls >= minimum and total_failures / total_calls >= share
end

local function enter(token)
  if state == OPEN and now >= since + open_for then change_state(HALF_OPEN, failures, now) end
  if state == CLOSED then return {1, generation, 0, state, failures, 0} end
  if state == OPEN then return {0, generation, 0, state, failures, since + open_for - now} end
  -- A repeated call, because its first answer was lost: it already has a lease.
  if leases[token] ~= nil then return {1, generation, 1, state, failures, 0} end
  local count, first_expiry = count_leases()
  if count >= probes then return {0, generation, 0, state, failures, first_expiry - now} end
  leases[token] = now + lease
  is_changed = true
  return {1, generation, 1, state, failures, 0}
end

local function leave(operation, call_generation, token)
  if token == '' then
    if state == CLOSED and call_generation == generation and count_call(operation == 'fail') then
      change_state(OPEN, failures, now)
    end
    return
  end
  -- A lease belongs to one generation: each state change deletes all leases.
  if leases[token] == nil then return end
  leases[token] = nil
  is_changed = true
  if operation == 'fail' then change_state(OPEN, failures + 1, now); return end
  if operation == 'ok' then
    passed = passed + 1
    if passed >= successes then change_state(CLOSED, 0, now) end
  end
end

read()
limit_times()
local answer = {0, generation, 0, state, failures, 0}
for index = 10, #ARGV, 3 do
  local operation, call_generation, token = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  expire_probes()
  if operation == 'enter' then answer = enter(token)
  else leave(operation, tonumber(call_generation), token) end
end
if is_changed then write() else redis.call('PEXPIRE', KEYS[1], ttl) end
for _, number in ipairs(changes) do answer[#answer + 1] = number end
return answer
""")
