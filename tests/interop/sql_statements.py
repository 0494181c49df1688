"""Statements whose answers in dc0 are compared with those of DuckDB's Python package.

    python sql_statements.py write FOLDER     writes `statements.jsonl`: each line a title and a statement
    python sql_statements.py compare FOLDER   compares the answers in `answers.jsonl` over the views in `views.sql`

An answer is the statement, the columns and rows of dc0's answer, or its error. Prints how many statements were answered equally.
Exits with 1 and the differences if there are any.
"""

import datetime
import decimal
import json
import math
import random
import re
import sys
from pathlib import Path

import duckdb

# A table of what goes wrong: empty cells, ties, extremes, an empty group, texts with odd letters.
ODD = """odd(k, n, x, s, b, l) as (values
  (1, 5, 0.5::double, 'a', true, [1, 2, 3]), (2, 5, -0.5, 'a', false, [3]), (3, null, null, null, null, null),
  (4, 9223372036854775807, 1e300, 'Ä', true, []), (5, -9223372036854775807, -1e300, '', false, [null, 7]),
  (6, 0, 0.0, 'it''s', null, [0, 0]), (7, 5, 2.5, 'b', true, [-1, 1]), (8, -7, 'nan'::double, 'B', false, [2]), (9, 3, null, 'a', null, [5, 5]))"""

