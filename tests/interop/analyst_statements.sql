select g.iteration, g.reason, count(distinct g.game) as games, count(*) as positions, round(avg(p.root_q), 6) as q from games g join positions p using (iteration, game) group by all order by all
select p.iteration, p.game, max(p.ply) - min(p.ply) + 1 as span, count(*) as rows from positions p group by p.iteration, p.game having span <> rows order by all
select iteration, game, ply, root_q, lag(root_q) over (partition by iteration, game order by ply) as before, abs(root_q + lag(root_q) over (partition by iteration, game order by ply)) as swing from positions qualify swing > 0.3 order by swing desc, iteration, game, ply limit 15
select iteration, avg(swing) as volatility from (select iteration, game, ply, abs(root_q + lag(root_q) over w) as swing from positions window w as (partition by iteration, game order by ply)) where swing is not null group by iteration order by iteration
select * from (select iteration, reason from games) pivot (count(*) for reason in ('checkmate', 'stalemate', 'threefold', 'fifty_moves', 'ply_cap', 'insufficient_material') group by iteration) order by iteration
pivot (select iteration, result, len(moves) as plies from games) on result in (-1, 0, 1) using avg(plies) group by iteration order by iteration
unpivot (select net, "update", policy_loss, value_loss from training) on policy_loss, value_loss into name kind value loss order by net, "update", kind
from (select iteration, count(*) as games, sum(len(moves)) as plies from games group by all) unpivot (amount for what in (games, plies)) order by iteration, what
select net, max("update") as updates, arg_min(loss, "update") as first_loss, arg_max(loss, "update") as last_loss, arg_max(loss, "update") / arg_min(loss, "update") - 1 as change from training group by net order by net
select t.net, t."update", t.loss as training, v.loss as validation, v.loss - t.loss as gap from training t join validation v using (net, "update") order by all
select t.net, t."update", t.loss, v."update" as at, v.loss as held_out from training t asof join validation v on t.net = v.net and t."update" >= v."update" order by t.net, t."update"
select v.net, v."update", t."update" as trained from validation v left join training t on v.net = t.net and v."update" = t."update" where t."update" is null order by all
select net, regr_slope(loss, "update") as slope, regr_r2(loss, "update") as r2, corr(policy_loss, value_loss) as together from training group by net order by net
select net, "update", loss, avg(loss) over (partition by net order by "update" rows between 3 preceding and current row) as smooth, loss - min(loss) over (partition by net order by "update") as above_best from training order by net, "update"
select net, count(*) filter (where loss < before) as falls, count(*) filter (where loss >= before) as rises from (select net, loss, lag(loss) over (partition by net order by "update") as before from training) group by net order by net
with steps_of as (select net, "update", "update" - lag("update", 1, 0) over (partition by net order by "update") as step from training) select net, min(step), max(step), sum(step) from steps_of group by net order by net
select first, second, count(*) as games, sum(score) as points, round(avg(score), 4) as score, count(*) filter (where score = 0.5) as draws from matches group by first, second order by all
select "match", pair, count(*) as games, sum(score) as points, bool_or(first_is_white) and bool_or(not first_is_white) as both_colours, count(distinct start_fen) as starts from matches group by all order by all
select "match", points, count(*) as pairs from (select "match", pair, sum(score) as points from matches group by all) group by all order by all
select "match", avg(score) as mean, stddev_samp(score) / sqrt(count(*)) as error, avg(score) - 1.96 * stddev_samp(score) / sqrt(count(*)) as low from matches group by "match" order by "match"
select "match", -400 * log10(1 / nullif(avg(score), 0) - 1) as elo from matches group by "match" having avg(score) between 0.01 and 0.99 order by "match"
select a.player, b.player as other, round(a.elo - b.elo, 6) as lead from ratings a join ratings b on a.player < b.player where a.elo is not null and b.elo is not null order by all
select r.player, r.games, s.kind, s.number from ratings r left join steps s on s.network = r.player and s.kind in ('network', 'train') order by all
select player, rank() over (order by elo desc nulls last, player) as place, wins + draws + losses = games as adds_up, (wins + 0.5 * draws) / games - score as off from ratings order by player
select kind, count(*) as steps, sum(games) as games, sum(positions) as positions, sum(updates) as updates from costs group by kind order by kind
select kind, count(*) as n, count(games) as with_games, count(*) - count(games) as without, coalesce(sum(games), 0) as games from costs group by rollup (kind) order by kind nulls last
select s.step, s.kind, c.kind = s.kind as agrees, c.number is not distinct from s.number as same_number, c.bytes = s.bytes as same_bytes from steps s join costs c using (step) order by step
select kind, sum(bytes) as bytes, round(100.0 * sum(bytes) / sum(sum(bytes)) over (), 3) as share from costs group by kind order by bytes desc, kind
select step, kind, sum(coalesce(evaluations, 0)) over (order by step) as evaluations from costs order by step
select kind, max(largest_batch) as largest, avg(batch_fill) between 0 and 1 as fills, bool_and(net_idle between 0 and 1) as idle from costs where mean_batch is not null group by kind order by kind
select list(kind order by step) as kinds from costs
select string_agg(kind || coalesce(' ' || lpad(number::varchar, 4, '0'), ''), ', ' order by step) as plan from costs
select kind, list(step order by step desc)[1:3] as latest, list_min(list(step)) as earliest from costs group by kind order by kind
select step, json_extract_string(params, '$.games') as games, params->'$.search.simulations' as simulations, summary->>'games' as played from steps where kind = 'self_play' order by step
select step, json_keys(summary) as figures from steps where kind = 'train' order by step
select step, try_cast(summary->>'loss' as double) as loss from steps where kind = 'train' order by step
select kind, count(*) as steps, sum(json_array_length(json_keys(parameters))) as names from steps group by kind order by kind
select step, typeof(summary) as type, typeof(step) as number from steps order by step limit 1
select step, games from steps where games is not null order by step
select s.step, count(g.game) as games from steps s left join games g on g.iteration = s.number and s.kind = 'self_play' group by s.step order by s.step
select ply, count(*) as n, avg(legal) as legal, quantile_cont(legal, 0.9) as high, quantile_disc(legal, 0.5) as middle from positions group by ply order by ply
select iteration, quantile_cont(len(moves), [0.1, 0.5, 0.9]) as plies, mode(reason) as ending, mad(len(moves)) as spread from games group by iteration order by iteration
select iteration, approx_quantile(len(moves), 0.5) between min(len(moves)) and max(len(moves)) as within from games group by iteration order by iteration
select least(floor(2 * root_q + 2), 3) as bucket, count(*) from positions group by all order by all
select floor(4 * root_q) / 4 as bin, count(*) as n, avg(result) as scored, avg(root_q) as expected, sqrt(avg((result - root_q) ** 2)) as error from positions group by bin order by bin
select case when abs(root_q) < 0.1 then 'level' when root_q > 0 then 'better' else 'worse' end as state, count(*) as n, avg(result) as result from positions group by state order by state
select sum((result - root_q) ** 2) / count(*) as search_error, sum((result - net_q) ** 2) / count(*) as net_error from positions
select iteration, avg((result = sign(root_q))::int) as hits, count(*) filter (where result = 0) / count(*) as drawn from positions group by iteration order by iteration
select p.iteration, p.game, p.ply, p.played, g.moves[p.ply + 1] as move from positions p join games g using (iteration, game) where p.played <> g.moves[p.ply + 1] order by all
select iteration, game, ply, list_max(visits) as most, moves[list_position(visits, list_max(visits))] as best, played from positions where "full" order by iteration, game, ply limit 20
select avg((moves[list_position(visits, list_max(visits))] = played)::int) as greedy, count(*) as n from positions where len(visits) > 0
select iteration, game, ply, list_sum(target) as total, len(target) = len(moves) as aligned from positions where abs(list_sum(target) - 65535) > len(target) order by all
select iteration, avg(list_sum(list_transform(target, lambda t: case when t > 0 then -(t / 65535) * ln(t / 65535) else 0 end))) as entropy from positions where "full" group by iteration order by iteration
select iteration, round(avg(policy_entropy(target)), 5) as own, round(avg(policy_entropy(visits)), 5) as visited from positions where "full" group by iteration order by iteration
select list_filter(list_zip(moves, visits), lambda x: x[2] = list_max(visits))[1][1] as best, played from positions where len(visits) > 0 order by iteration, game, ply limit 10
select m & 63 as source, count(*) as n from (select unnest(moves) as m from games) group by source order by n desc, source limit 10
select uci(m) as move, count(*) as n from (select unnest(moves) as m from games) group by move order by n desc, move limit 10
select unnest(moves[:2]) as m, unnest(range(1, 3)) as place, iteration, game from games order by iteration, game, place limit 20
select moves[:4] as opening, count(*) as n, avg(result) as white from games group by opening having count(*) > 0 order by n desc, opening limit 10
select list_aggregate(list_transform(moves, lambda m: m >> 12), 'sum') as promotions, count(*) as games from games group by promotions order by promotions
select iteration, game, len(list_filter(moves, lambda m: m >> 12 > 0)) as promoted from games order by promoted desc, iteration, game limit 5
select iteration, game, list_unique(moves) as distinct_moves, len(moves) as plies, len(list_distinct(moves)) = list_unique(moves) as agree from games order by all limit 10
select split_part(fen, ' ', 2) as side, avg(root_q) as q, avg(result) as r, count(*) as n from positions group by side order by side
select side(fen) as side, split_part(fen, ' ', 3) as castling, count(*) as n from positions group by all order by n desc, side, castling limit 12
select try_cast(split_part(fen, ' ', 5) as int) as clock, count(*) as n from positions group by clock order by clock limit 20
select length(replace(regexp_replace(split_part(fen, ' ', 1), '[^A-Za-z]', '', 'g'), ' ', '')) as pieces, count(*) as n, min(piece_count(fen)) as least, max(piece_count(fen)) as most from positions group by pieces order by pieces
select round(phase(fen), 1) as stage, avg(abs(root_q)) as decided, count(*) as n from positions group by stage order by stage desc
select material(fen) as balance, avg(case when side(fen) = 'white' then result else -result end) as white from positions group by balance order by balance
select corr(material(fen) * case side(fen) when 'white' then 1 else -1 end, root_q) as r from positions
select regexp_extract(fen, '^([^ ]+)', 1) as board, count(*) as n from positions group by board having n > 2 order by n desc, board limit 10
select count(*) as positions, count(distinct fen) as fens, count(distinct split_part(fen, ' ', 1)) as boards from positions
select string_split(fen, ' ')[2] as side, string_split(fen, '/')[1] as rank8 from positions order by iteration, game, ply limit 5
with firsts as (select iteration, game, min(ply) as ply from positions group by all) select p.iteration, count(*) as games, avg(p.net_q) as first_value from positions p join firsts using (iteration, game, ply) group by p.iteration order by p.iteration
with lengths as (select iteration, len(moves) as plies from games), stats as (select iteration, avg(plies) as mean, stddev(plies) as spread from lengths group by iteration) select l.iteration, count(*) as outliers from lengths l join stats s using (iteration) where abs(l.plies - s.mean) > 1.5 * s.spread group by l.iteration order by l.iteration
with recursive plies(n) as (select 0 union all select n + 10 from plies where n < 60) select n, (select count(*) from games where len(moves) >= n) as alive from plies order by n
with recursive walk(search, node, depth, visits) as (select search, node, 0, visits from trees where parent = 0 and node = 0 union all select t.search, t.node, w.depth + 1, t.visits from walk w join trees t on t.search = w.search and t.parent = w.node and t.node <> 0 and t.visits = (select max(visits) from trees x where x.search = w.search and x.parent = w.node and x.node <> 0) where w.depth < 3) select * from walk order by all
select search, depth, count(*) as moves, sum(visits) as visits, max(prior) as prior from trees group by all order by all limit 20
select search, sum(prior) filter (where depth = 1) as priors, sum(visits) filter (where depth = 1) as visits from trees group by search order by search
select s.analysis, s.search, s.line, uci(s.played) as move, s.visits, s.q, list_transform(s.pv, lambda m: m & 63) as sources from searches s order by all
select search, line, pv[1] = played as begins, len(pv) as plies, visits <= simulations as within from searches order by analysis, search, line
select puzzle, list(solved order by simulations) as solved, min(solved_from) as "from" from puzzles group by puzzle order by puzzle
select simulations, avg(solved::int) as solved, count(*) as puzzles, bool_and(q between -1 and 1) as in_range from puzzles group by simulations order by simulations
select * from (select puzzle, simulations, solved from puzzles) pivot (bool_or(solved) for simulations in (1, 20)) order by puzzle
select count(*) as n from puzzles where not list_contains("right", played) and solved
select puzzle, player, uci(played) as move, solved, reason, nodes, isnan(milliseconds) as untimed from answers order by suite, puzzle
select suite, avg(solved::int) as solved, count(*) filter (where reason <> '') as without_move from answers group by suite order by suite
select * from staleness order by all
select run, count(*) from steps group by run order by run
select run, seed, backend, device from runs
select r.run, r.seed, s.kind, count(*) as steps from runs r join steps s using (run) group by all order by all
select columns('^(policy|value)_loss$') from training order by net, "update" limit 5
select min(columns(* exclude (run, net))) from training
select * exclude (moves, start_fen) from games order by iteration, game limit 5
select * replace (len(moves) as moves) from games order by iteration, game limit 5
select * rename (reason as ending) from games order by iteration, game limit 2
describe select iteration, game, len(moves) as plies from games
select * exclude (approx_unique) from (summarize select len(moves) as plies from games)
select iteration, result, count(*) as n, grouping(iteration, result) as level from games group by grouping sets ((iteration, result), (iteration), ()) order by level, iteration, result
select reason, count(*) as n from games group by reason union all select 'all', count(*) from games order by n desc, reason
select iteration from games intersect select iteration from positions order by 1
select distinct network from games except select distinct network from steps order by 1
select iteration, game from games where (iteration, game) not in (select iteration, game from positions) order by all
select g.iteration, g.game from games g where not exists (select 1 from positions p where p.iteration = g.iteration and p.game = g.game and p.ply > 10) order by all
select g.iteration, g.game, latest.ply, latest.root_q from games g, lateral (select ply, root_q from positions p where p.iteration = g.iteration and p.game = g.game order by ply desc limit 1) latest order by all limit 10
select iteration, game, (select max(abs(root_q)) from positions p where p.iteration = g.iteration and p.game = g.game) as peak from games g order by peak desc, iteration, game limit 10
select iteration, max(plies) - min(plies) as range from (select iteration, len(moves) as plies from games) group by iteration order by iteration
select iteration, ntile(4) over (order by len(moves), game) as quarter, game from games where iteration = 0 order by quarter, game
select iteration, game, len(moves) as plies, dense_rank() over (partition by iteration order by len(moves) desc) as place from games qualify place <= 2 order by iteration, place, game
select iteration, game, cume_dist() over (partition by iteration order by len(moves)) as share, percent_rank() over (partition by iteration order by len(moves)) as rank from games order by all limit 20
select iteration, count(*) as games, sum(count(*)) over (order by iteration) as so_far, count(*)::double / sum(count(*)) over () as share from games group by iteration order by iteration
select iteration, game, ply, first_value(net_q) over w as first_q, last_value(net_q) over w as last_q, nth_value(net_q, 2) over w as second_q from positions window w as (partition by iteration, game order by ply rows between unbounded preceding and unbounded following) order by iteration, game, ply limit 10
select iteration, game, ply, count(*) over (partition by iteration, game order by ply range between 3 preceding and 3 following) as near from positions order by iteration, game, ply limit 12
select iteration, game, ply, sum(simulations) over (partition by iteration order by game, ply groups between 1 preceding and current row) as s from positions order by iteration, game, ply limit 12
select game, max(ply) filter (where root_q > 0) as last_good from positions where iteration = 0 group by game order by game
select iteration, list(distinct reason order by reason) as reasons, histogram(result) as results from games group by iteration order by iteration
select iteration, max_by(game, len(moves) * 1000 - game) as longest, min_by(game, len(moves) * 1000 + game) as shortest, arg_max(reason, len(moves) * 1000 - game) as how from games group by iteration order by iteration
select iteration, product(1 + result / 10) as p, geomean(len(moves)) as g, kurtosis(len(moves)) as k, entropy(reason) as e from games group by iteration order by iteration
select bit_xor(played) as x, bit_or(played) as o, bit_and(played) as a from positions
select iteration, hash(list(moves order by game)) = hash(list(moves order by game)) as same from games group by iteration order by iteration
select md5(array_to_string(list(fen order by iteration, game, ply), '|')) as digest from positions
select len(moves) // 10 * 10 as tens, bar(count(*), 0, 24, 12) as bar, count(*) as n from games group by tens order by tens
select printf('%04d', iteration) || ':' || game as name, format('{:.3f}', avg(root_q)) as q from positions group by iteration, game order by name limit 10
select cast(avg(len(moves)) as decimal(10, 3)) as plies, cast(sum(len(moves)) as hugeint) as total, avg(len(moves))::int as whole from games
select cast(iteration as varchar) || '/' || cast(game as varchar) as id, cast(result as boolean) as decisive, cast(result as double) / 3 as third from games order by iteration, game limit 5
select try_cast(reason as int) as n, try_cast('12' as int) + iteration as m, iteration::utinyint as t, (-result)::varchar as r from games order by iteration, game limit 3
select sum(simulations) as s, sum(simulations::double) as d, avg(simulations) as a, max(simulations) - min(simulations) as r from positions
select count(*) * 1000000007 % 998244353 as n, sum(game * game) as q, sum(game) / count(*) as m, sum(game) // count(*) as w from games
select 7 // 2 as a, -7 // 2 as b, 7 % -3 as c, 2 ** 10 as d, 1 / 3 as e, 10 / 5 as f, 5 & 3 as g, 1 << 20 as h
select root_q::decimal(4, 2) as q, count(*) as n from positions group by q order by q limit 10
select round(root_q, 1) as q, round(-root_q, 1) as mirrored, count(*) as n from positions group by all order by all limit 10
select isnan(policy_surprise) as unknown, count(*) as n from positions group by all order by all
select avg(policy_surprise) filter (where not isnan(policy_surprise)) as s, max(policy_surprise) as m from positions where "full"
select iteration, coalesce(nullif(reason, 'ply_cap'), 'cut off') as ending, count(*) as n from games group by all order by all
select date '2026-11-25' - interval (iteration) day as d, count(*) as n from games group by d order by d
select date_trunc('week', date '2026-11-25' + (iteration * 7)::int) as week, count(*) as n, min(dayname(date '2026-11-25' + iteration::int)) as day from games group by week order by week
select timestamp '2026-11-25 10:00:00' + to_seconds(game::int) as t, epoch(timestamp '2026-11-25 10:00:00' + to_seconds(game::int)) as e from games where iteration = 0 order by t limit 3
select strftime(make_date(2026, 1 + iteration::int, 28), '%d %b %Y') as d, last_day(make_date(2026, 1 + iteration::int, 28)) as l from games group by iteration order by iteration
select {'iteration': iteration, 'games': count(*)} as s from games group by iteration order by iteration
select map([reason], [count(*)]) as m from games group by reason order by reason
select map_from_entries(list({'k': reason, 'v': n} order by reason))['checkmate'] as mates from (select reason, count(*)::int as n from games group by reason)
select list_sort(list(distinct network)) as nets, len(list(distinct network)) as n from games
select array_slice(moves, 1, 2) as m, array_length(moves) as n, moves[-1] as last, moves[1:3][2] as second from games order by iteration, game limit 5
select list_reduce(list_transform(visits, lambda v: v::bigint), lambda a, b: a + b) as total, list_sum(visits) as same from positions where len(visits) > 0 order by iteration, game, ply limit 10
select [x for x in visits if x > 1] as often, list_reverse_sort(visits)[1:2] as top, list_avg(visits) as mean from positions where len(visits) > 2 order by iteration, game, ply limit 10
select flatten(list(moves[:1] order by iteration, game)) as firsts from games where iteration = 0
select g.generate_series as n, count(p.ply) as searched from generate_series(0, 12, 3) g left join positions p on p.ply = g.generate_series group by n order by n
select a.iteration, b.iteration as other, count(*) as shared from (select distinct iteration, fen from positions) a join (select distinct iteration, fen from positions) b on a.fen = b.fen and a.iteration < b.iteration group by all order by all
select a.game, b.game as twin from games a join games b on a.iteration = b.iteration and a.game < b.game and a.moves = b.moves order by all limit 10
select x.kind, y.kind as next, count(*) as n from costs x join costs y on y.step = x.step + 1 group by all order by n desc, 1, 2
select m.first, avg(m.score) as score, any_value(r.elo is not null) as rated from matches m left join ratings r on r.player = m.first group by m.first order by m.first
select coalesce(g.iteration, s.number) as i, count(g.game) as games, count(distinct s.step) as steps from games g full join (select * from steps where kind = 'self_play') s on g.iteration = s.number group by i order by i
select g.iteration, g.game from games g positional join (select 1 as one from games limit 3) t where one is not null order by all
select iteration, game, result from games order by result desc nulls last, len(moves), iteration, game limit 7 offset 3
select iteration, game from games where reason like '%old%' or reason ilike 'PLY_%' or reason similar to '(stale|check)mate' order by all
select iteration, game from games where len(moves) between 20 and 40 and iteration in (0, 2) and not (result = 0) order by all
select count(*) as n from games where result is not null and result = any (select distinct result from games where reason = 'checkmate')
select count(*) filter (where reason = 'checkmate') as mates, count_if(reason = 'ply_cap') as capped, sum(if(result > 0, 1, 0)) as white from games
select exists (select 1 from matches where reason in ('crash', 'time')) as faults, (select count(*) from rejects) as rejects, (select count(*) from headers) as headers
select reason, n, sum(n) over (order by n desc, reason) / sum(n) over () as so_far from (select reason, count(*) as n from games group by reason) order by n desc, reason
select iteration, avg(x) as mean_length from (select iteration, len(moves) as x, row_number() over (partition by iteration order by len(moves), game) as r, count(*) over (partition by iteration) as c from games) where r in ((c + 1) // 2, (c + 2) // 2) group by iteration order by iteration
select network, min(iteration) as first_used, max(iteration) as last_used, count(*) as games from games group by network order by first_used, network
select s.number as net, g.iteration, count(*) as games from games g join steps s on s.network = g.network and s.kind in ('network', 'train') group by all order by all
select iteration, avg(simulations) as s, avg(simulations) filter (where not "full") as fast, bool_and("full") as all_full from positions group by iteration order by iteration
select sample.* from (select iteration, game from games order by hash(iteration * 1000 + game) limit 5) sample order by all
values (1, 'one'), (2, 'two'), (null, 'none')
table games order by iteration, game limit 1
from games select count(*)
from positions limit 0
select 1 as a, 1 as a
select 'it''s' as quote, "update" from training where net = (select max(net) from training) order by "update" limit 1 -- the last net
select /* none */ count(*) as "number of games" from games;
