-- A thousand clients with good and hostile guests. The id of a request comes back in its
-- Result, and says what the Result must be.

local hostile = {
  loop = [[while True: pass]],
  hog = [[x = []\nwhile True: x.append(bytearray(1 << 20))]],
  fork = [[import os\nos.fork()]],
  flood = [[for _ in range(100): print('x' * 100000)]],
  refused = [[import socket\nsocket.socket()]],
}
local names = { "loop", "hog", "fork", "flood", "refused" }

local threads = {}
local number = 0

function setup(thread)
  thread:set("id", #threads + 1)
  table.insert(threads, thread)
end

function init()
  math.randomseed(id)
  good, bad, busy, wrong, example = 0, 0, 0, 0, ""
end

-- A refused client waits before its next request, and a served one sends at a human rate.
function delay()
  return math.random(100, 900)
end

local function body(name, script)
  return string.format('{"id": "%s", "script": "%s", "context": %d, "limits": {"wall_time": "200ms", "memory": "32MiB"}}', name, script, number)
end

function request()
  number = number + 1
  local text
  if math.random() < 0.75 then
    text = string.gsub(body("good-" .. number, "result = context * 2"), '"200ms"', '"20s"')
  else
    local name = names[math.random(#names)]
    text = body(name .. "-" .. number, hostile[name])
  end
  return wrk.format("POST", "/v1/runs", { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer good" }, text)
end

local function fault(status, text)
  wrong = wrong + 1
  example = status .. ": " .. string.sub(text, 1, 600)
end

local wants = {
  loop = '"outcome":"timed_out"',
  hog = '"status":"error"',
  fork = '"status":"error"',
  flood = '"stdout_truncated":true', -- or its time was over before: the machine is busy
  refused = '"status":"error"',
}

function response(status, headers, text)
  if status == 429 then
    busy = busy + 1
    if not headers["Retry-After"] then fault(status, "no Retry-After") end
    return
  end
  local name, n = string.match(text, '^{"v":1,"id":"(%a+)%-(%d+)"')
  if status ~= 200 or not name then
    fault(status, text)
  elseif name == "good" then
    good = good + 1
    if not string.find(text, '"result":' .. 2 * tonumber(n) .. ",", 1, true) then fault(status, text) end
  else
    bad = bad + 1
    local late = name == "flood" and string.find(text, wants.loop, 1, true)
    if not late and not string.find(text, wants[name], 1, true) then fault(status, text) end
  end
end

function done(summary, latency)
  local sum = { good = 0, bad = 0, busy = 0, wrong = 0 }
  local words = ""
  for _, thread in ipairs(threads) do
    for name in pairs(sum) do sum[name] = sum[name] + thread:get(name) end
    if thread:get("example") ~= "" then words = thread:get("example") end
  end
  local e = summary.errors
  io.write(string.format('\ntotals good=%d bad=%d busy=%d wrong=%d connect=%d read=%d write=%d timeout=%d p50us=%d p99us=%d\n',
    sum.good, sum.bad, sum.busy, sum.wrong, e.connect, e.read, e.write, e.timeout, latency:percentile(50), latency:percentile(99)))
  io.write("example " .. words .. "\n")
end
