-- A short script for Lua's interpreter: closures, tables, strings, sorting. The argument is the amount of work.
local times = tonumber(arg[1])

local function words(count)
    local list, seed = {}, 42
    for i = 1, count do
        seed = (seed * 1103515245 + 12345) % 2147483648
        list[i] = string.format("%x-%d", seed, i)
    end
    return list
end

local function counted(list)
    local found = {}
    for _, word in ipairs(list) do
        for part in word:gmatch("[^-]+") do
            local key = part:sub(1, 2)
            found[key] = (found[key] or 0) + #part
        end
    end
    return found
end

local sum = 0
for _ = 1, times do
    local list = words(2000)
    table.sort(list, function(a, b) return #a < #b or (#a == #b and a < b) end)
    for key, value in pairs(counted(list)) do
        sum = sum + value + #key
    end
end
print(sum)