# The classes of the audit that found polars' SQL wrong, and everyday statements, each with one right answer.
WRITTEN = """
select kind, count(*) as n from costs group by kind order by count(*) desc, kind limit 2
select iteration, reason, count(*) as n from games group by iteration, reason order by count(*) desc, iteration, reason limit 3
select kind, sum(bytes) as bytes from costs group by kind order by sum(bytes) desc, kind
select kind, sum(updates) from costs group by kind order by sum(updates) desc nulls last, kind limit 2
select sum(1) as x from games
select iteration, sum(1) as n from games group by iteration order by iteration
select a.step, b.step as bs from costs a left join costs b on a.kind = b.kind and a.step < b.step order by a.step, bs
select avg(loss) over (partition by net order by "update") as m, "update", net from training order by net, "update"
select stddev(loss) over (partition by net order by "update") as s, median(loss) over (partition by net order by "update") as m, net, "update" from training order by net, "update"
select stddev(k) over (order by k) as s, median(n) over (order by k) as m, k from odd where k not in (4, 5) order by k
select last_value(loss) over (partition by net order by "update" rows between unbounded preceding and unbounded following) as l, net, "update" from training order by net, "update"
select sum(plies) over (order by "match", game rows 2 preceding) as s, game from matches order by "match", game
select pow(2, 31), pow(2, 63), pow(10, 20)
select cast(2147483647 as int) + 1
select cast(2147483647 as bigint) + 1
select cast(ply as smallint) * 1000 from positions where ply > 40
select cast(ply as smallint) * 100 from positions order by iteration, game, ply
select sum(n) from odd
select sum(n) from odd where n > 0
select sum(9223372036854775807) from games
select log(2, 8), ln(8), log10(1000), log2(8)
select count(*) as n from positions where game in (select game from positions)
select count(*) from positions where played not in (select unnest(moves) from games)
select count(*) from positions where fen in (select fen from positions where material(fen) > 3)
select count(*) from positions where fen not in (select fen from positions where ply > 3)
select count(*) from odd where n not in (select n from odd)
select count(*) from odd where n in (5, null)
select k from odd where n is distinct from 5 order by k
select 2e-3, 1.5e-3, .5, 1e10
select played >> 6 & 63 as target, played & 63 as source from positions order by iteration, game, ply limit 20
select max(plies) from matches where plies < (select max(plies) from matches)
select game, plies / (select sum(plies) from matches) as share from matches order by "match", game
select ntile(3) over (order by k) as t, percent_rank() over (order by n nulls first) as p, cume_dist() over (order by n) as c, k from odd order by k
select percentile_cont(0.3) within group (order by ply), stddev_pop(ply), mode(side(fen)), any_value(1) from positions
select k from odd o where exists (select 1 from odd i where i.n > o.n) order by k
select sum(distinct n::double), avg(distinct k), count(distinct s) from odd
select k, count(*) filter (where n > 0) over (order by k) as c from odd order by k
select result as r from games union select 5 order by r
select bool_and(b), bool_or(b), every(k > 0) from odd
select a.k, b.k as bk from odd a join odd b on a.k = b.k + 1 or a.n = b.n order by a.k, bk
select count(*) as n from odd having count(*) > 3
select list_extract(l, 1), list_sort(l), list_filter(l, lambda i: i > 1), list_contains(l, 7), len(l), l[1:2] from odd order by k
select list_sum(l), list_max(l), list_avg(l), list_distinct(l), list_reverse(l), array_to_string(l, '-') from odd order by k
with recursive t(x) as (select 1 union all select x * 2 from t where x < 1000) select x from t order by x
select kind, count(*) as n from costs group by rollup(kind) order by kind nulls last
select iteration, reason, count(*) as n from games group by cube(iteration, reason) order by 1 nulls last, 2 nulls last
select summary->>'games' as g, json_extract(params, '$.games') as p from steps order by step
select m, count(*) as n from (select unnest(moves) as m from games) group by m order by n desc, m limit 10
select distinct on (reason) reason, game from games order by reason, iteration, game
select game, row_number() over (partition by iteration order by game) as r from games qualify r = 1 order by game, r
select * from (select k, n from odd) pivot (sum(k) for n in (5, 0))
select -7 % 3, 7 % -3, -7 // 2, 7 // 2, 3 / 2, 1 / 0, 0 / 0.0, round(2.5), round(-2.5), round(1.005, 2), trunc(-2.7)
select nullif(1, 1), coalesce(null, 2), greatest(1, null, 3), least(2, 1), ifnull(null, 'x')
select case when null then 1 else 2 end, null = null, null <> 1, not null, null and false, null or true
select 'a' || null, concat('a', null), length('Ä'), upper('ä'), substr('abcdef', 2, 3), left('abc', 2), replace('aXa', 'a', 'b'), reverse('abc')
select s like 'A%', s ilike 'A%', s similar to '[a-z]', regexp_matches(s, '^[ab]$') from odd order by k
select string_agg(s, ',' order by k), list(n order by k), first(s order by k), last(s order by k), max_by(s, k), arg_min(k, n) from odd
select median(n::double), quantile_cont(k, [0.25, 0.5]), mad(k), kurtosis(k), skewness(k), corr(k, k * 2), regr_slope(k, k * 3) from odd
select avg(n::double), sum(x) filter (where not isnan(x)), count(x), count(*), min(s), max(s), min(b), max(b), product(k) from odd
select sum(k) from odd where false
select count(*), avg(k), max(s) from odd where false
select n, count(*) from odd group by n order by n nulls first
select k, lag(k) over (order by k), lead(k, 2, -1) over (order by k), first_value(s) over (order by k), nth_value(k, 2) over (order by k) from odd order by k
select k, sum(k) over (order by n range between unbounded preceding and current row) as s from odd order by k
select k, sum(k) over (order by k range between 2 preceding and 1 following) as s from odd order by k
select k, avg(x) over (order by k rows between 1 preceding and 1 following exclude current row) from odd where k < 8 order by k
select date '2024-02-29' + interval 1 year as d, timestamp '2024-01-01 10:00:00' as t, {'a': 1, 'b': 'x'} as s, map {'k': 1} as m
select 170141183460469231731687303715884105727::hugeint
select 1::utinyint - 2::utinyint
select [1, 2, null] as l, [[1], [2, 3]] as ll, ['a', null] as ls, []::int[] as e, null::int[] as n
select 0.1 + 0.2, 0.1::float + 0.2::float, 1.10::decimal(5, 2) * 3, 1e308 * 10, -1e308 * 10, 'nan'::double
select cast('12' as int), try_cast('x' as int), cast(2.5 as int), cast(3.5 as int), cast(true as int), cast(-0.5 as int)
select cast('x' as int)
select sum(s) from odd
select nothing from odd
select * from odd where k = 'x'
select k from odd order by s collate nocase, k
select k from odd order by s desc nulls last, k limit 3 offset 2
select k from odd order by n desc, k
(select k from odd where k < 3) except (select 2) order by k
select k from odd where k < 5 intersect select k from odd where k > 2 order by k
select a.k from odd a semi join odd b on a.n = b.k order by a.k
select a.k from odd a anti join odd b on a.n = b.k order by a.k
select a.k, b.k as o from odd a full join odd b on a.k = b.n order by a.k nulls last, o nulls last
select a.k, c from odd a, lateral (select a.k * 2 as c) order by a.k
select k, (select count(*) from odd i where i.n = o.n) as c from odd o order by k
select * exclude (l) replace (k + 1 as k) from odd order by k
select columns('k|n') from odd order by k
select k from odd where (n, s) in (select n, s from odd where k = 1) order by k
select count(distinct (n, s)) from odd
select k, row(k, s) as r from odd order by k limit 2
values (1, 'a'), (2, 'b')
from odd select k where k > 7 order by k
select material(fen), piece_count(fen), phase(fen), side(fen), uci(played), policy_entropy(visits) from positions order by iteration, game, ply
select material(null), side('nonsense'), policy_entropy([]::double[]), policy_entropy([1, 1]), policy_entropy(null)
select uci(m) from (values (1804), (-1), (20479), (20480), (65535), (null)) as v(m)
select material(f), phase(f), piece_count(f), side(f), board(f) from (values ('hello'), (''), ('8/8/8/8/8/8/8/8 x'), ('8/8/8/8/8/8/8/44 w'), ('8/8 w'), ('8/8/8/8/8/8/8/44444 w - - 0 1'), ('8/8/8/8/8/8/8/9 w'), ('xyz5/8/8/8/8/8/8/8 w - - 0 1'), ('zz6/8/8/8/8/8/8/8 w'), ('......../8/8/8/8/8/8/8 w'), ('8/8/8/8/8/8/8/8/8 w'), (null)) as v(f)
select avg(root_q), avg(net_q * root_q), sum(root_q), max(root_d), stddev(root_q), var_pop(net_d) from positions
select bit_count(played), played ^ 2, played | 1, ~played, xor(played, 5) from positions order by iteration, game, ply limit 5
select floor(root_q * 5) / 5 as v, count(*) from positions group by v order by v
select approx_count_distinct(1) > 0, bit_and(k), bit_or(k), bit_xor(k) from odd
select histogram(k // 3) from odd
select generate_series(1, 3), range(3), list_zip([1, 2], ['a', 'b']), list_transform([1, 2], lambda i: i * i)
select extract(year from date '2024-05-06'), strftime(date '2024-05-06', '%d.%m.%Y'), date_diff('day', date '2024-01-01', date '2024-03-01')
""".strip().splitlines()

