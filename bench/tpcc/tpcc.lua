-- TPC-C for sysbench 1.0, written from the specification (revision 5.11): the rival of the engine's workload.
-- It sends the same statements as text, as scripts for sysbench do, on tables with the same names.
--
--   sysbench tpcc.lua --warehouses=10 --threads=2 prepare
--   sysbench tpcc.lua --warehouses=10 --threads=8 --time=60 run

sysbench.cmdline.options = {
   warehouses = {"Number of warehouses", 10},
}

sysbench.cmdline.commands = {
   prepare = {function() load_all() end, sysbench.cmdline.PARALLEL_COMMAND},
}

local DISTRICTS, CUSTOMERS, ITEMS, ORDERS = 10, 3000, 100000, 3000
local SYLLABLES = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}
local between = sysbench.rand.uniform

local function nurand(a, c, low, high)
   return (bit.bor(between(0, a), between(low, high)) + c) % (high - low + 1) + low
end

local function last_name(number)
   local hundreds, tens, ones = math.floor(number / 100), math.floor(number / 10) % 10, number % 10
   return SYLLABLES[hundreds + 1] .. SYLLABLES[tens + 1] .. SYLLABLES[ones + 1]
end

local function letters(least, most)
   return sysbench.rand.string(("@"):rep(between(least, most)))
end

local function digits(count)
   return sysbench.rand.string(("#"):rep(count))
end

local function original(least, most)
   local text = letters(least, most)
   if between(1, 100) > 10 then return text end
   local at = between(1, #text - 8)
   return text:sub(1, at - 1) .. "ORIGINAL" .. text:sub(at + 8)
end

local function address()
   return ("'%s','%s','%s','%s','%s'"):format(letters(10, 20), letters(10, 20), letters(10, 20), letters(2, 2), digits(4) .. "11111")
end

-- Loading: every thread makes its share of the warehouses.

local TABLES = {
   [[CREATE TABLE IF NOT EXISTS warehouse (w_id INT NOT NULL PRIMARY KEY, w_name VARCHAR(10), w_street_1 VARCHAR(20),
     w_street_2 VARCHAR(20), w_city VARCHAR(20), w_state CHAR(2), w_zip CHAR(9), w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2))]],
   [[CREATE TABLE IF NOT EXISTS district (d_id SMALLINT NOT NULL, d_w_id INT NOT NULL, d_name VARCHAR(10),
     d_street_1 VARCHAR(20), d_street_2 VARCHAR(20), d_city VARCHAR(20), d_state CHAR(2), d_zip CHAR(9),
     d_tax DECIMAL(4,4), d_ytd DECIMAL(12,2), d_next_o_id INT, PRIMARY KEY (d_w_id, d_id))]],
   [[CREATE TABLE IF NOT EXISTS customer (c_id INT NOT NULL, c_d_id SMALLINT NOT NULL, c_w_id INT NOT NULL,
     c_first VARCHAR(16), c_middle CHAR(2), c_last VARCHAR(16), c_street_1 VARCHAR(20), c_street_2 VARCHAR(20),
     c_city VARCHAR(20), c_state CHAR(2), c_zip CHAR(9), c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2),
     c_credit_lim DECIMAL(12,2), c_discount DECIMAL(4,4), c_balance DECIMAL(12,2), c_ytd_payment DECIMAL(12,2),
     c_payment_cnt INT, c_delivery_cnt INT, c_data VARCHAR(500), PRIMARY KEY (c_w_id, c_d_id, c_id))]],
   [[CREATE TABLE IF NOT EXISTS history (h_c_id INT, h_c_d_id SMALLINT, h_c_w_id INT, h_d_id SMALLINT, h_w_id INT,
     h_date DATETIME, h_amount DECIMAL(6,2), h_data VARCHAR(24))]],
   [[CREATE TABLE IF NOT EXISTS orders (o_id INT NOT NULL, o_d_id SMALLINT NOT NULL, o_w_id INT NOT NULL, o_c_id INT,
     o_entry_d DATETIME, o_carrier_id SMALLINT, o_ol_cnt SMALLINT, o_all_local SMALLINT, PRIMARY KEY (o_w_id, o_d_id, o_id))]],
   [[CREATE TABLE IF NOT EXISTS new_orders (no_o_id INT NOT NULL, no_d_id SMALLINT NOT NULL, no_w_id INT NOT NULL,
     PRIMARY KEY (no_w_id, no_d_id, no_o_id))]],
   [[CREATE TABLE IF NOT EXISTS order_line (ol_o_id INT NOT NULL, ol_d_id SMALLINT NOT NULL, ol_w_id INT NOT NULL,
     ol_number SMALLINT NOT NULL, ol_i_id INT, ol_supply_w_id INT, ol_delivery_d DATETIME, ol_quantity SMALLINT,
     ol_amount DECIMAL(6,2), ol_dist_info CHAR(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))]],
   [[CREATE TABLE IF NOT EXISTS item (i_id INT NOT NULL PRIMARY KEY, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2),
     i_data VARCHAR(50))]],
   [[CREATE TABLE IF NOT EXISTS stock (s_i_id INT NOT NULL, s_w_id INT NOT NULL, s_quantity SMALLINT, s_dist_01 CHAR(24),
     s_dist_02 CHAR(24), s_dist_03 CHAR(24), s_dist_04 CHAR(24), s_dist_05 CHAR(24), s_dist_06 CHAR(24), s_dist_07 CHAR(24),
     s_dist_08 CHAR(24), s_dist_09 CHAR(24), s_dist_10 CHAR(24), s_ytd INT, s_order_cnt INT, s_remote_cnt INT,
     s_data VARCHAR(50), PRIMARY KEY (s_w_id, s_i_id))]],
}

