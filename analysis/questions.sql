-- How did the games of each iteration end?
select iteration, reason, count(*) as games, avg(len(moves)) as plies
from games
group by iteration, reason
order by iteration, reason;

-- How well does White score, and does that change?
select iteration, count(*) as games, avg(result) as balance, sum(case when result = 0 then 1 else 0 end) as draws
from games
group by iteration
order by iteration;

-- How long are games, by result?
select result, count(*) as games, min(len(moves)) as shortest, avg(len(moves)) as mean, max(len(moves)) as longest
from games
group by result
order by result;

-- How many distinct games and starting positions are there?
select iteration, count(*) as games, count(distinct start_fen) as starts, count(distinct array_to_string(moves, ' ')) as unique_games
from games
group by iteration
order by iteration;

-- How many positions occur more than once?
select times, count(*) as positions
from (
  select split_part(fen, ' ', 1) || ' ' || split_part(fen, ' ', 2) as placement, count(*) as times
  from positions
  group by placement
) as counted
group by times
order by times;

-- How sharp is the search at each ply?
select ply, count(*) as searches, avg(list_max(visits) * 1.0 / list_sum(visits)) as top_share
from positions
where "full" and len(visits) > 0
group by ply
order by ply
limit 20;

-- How much does the search correct the net?
select iteration, avg(abs(root_q - net_q)) as correction, max(abs(root_q - net_q)) as largest
from positions
group by iteration
order by iteration;

-- Is the search's value calibrated: does it predict the result?
select floor(root_q * 5) / 5 as value_from, count(*) as positions, avg(root_q) as predicted, avg(result) as actual
from positions
group by value_from
order by value_from;

-- Does the net predict draws?
select floor(net_d * 5) / 5 as draw_from, count(*) as positions, avg(case when result = 0 then 1.0 else 0.0 end) as drawn
from positions
group by draw_from
order by draw_from;

-- How many legal moves are there, by ply?
select floor(ply / 10.0) * 10 as from_ply, count(*) as positions, avg(legal) as legal_moves
from positions
group by from_ply
order by from_ply;

-- In which positions did the search and the net disagree most?
select iteration, game, ply, root_q, net_q, fen
from positions
order by abs(root_q - net_q) desc, iteration, game, ply
limit 5;

-- How often did the search think that the eventual winner stood worse?
select games.reason, count(*) as positions, avg(case when positions.root_q < 0 then 1.0 else 0.0 end) as doubted
from positions
join games on games.run = positions.run and games.iteration = positions.iteration and games.game = positions.game
where positions.result = 1
group by games.reason
order by games.reason;

-- How does the loss fall in each training?
select net, min(update) as first_update, max(update) as last_update, max(loss) as highest, min(loss) as lowest
from training
group by net
order by net;

-- How far is the policy from its target at the end of each training?
select training.run, training.net, training.policy_loss - training.policy_entropy as divergence, training.policy_accuracy
from training
join (select run, net, max(update) as last from training group by run, net) as ends
  on ends.run = training.run and ends.net = training.net and ends.last = training.update
order by training.run, training.net;

-- What was the result of each match?
select match, first, second, count(*) as games, avg(score) as score, avg(plies) as plies
from matches
group by match, first, second
order by match;

-- Which pairs of a match were decided by their opening: did the same colour win both games?
select match, pair, sum(result) as balance
from matches
group by match, pair
having abs(sum(result)) = 2
order by match, pair
limit 10;

-- Where did the time go?
select kind, count(*) as steps, sum(seconds) as seconds, sum(evaluations) as evaluations
from costs
group by kind
order by kind;

-- How fast was self-play, and how full were its batches?
select number as iteration, positions / seconds as positions_per_second, evaluations / seconds as evaluations_per_second, mean_batch,
  cache_hits * 1.0 / evaluations as cache_share
from steps
where kind = 'self_play'
order by number;

-- How did each trained net do in its matches as first player?
select trained.run, trained.number as net, trained.loss, matches.number as match, matches.score, matches.score_low, matches.score_high
from steps as trained
left join (select * from steps where kind = 'arena') as matches on matches.network = trained.network and matches.run = trained.run
where trained.kind = 'train'
order by trained.run, trained.number, matches.number;

-- Which trials of a sweep were best?
select trial, state, value, low, high, evaluations
from trials
order by value desc, trial
limit 10;