NUMBERS = ["k", "n", "k + 1", "k * k", "x", "coalesce(x, 0)", "len(l)", "-k", "k % 3", "k // 2", "abs(k - 5)", "k / 2", "n - k", "nullif(k, 3)",
           "case when b then k else -k end", "l[1]", "list_sum(l)", "length(s)", "round(x, 1)", "k::double", "sign(n)", "greatest(k, n)", "k ** 2"]
TEXTS = ["s", "upper(s)", "s || '!'", "coalesce(s, 'none')", "left(s, 1)", "k::varchar", "case when k > 4 then 'big' else s end"]
TRUTHS = ["b", "k > 3", "n = 5", "s is null", "x < 1", "n between -7 and 5", "s like '%a%'", "k in (1, 2, n)", "not b", "n is not null and k < 6",
          "b or k = 9", "exists (select 1 from odd i where i.k > odd.k + 6)", "n >= all (select k from odd where k < 4)", "k = any (select n from odd)"]
AGGREGATES = ["count(*)", "count({0})", "sum({0}::double)", "avg({0})", "min({0})", "max({0})", "count(distinct {0})", "median({0})", "stddev({0}::double)",
              "sum({0}::double) filter (where k > 3)", "quantile_cont({0}, 0.75)", "list({0} order by k)", "max_by(s, k)", "any_value({0} order by k)", "var_pop({0}::double)"]
WINDOWS = ["row_number() over (order by k{1})", "sum({0}::double) over ({2}order by k{1})", "avg({0}) over ({2}order by k rows between 2 preceding and current row)",
           "lag({0}) over ({2}order by k)", "lead({0}, 2) over ({2}order by k)", "rank() over ({2}order by n{1})", "dense_rank() over ({2}order by s{1})",
           "count(*) over ({2}order by k rows between unbounded preceding and 1 preceding)", "max({0}) over ({2}order by k rows between current row and unbounded following)",
           "first_value({0}) over ({2}order by k)", "last_value({0}) over ({2}order by k rows between unbounded preceding and unbounded following)",
           "min({0}) over ({2}order by k rows between 1 following and 3 following)", "sum(k) over ({2}order by n range between unbounded preceding and current row)"]