local function bulk(con, name, rows)
   con:bulk_insert_init("INSERT INTO " .. name .. " VALUES ")
   for row in rows do con:bulk_insert_next(row) end
   con:bulk_insert_done()
end

local function numbered(count, row)
   local number = 0
   return function()
      number = number + 1
      if number <= count then return row(number) end
   end
end

local function load_items(con)
   bulk(con, "item", numbered(ITEMS, function(i)
      return ("(%d,%d,'%s',%.2f,'%s')"):format(i, between(1, 10000), letters(14, 24), between(100, 10000) / 100, original(26, 50))
   end))
end

local function load_district(con, w, d)
   bulk(con, "customer", numbered(CUSTOMERS, function(c)
      local name = c <= 1000 and c - 1 or nurand(255, 157, 0, 999)
      return ("(%d,%d,%d,'%s','OE','%s',%s,'%s',NOW(),'%s',50000,%.4f,-10,10,1,0,'%s')"):format(c, d, w, letters(8, 16),
         last_name(name), address(), digits(16), between(1, 100) <= 10 and "BC" or "GC", between(0, 5000) / 10000, letters(300, 500))
   end))
   bulk(con, "history", numbered(CUSTOMERS, function(c)
      return ("(%d,%d,%d,%d,%d,NOW(),10,'%s')"):format(c, d, w, d, w, letters(12, 24))
   end))
   local customers, lines = {}, {}
   for c = 1, CUSTOMERS do customers[c] = c end
   for c = CUSTOMERS, 2, -1 do
      local other = between(1, c)
      customers[c], customers[other] = customers[other], customers[c]
   end
   bulk(con, "orders", numbered(ORDERS, function(o)
      lines[o] = between(5, 15)
      local carrier = o < 2101 and tostring(between(1, 10)) or "NULL"
      return ("(%d,%d,%d,%d,NOW(),%s,%d,1)"):format(o, d, w, customers[o], carrier, lines[o])
   end))
   bulk(con, "new_orders", numbered(900, function(n) return ("(%d,%d,%d)"):format(2100 + n, d, w) end))
   local o, line = 1, 0
   bulk(con, "order_line", function()
      line = line + 1
      if line > lines[o] then o, line = o + 1, 1 end
      if o > ORDERS then return nil end
      local delivered = o < 2101
      return ("(%d,%d,%d,%d,%d,%d,%s,5,%.2f,'%s')"):format(o, d, w, line, between(1, ITEMS), w, delivered and "NOW()" or "NULL",
         delivered and 0 or between(1, 999999) / 100, letters(24, 24))
   end)
end

local function load_warehouse(con, w)
   con:query(("INSERT INTO warehouse VALUES (%d,'%s',%s,%.4f,300000)"):format(w, letters(6, 10), address(), between(0, 2000) / 10000))
   for d = 1, DISTRICTS do
      con:query(("INSERT INTO district VALUES (%d,%d,'%s',%s,%.4f,30000,3001)"):format(d, w, letters(6, 10), address(),
         between(0, 2000) / 10000))
   end
   bulk(con, "stock", numbered(ITEMS, function(i)
      local of_districts = {}
      for d = 1, DISTRICTS do of_districts[d] = letters(24, 24) end
      return ("(%d,%d,%d,'%s',0,0,0,'%s')"):format(i, w, between(10, 100), table.concat(of_districts, "','"), original(26, 50))
   end))
   for d = 1, DISTRICTS do load_district(con, w, d) end
