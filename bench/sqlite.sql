-- What SQLite's shell runs in the benchmark: it inserts, indexes, joins, groups and sorts, in
-- memory. The parameter :rows sets the size. Nothing here is random or depends on the time: every
-- run makes the same calls and prints the same lines.

CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, region INTEGER);
CREATE TABLE sale(id INTEGER PRIMARY KEY, customer INTEGER, item TEXT, cents INTEGER, day INTEGER);

BEGIN;
WITH RECURSIVE counter(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counter WHERE i < :rows / 30)
INSERT INTO customer SELECT i, printf('customer %05d', i * 7919 % 100003), i * 31 % 12 FROM counter;
WITH RECURSIVE counter(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counter WHERE i < :rows)
INSERT INTO sale
SELECT i, i * 7919 % (:rows / 30) + 1, printf('item %03d', i * 104729 % 701), i * 31337 % 10007,
       i * 17 % 365
FROM counter;
COMMIT;

CREATE INDEX sale_by_customer ON sale(customer, day);
CREATE INDEX sale_by_item ON sale(item);
CREATE INDEX customer_by_region ON customer(region, name);

-- Join and group.
SELECT region, count(*), sum(cents), max(day)
FROM customer JOIN sale ON sale.customer = customer.id
GROUP BY region ORDER BY region;

-- Group by text, keep some, sort by an aggregate.
SELECT item, count(*) AS sales, avg(cents) AS mean
FROM sale GROUP BY item HAVING sales > 10 ORDER BY mean DESC, item LIMIT 10;

-- Sort everything by columns that no index offers.
SELECT id, item, cents FROM sale ORDER BY cents DESC, item, id LIMIT 10 OFFSET 1000;