JOINS = ["join", "left join", "right join", "full join", "semi join", "anti join"]
CONDITIONS = ["a.k = c.k", "a.n = c.k", "a.k = c.n and a.k < c.k + 3", "a.k < c.k and c.k < 4", "a.s = c.s", "a.k = c.k and c.b", "a.n is not distinct from c.n", "a.k = c.k - 1 or a.n = c.n"]
STRINGS = ["trim(s)", "lpad(s, 4, '*')", "rpad(s, 3, '-')", "repeat(s, k % 4)", "substr(s, k % 3, 2)", "s[1:2]", "s[-1]", "strpos(s, 'a')", "instr(s, '''')", "ascii(s)",
           "chr(64 + k::int)", "split_part('a-b-c', '-', k::int % 5)", "string_split(s, 't')", "regexp_replace(s, '[aeiou]', '_', 'g')", "regexp_extract(s, '([a-z]+)', 1)",
           "starts_with(s, 'a')", "s ^@ 'a'", "contains(s, 't')", "suffix(s, 's')", "translate(s, 'ab', 'xy')", "lower(s)", "s collate nocase = 'A'", "levenshtein(s, 'ab')",
           "md5(s)", "length(s) + octet_length(s::blob)", "format('{}-{}', k, s)", "printf('%03d', k)", "s like '_'", "s not like '%a%'", "s glob '[ab]*'",
           "concat_ws('/', s, k, null)", "position('a' in s)", "left(s, -1)", "right(s, 1)", "unicode(s)", "hex(s)", "bar(k, 0, 9, 4)"]
DATES = ["date '2024-01-31' + k::int", "date '2024-01-31' + interval (k) month", "date_trunc('month', date '2024-03-15' + (k * 20)::int)", "extract(dow from date '2024-02-27' + k::int)",
         "date_diff('week', date '2023-12-31', date '2024-01-01' + (k * 9)::int)", "strftime(date '2024-12-30' + k::int, '%G-W%V %j')", "year(date '1999-12-31' + k::int)",
         "last_day(date '2023-12-15' + interval (k) month)", "monthname(make_date(2024, 1 + k::int % 12, 1))", "date_part('epoch', timestamp '1970-01-02' + interval (k) hour)",
         "age(date '2024-03-01', date '2024-02-01' + k::int)::varchar", "timestamp '2024-01-01 23:59:59' + interval (k) second", "strptime('2024-02-' || lpad(k::varchar, 2, '0'), '%Y-%m-%d')",
         "try_strptime('2024-02-3' || k::varchar, '%Y-%m-%d')", "quarter(date '2024-01-01' + (k * 40)::int)", "date '2024-01-01' < date '2023-12-28' + k::int"]
CASTS = ["try_cast(n as int)", "try_cast(n as smallint)", "try_cast(x as bigint)", "try_cast(s as int)", "n::double", "n::hugeint + 1", "try_cast(k * 100 as utinyint)", "x::float", "b::int",
         "k::varchar::double", "try_cast(x as int)", "(k / 3)::decimal(6, 3)", "(x::varchar)", "n::varchar", "l::varchar", "try_cast('1e' || k as double)", "(k - 5)::boolean", "n % 10::bigint",
         "cast(k + 0.5 as int)", "cast(-k - 0.5 as int)", "try_cast(-k as uint16)", "9223372036854775807 - k", "k * 1000000007 % 998244353", "1 << k::int", "(-8) >> k::int", "isnan(x)", "isfinite(x)"]