end

function load_all()
   local con = sysbench.sql.driver():connect()
   for _, statement in ipairs(TABLES) do con:query(statement) end
   con:query("SET unique_checks = 0, foreign_key_checks = 0")
   if sysbench.tid % sysbench.opt.threads == 0 then load_items(con) end
   for w = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.warehouses, sysbench.opt.threads do load_warehouse(con, w) end
end

-- Driving.

local con, warehouses

function thread_init()
   con = sysbench.sql.driver():connect()
   warehouses = sysbench.opt.warehouses
end

local function one(query, ...)
   return con:query_row(query:format(...))
end

local function all(query, ...)
   local rows, result = {}, con:query(query:format(...))
   for _ = 1, result.nrows do rows[#rows + 1] = unpack(result:fetch_row(), 1, result.nfields) end
   return rows
end

local function run(query, ...)
   con:query(query:format(...))
end

local function other_warehouse(w)
   local other = between(1, warehouses - 1)
   return other < w and other or other + 1
end

local function new_order()
   local w, d, c = between(1, warehouses), between(1, DISTRICTS), nurand(1023, 259, 1, CUSTOMERS)
   local count, rolls_back = between(5, 15), between(1, 100) == 1
   local lines, is_local = {}, 1
   for number = 1, count do
      local supplier = w
      if warehouses > 1 and between(1, 100) == 1 then supplier, is_local = other_warehouse(w), 0 end
      lines[number] = {nurand(8191, 7911, 1, ITEMS), supplier, between(1, 10)}
   end
   table.sort(lines, function(a, b) return a[2] < b[2] or (a[2] == b[2] and a[1] < b[1]) end)
   if rolls_back then lines[count][1] = ITEMS + 1 end
   con:query("BEGIN")
   one([[SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse
         WHERE w_id = %d AND c_w_id = w_id AND c_d_id = %d AND c_id = %d]], w, d, c)
   local o = tonumber((one("SELECT d_next_o_id, d_tax FROM district WHERE d_id = %d AND d_w_id = %d FOR UPDATE", d, w)))
   run("UPDATE district SET d_next_o_id = %d WHERE d_id = %d AND d_w_id = %d", o + 1, d, w)
   run([[INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
         VALUES (%d, %d, %d, %d, CURRENT_TIMESTAMP, %d, %d)]], o, d, w, c, count, is_local)
   run("INSERT INTO new_orders (no_o_id, no_d_id, no_w_id) VALUES (%d, %d, %d)", o, d, w)
   for number, line in ipairs(lines) do
      local item, supplier, quantity = unpack(line)
      local price = one("SELECT i_price, i_name, i_data FROM item WHERE i_id = %d", item)
      if price == nil then
         con:query("ROLLBACK")
         return
      end
      local left, info = one("SELECT s_quantity, s_dist_%02d, s_data FROM stock WHERE s_i_id = %d AND s_w_id = %d FOR UPDATE",
         d, item, supplier)
      left = tonumber(left) - quantity
      if left < 10 then left = left + 91 end
      run([[UPDATE stock SET s_quantity = %d, s_ytd = s_ytd + %d, s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + %d WHERE s_i_id = %d AND s_w_id = %d]], left, quantity, supplier == w and 0 or 1, item, supplier)
      run([[INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
            ol_dist_info) VALUES (%d, %d, %d, %d, %d, %d, %d, %.2f, '%s')]], o, d, w, number, item, supplier, quantity,
         quantity * tonumber(price), info)
   end
   con:query("COMMIT")
end