LISTS = ["list_transform(l, lambda i: coalesce(i, 0) * k)", "list_filter(l, lambda i: i % 2 = 1)", "list_reduce(list_prepend(0::bigint, list_filter(l, lambda i: i is not null)), lambda a, i: a + i)",
         "l[2:]", "l[-1]", "l[:-2]", "list_append(l, n)", "list_concat(l, [k])", "list_position(l, 5)", "list_unique(l)", "list_has_any(l, [3, 7])", "list_sort(l, 'desc', 'nulls last')",
         "flatten([l, [k]])", "list_slice(l, 1, 2)", "array_length(l)", "len(list_filter(l, lambda i: i > k))", "list_aggregate(l, 'max')", "[i * 2 for i in l if i > 1]", "list_zip(l, [k, n])[1]",
         "list_indexof(l, 1)", "list_min(l)", "list_product(l)", "list_any_value(l)", "k in l", "list_count(l)", "list_resize(l, 2, 0)", "list_grade_up(l)", "generate_series(1, k, 3)",
         "list_transform(range(k), lambda i, j: i + j)", "list_contains(l, n)", "l = [5, 5]", "l < [3]", "list_median(l)", "list_bit_xor(l)"]
FRAME_ENDS = ["unbounded preceding", "2 preceding", "1 preceding", "current row", "1 following", "3 following", "unbounded following"]
# Sums of floating-point numbers of both signs and 1e300 depend on their order.
CALM = "odd where k not in (4, 5, 8)"


class Generator:
    """Statements by chance, each with one right answer: all selected columns order the rows."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def choice(self, options):
        return self.random.choice(options)

    def some(self, options, most):
        return [self.choice(options) for _ in range(self.random.randint(1, most))]

    def value(self):
        return self.choice(self.choice([NUMBERS, NUMBERS, TEXTS, TRUTHS]))

    def where(self):
        return self.choice(["", "", f" where {self.choice(TRUTHS)}", f" where {self.choice(TRUTHS)} and {self.choice(TRUTHS)}", f" where not ({self.choice(TRUTHS)})"])

    def named(self, expressions):
        return ", ".join(f"{expression} as c{index}" for index, expression in enumerate(expressions))

    def order(self, count):
        keys = [f"c{index}" + self.choice(["", " desc", " nulls first", " desc nulls last"]) for index in range(count)]
        self.random.shuffle(keys)
        limit = self.choice(["", "", f" limit {self.random.randint(0, 6)}", f" limit 4 offset {self.random.randint(0, 4)}"])
        return " order by " + ", ".join(keys) + limit

    def plain(self):
        items = [self.value() for _ in range(self.random.randint(1, 4))]
        distinct = self.choice(["", "", "distinct "])
        return f"select {distinct}{self.named(items)} from odd{self.where()}{self.order(len(items))}"

    def grouped(self):
        keys = self.some([*NUMBERS[:9], *TEXTS, *TRUTHS[:8]], 2)
        aggregates = [aggregate.format(self.choice(NUMBERS[:9])) for aggregate in self.some(AGGREGATES, 3)]
        by = ", ".join(str(index + 1) for index in range(len(keys)))
        by = self.choice([by, "all"])
        having = self.choice(["", "", " having count(*) > 1", " having max(k) < 7"])
        return f"select {self.named(keys + aggregates)} from {CALM} group by {by}{having}{self.order(len(keys) + len(aggregates))}"

    def window(self):
        partition = self.choice(["", "partition by s ", "partition by k % 2 ", "partition by b, n "])
        down = self.choice(["", " desc"])
        items = ["k"] + [window.format(self.choice(NUMBERS[:9]), down, partition) for window in self.some(WINDOWS, 3)]
        return f"select {self.named(items)} from {CALM}{self.order(len(items))}"

    def joined(self):
        join = self.choice(JOINS)
        items = ["a.k", "a.s"] + ([] if join in ("semi join", "anti join") else ["c.k", "c.n"])
        return f"select {self.named(items)} from odd a {join} odd c on {self.choice(CONDITIONS)}{self.order(len(items))}"

    def combined(self):
        operator = self.choice(["union", "union all", "except", "intersect", "except all", "intersect all"])
        value = self.choice(NUMBERS[:4])
        return f"select {value} as c0 from odd{self.where()} {operator} select {self.choice(['k', 'n', 'k + 1'])} from odd{self.where()}{self.order(1)}"

    def nested(self):
        inner = f"select {self.choice(TEXTS)} as g, {self.choice(NUMBERS[:4])} as v from odd{self.where()}"
        return f"select g as c0, count(*) as c1, max(v) as c2 from ({inner}) group by g{self.order(3)}"

    def stored(self):
        statements = [
            "select {0} as c0, count(*) as c1, avg({1}) as c2 from positions group by c0{2}",
            "select {0} as c0, min({1}) as c1, max({1}) as c2 from positions group by c0 having count(*) > 3{2}",
            "select iteration as c0, count(distinct {0}) as c1, sum({1}::double) as c2 from positions group by c0{2}",
        ]
        keys = ["side(fen)", "material(fen)", "ply // 5", "piece_count(fen)", "legal", "len(visits)", '"full"', "result", "played % 64"]
        values = ["root_q", "net_d", "legal", "ply", "list_max(visits)", "policy_entropy(target)", "simulations", "abs(root_q - net_q)"]
        return self.choice(statements).format(self.choice(keys), self.choice(values), self.order(3))

    def mixed(self):
        """Functions of texts, dates, lists and casts."""
        items = ["k"] + [self.choice(self.choice([STRINGS, DATES, CASTS, LISTS])) for _ in range(self.random.randint(1, 4))]
        return f"select {self.named(items)} from odd{self.where()} order by c0"

    def framed(self):
        """Window functions with any frame; k is unique, so that rows have one order."""
        kind, (first, last) = self.choice(["rows", "rows", "range", "groups"]), sorted(self.random.sample(range(len(FRAME_ENDS)), 2))
        exclude = self.choice(["", "", "", " exclude current row", " exclude group", " exclude ties", " exclude no others"])
        frame = f"{kind} between {FRAME_ENDS[min(first, 5)]} and {FRAME_ENDS[max(last, 1)]}{exclude}"
        partition = self.choice(["", "partition by s ", "partition by k % 2 "])
        key, value = self.choice(["k", "k desc"]), self.choice(["k", "n", "k * k", "length(s)", "coalesce(x, 0)"])
        functions = ["count(*)", f"count({value})", f"sum({value})", f"min({value})", f"max({value})", f"avg({value})", f"first_value({value})", f"last_value({value})", f"nth_value({value}, 2)",
                     "list(k order by k)", "string_agg(s, '' order by k)", f"sum({value}) filter (where b)", f"median({value})", f"first_value({value} ignore nulls)", f"last_value({value} ignore nulls)",
                     "bool_or(b)", f"count(distinct {value})", f"arg_max(k, {value})", "any_value(k order by k)"]
        named = [f"{function} over w as c{index + 1}" for index, function in enumerate(self.some(functions, 3))]
        return f"select k as c0, {', '.join(named)} from {CALM} window w as ({partition}order by {key} {frame}) order by c0"

    def chained(self):
        """Set operations in a row, some of them by name."""
        part = lambda: f"select {self.choice(['k', 'n', 'k % 4', 'k // 2'])} as a, {self.choice(['s', 'upper(s)', 'null'])} as d from odd{self.where()}"
        if self.choice([True, False]):
            other = f"select {self.choice(TEXTS[:3])} as d, k + 1 as a{self.choice(['', ', b as e'])} from odd{self.where()}"
            return f"select * from ({part()} union {self.choice(['', 'all '])}by name {other}) order by all nulls first"
        operators = ["union", "union all", "except", "intersect", "except all", "intersect all"]
        return f"select * from ((({part()}) {self.choice(operators)} ({part()})) {self.choice(operators)} ({part()})) order by all nulls last"

    def correlated(self):
        """Subqueries that name columns of the query around them."""
        inner = self.choice(["i.n = o.n", "i.k < o.k", "i.s = o.s and i.k <> o.k", "i.k between o.k - 1 and o.k + 1", "i.n is not distinct from o.n", "i.k = o.n"])
        aggregate = self.choice(["count(*)", "max(i.k)", "min(i.s)", "sum(i.k) + o.k", "list(i.k order by i.k)", "count(i.n) filter (where i.b)", "coalesce(avg(i.k), -1)"])
        where = self.choice(["", "", f" where exists (select 1 from odd j where j.k = o.k + {self.random.randint(0, 9)})", " where o.k > (select avg(k) from odd j where j.s = o.s)",
                             " where o.k in (select j.n from odd j where j.k <> o.k)", " where o.n not in (select j.k from odd j where j.s is not distinct from o.s)", " where not exists (select 1 from odd j where j.n > o.n)"])
        if self.choice([True, False]):
            return f"select o.k as c0, (select {aggregate} from odd i where {inner}) as c1 from odd o{where} order by c0"
        side, on = self.choice([("cross join lateral", ""), ("left join lateral", " on true")])
        return f"select o.k as c0, t.m as c1 from odd o {side} (select i.k as m from odd i where {inner} order by i.k limit {self.random.randint(1, 3)}) t{on}{where} order by c0, c1 nulls last"

    def common(self):
        """Common table expressions, some recursive."""
        limit, step = self.random.randint(3, 40), self.random.randint(1, 4)
        kept, join = self.choice(["not materialized", "materialized", ""]), self.choice(["join", "left join"])
        return self.choice([
            f"with a as {kept} (select k, n, s from odd{self.where()}), c as (select s, count(*) as m, max(k) as t from a group by s) "
            f"select a.k, a.s, c.m, c.t from a {join} c on a.s {self.choice(['=', 'is not distinct from'])} c.s order by all",
            f"with recursive t(a, d) as (select 1, 0 union all select a + d + {step}, a from t where a < {limit}) select a, d from t order by a, d",
            f"with recursive t(a) as (select k % {limit} from odd union select (a * {step} + 1) % {limit} from t) select a, count(*) over () as m from t order by a",
            f"with recursive p(k, path) as (select k, [k] from odd where k <= {step} union all select o.k, list_append(p.path, o.k) from p join odd o on o.k = p.k + {step} where len(p.path) < 6) "
            "select k, path from p order by k, path",
        ])

    def sets(self):
        """Grouping sets, with grouping()."""
        first, second = self.random.sample(["s", "b", "k % 3", "n", "k > 4"], 2)
        sets = self.choice([f"rollup ({first}, {second})", f"cube ({first}, {second})", f"grouping sets (({first}), ({second}), ())", f"grouping sets (({first}, {second}), ({first}))"])
        aggregate = self.choice(AGGREGATES).format(self.choice(["k", "n", "length(s)"]))
        return f"select {first} as c0, {second} as c1, grouping({first}, {second}) as g, {aggregate} as v from {CALM} group by {sets} order by g, c0 nulls last, c1 nulls last"

    def starred(self):
        """Stars and quoted names."""
        items = self.choice(["* exclude (l)", "* exclude (l, x)", "* replace (k + 1 as k)", "* exclude (l) replace (upper(s) as s)", "columns('^[kn]$')", "columns(lambda c: c in ('k', 'b'))",
                             '* rename (k as "the key")', "max(columns('^[kn]$'))", 'k as "select", s as "a b"', "odd.*", "coalesce(columns('^[kn]$'), 0)", 'k as "K k", "n" % 7 as "ü"'])
        order = "" if items.startswith("max") else " order by 1"
        return f"select {items} from odd{self.where()}{order}"

    def turned(self):
        """Pivots, unpivots, the first rows of groups, lists as rows, and joins to the last row before."""
        value, key = self.choice(["sum(k)", "count(*)", "max(n)", "list(k order by k)"]), self.choice(["s", "b", "n"])
        rank = self.choice(["row_number", "rank", "dense_rank"])
        return self.choice([
            f"select * from (select k % 3 as r, b, k, n from odd) pivot ({value} for b in (true, false)) order by all",
            f"from (pivot (select k % 2 as r, s, k, n from odd) on s in ('a', 'b', 'it''s') using {value}) order by all",
            f"select * from (select k, n, k * 2 as m from odd{self.where()}) unpivot{self.choice(['', ' include nulls'])} (v for name in (n, m)) order by all",
            f"select distinct on ({key}) k, s, b, n from odd order by {key} nulls first, k",
            f"select s, b, k, {rank}() over (partition by {key} order by {self.choice(['k', 'k desc', 'n, k'])}) as r from odd qualify r <= {self.random.randint(1, 2)} order by all",
            f"select unnest(l) as u, k from odd{self.where()} order by k, u nulls last",
            f"select u, count(*) as m from (select unnest(l) as u from odd{self.where()}) group by u order by all",
            f"select k, {self.choice(NUMBERS[:9])} as v from odd order by {self.choice(['v', 'abs(v)', '-v', 'v % 2'])} nulls last, k limit {self.random.randint(1, 5)}",
            "select a.k, c.k as d from odd a asof join (select k + 1 as k from odd where b) c on a.k >= c.k order by all",
        ])

    def statement(self):
        kinds = [self.plain, self.grouped, self.window, self.joined, self.combined, self.nested, self.stored, self.mixed, self.mixed, self.framed, self.framed, self.chained,
                 self.correlated, self.common, self.sets, self.starred, self.turned]
        statement = self.choice(kinds)()
        return statement


def with_odd(statement):
    """The statement with the table `odd`, where it is named."""
    if "odd" not in statement:
        return statement
    if statement.startswith("with recursive "):
        return statement.replace("with recursive ", f"with recursive {ODD}, ", 1)
    if statement.startswith("with "):
        return statement.replace("with ", f"with {ODD}, ", 1)
    return f"with {ODD} {statement}"


def write(folder, count=600, seed=20):
    generator = Generator(seed)
    # What someone asks who studies runs, each on a line.
    asked = Path(__file__).with_name("analyst_statements.sql").read_text().splitlines()
    statements = [*WRITTEN, *asked, *(generator.statement() for _ in range(count - len(WRITTEN)))]
    lines = [json.dumps({"title": f"statement {number}", "statement": with_odd(statement)}) for number, statement in enumerate(statements)]
    (folder / "statements.jsonl").write_text("\n".join(lines) + "\n")


# A number in text with more digits than people write.
MEAN = re.compile(r"-?\d+\.\d{10,}")


def plain(value):
    """A value as dc0 writes it: numbers, texts, truth values and lists."""
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"inf": "inf", "-inf": "-inf"}.get(str(value), "NaN")
    return value


def same(own, other):
    other = plain(other)
    if isinstance(other, list):
        return isinstance(own, list) and len(own) == len(other) and all(map(same, own, other))
    if own is None or other is None or isinstance(own, bool) or isinstance(other, bool):
        return own is other
    if isinstance(other, (dict, tuple, str, datetime.date, datetime.datetime)):
        # What has no type in dc0 is text, which DuckDB writes; Python writes structs and maps differently.
        if not isinstance(own, str) or isinstance(other, (dict, tuple)):
            return isinstance(own, str)
        # SUMMARIZE writes means and deviations as text; their last digits depend on the order in which threads add.
        if MEAN.fullmatch(own) and MEAN.fullmatch(str(other)):
            return math.isclose(float(own), float(other), rel_tol=1e-9)
        return own == str(other)
    if isinstance(own, int) and isinstance(other, int):
        return own == other
    return math.isclose(float(own), float(other), rel_tol=1e-5, abs_tol=1e-9)


def difference(connection, answer):
    """What differs, or None; and whether both refused."""
    try:
        cursor = connection.sql(answer["statement"])
        names = [] if cursor is None else cursor.columns
        rows = [] if cursor is None else cursor.fetchall()
    except duckdb.Error as error:
        return (None, True) if "error" in answer else (f"DuckDB refuses: {error}", False)
    if "error" in answer:
        # dc0's integers are 64 bits wide.
        wide = any(isinstance(value, int) and not -(2**63) <= value < 2**63 for row in rows for value in row)
        return (None, True) if wide else (f"dc0 refuses: {answer['error']}", False)
    if len(rows) != len(answer["rows"]):
        return f"{len(rows)} rows, dc0 has {len(answer['rows'])}", False
    if len(names) != len(answer["columns"]):
        return f"columns {names}, dc0 has {answer['columns']}", False
    for number, (other, own) in enumerate(zip(rows, answer["rows"])):
        if not all(map(same, own, other)):
            return f"row {number}: {list(other)}, dc0 has {own}", False
    return None, False


def compare(folder):
    connection = duckdb.connect()
    connection.execute((folder / "views.sql").read_text())
    equal = refused = 0
    wrong = []
    for line in (folder / "answers.jsonl").read_text().splitlines():
        answer = json.loads(line)
        found, is_refused = difference(connection, answer)
        if found:
            wrong.append(f"{answer['statement']}\n    {found}")
        elif is_refused:
            refused += 1
        else:
            equal += 1
    print(f"{equal} equal, {refused} refused by both, {len(wrong)} different")
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder]:
            write(Path(folder))
        case ["write", folder, count, seed]:
            write(Path(folder), int(count), int(seed))
        case ["compare", folder]:
            sys.exit(compare(Path(folder)))
        case _:
            sys.exit("usage: sql_statements.py write FOLDER [COUNT SEED] | compare FOLDER")