local function customer_by_name(w, d, columns)
   local name = last_name(nurand(255, 226, 0, 999))
   one("SELECT COUNT(c_id) FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s'", w, d, name)
   local found = all("SELECT " .. columns .. " FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_first",
      w, d, name)
   return tonumber(found[math.floor((#found + 1) / 2)])
end

local function payment()
   local w, d = between(1, warehouses), between(1, DISTRICTS)
   local c_w, c_d, amount = w, d, between(100, 500000) / 100
   if warehouses > 1 and between(1, 100) <= 15 then c_w, c_d = other_warehouse(w), between(1, DISTRICTS) end
   con:query("BEGIN")
   run("UPDATE warehouse SET w_ytd = w_ytd + %.2f WHERE w_id = %d", amount, w)
   local w_name = one("SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = %d", w)
   run("UPDATE district SET d_ytd = d_ytd + %.2f WHERE d_w_id = %d AND d_id = %d", amount, w, d)
   local d_name = one("SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = %d AND d_id = %d", w, d)
   local c = between(1, 100) <= 60 and customer_by_name(c_w, c_d, "c_id") or nurand(1023, 259, 1, CUSTOMERS)
   local credit = one([[SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
      c_credit_lim, c_discount, c_balance, c_since FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d FOR UPDATE]], c_w, c_d, c)
   if credit == "BC" then
      local data = one("SELECT c_data FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d FOR UPDATE", c_w, c_d, c)
      data = ("%d %d %d %d %d %.2f|%s"):format(c, c_d, c_w, d, w, amount, data):sub(1, 500)
      run([[UPDATE customer SET c_balance = c_balance - %.2f, c_ytd_payment = c_ytd_payment + %.2f,
            c_payment_cnt = c_payment_cnt + 1, c_data = '%s' WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d]],
         amount, amount, data, c_w, c_d, c)
   else
      run([[UPDATE customer SET c_balance = c_balance - %.2f, c_ytd_payment = c_ytd_payment + %.2f,
            c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d]], amount, amount, c_w, c_d, c)
   end
   run([[INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)
         VALUES (%d, %d, %d, %d, %d, CURRENT_TIMESTAMP, %.2f, '%s    %s')]], c_d, c_w, c, d, w, amount, w_name, d_name)
   con:query("COMMIT")
end

local function order_status()
   local w, d, c = between(1, warehouses), between(1, DISTRICTS), nil
   con:query("BEGIN")
   if between(1, 100) <= 60 then
      c = customer_by_name(w, d, "c_id, c_balance, c_first, c_middle")
   else
      c = nurand(1023, 259, 1, CUSTOMERS)
      one("SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", w, d, c)
   end
   local o = one([[SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %d
      ORDER BY o_id DESC LIMIT 1]], w, d, c)
   all([[SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
         WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %s]], w, d, o)
   con:query("COMMIT")
end

local function delivery()
   local w, carrier = between(1, warehouses), between(1, 10)
   con:query("BEGIN")
   for d = 1, DISTRICTS do
      local o = one("SELECT no_o_id FROM new_orders WHERE no_d_id = %d AND no_w_id = %d ORDER BY no_o_id LIMIT 1 FOR UPDATE", d, w)
      if o ~= nil then
         run("DELETE FROM new_orders WHERE no_o_id = %s AND no_d_id = %d AND no_w_id = %d", o, d, w)
         local c = one("SELECT o_c_id FROM orders WHERE o_id = %s AND o_d_id = %d AND o_w_id = %d FOR UPDATE", o, d, w)
         run("UPDATE orders SET o_carrier_id = %d WHERE o_id = %s AND o_d_id = %d AND o_w_id = %d", carrier, o, d, w)
         run("UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_o_id = %s AND ol_d_id = %d AND ol_w_id = %d", o, d, w)
         local amount = one("SELECT SUM(ol_amount) FROM order_line WHERE ol_o_id = %s AND ol_d_id = %d AND ol_w_id = %d", o, d, w)
         run([[UPDATE customer SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1
               WHERE c_id = %s AND c_d_id = %d AND c_w_id = %d]], amount, c, d, w)
      end
   end
   con:query("COMMIT")
end

local function stock_level()
   local w, d, threshold = between(1, warehouses), between(1, DISTRICTS), between(10, 20)
   con:query("BEGIN")
   local next_order = tonumber((one("SELECT d_next_o_id FROM district WHERE d_id = %d AND d_w_id = %d", d, w)))
   one([[SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id < %d
         AND ol_o_id >= %d AND s_w_id = %d AND s_i_id = ol_i_id AND s_quantity < %d]], w, d, next_order, next_order - 20, w, threshold)
   con:query("COMMIT")
end

function event()
   local card = between(1, 100)
   if card <= 45 then new_order()
   elseif card <= 88 then payment()
   elseif card <= 92 then order_status()
   elseif card <= 96 then delivery()
   else stock_level() end
end

function sysbench.hooks.before_restart_event()
   con:query("ROLLBACK")
end
