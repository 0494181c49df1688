"""Computes the figures of matches and joint ratings from their definitions, and compares them with dc0's.

    python strength.py FILE

FILE has matches (pentanomials with dc0's figures) and tournaments (pairs of games with dc0's ratings). Nothing here follows dc0's
code: distributions are integrated, likelihoods are maximised in other variables, and ratings are fitted game by game. Prints how many
agree. Exits with 1 and the differences if there are any.
"""

import json
import math
import sys

import numpy as np

SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
ELO = 400 / math.log(10)


def student_cdf(t, degrees):
    """The integral of Student's density, by Simpson's rule in u = arctan(t / sqrt(degrees))."""
    end = math.atan(abs(t) / math.sqrt(degrees))
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)
    u = np.linspace(0.0, end, 20001)
    values = scale * np.cos(u) ** (degrees - 1)
    integral = (u[1] - u[0]) / 3 * (values[0] + values[-1] + 4 * values[1:-1:2].sum() + 2 * values[2:-1:2].sum())
    return 0.5 + math.copysign(integral, t)


def student_quantile(degrees):
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_cdf(middle, degrees) < 0.975 else (low, middle)
    return low


def elo_of(score):
    return None if score <= 0 or score >= 1 else ELO * math.log(score / (1 - score))


def match_figures(pentanomial):
    """The score's interval, normalised Elo with its interval, and the likelihood of superiority."""
    played = np.array(pentanomial, dtype=float)
    pairs = int(played.sum())
    counts = played + np.array([0.5, 0, 0, 0, 0.5])
    points = np.repeat(SCORES, 2), np.repeat(counts / 2, 2)
    mean = np.average(*points[:1], weights=points[1])
    centred = points[0] - mean
    moment = lambda power: np.average(centred**power, weights=points[1])
    deviation = math.sqrt(moment(2))
    error = deviation / math.sqrt(counts.sum())
    quantile = student_quantile(pairs)
    low, high = max(0.0, mean - quantile * error), min(1.0, mean + quantile * error)

    per_deviation = 800 / math.log(10) / math.sqrt(2)
    t = (mean - 0.5) / deviation
    skewness, kurtosis = moment(3) / deviation**3, moment(4) / deviation**4
    margin = quantile * math.sqrt((1 - skewness * t + (kurtosis - 1) * t * t / 4) / counts.sum())
    extreme = lambda score: (score - 0.5) / math.sqrt(score * (1 - score))
    ends = [t - margin, t + margin]
    if low > 0.5:
        ends[0] = max(ends[0], extreme(low))
    if high < 0.5:
        ends[1] = min(ends[1], extreme(high))
    score = float(played @ SCORES) / pairs
    spread = math.sqrt(float(played @ (SCORES - score) ** 2) / pairs)
    found = 0.0 if score == 0.5 else None if spread == 0 else (score - 0.5) / spread * per_deviation
    lower = None if low == 0 else ends[0] * per_deviation
    upper = None if high == 1 else ends[1] * per_deviation
    if found is not None:
        lower = None if lower is None else min(lower, found)
        upper = None if upper is None else max(upper, found)
    return (low, high), (lower, found, upper), student_cdf((mean - 0.5) / error, pairs)


def constrained_likelihood(shares, constraints):
    """The largest sum of shares * log(p) over distributions p under which all constraints have the mean 0: Newton's method on the
    Lagrange multipliers, with steps that keep p positive. None if there is no such distribution."""
    multipliers = np.zeros(len(constraints))
    for _ in range(60):
        below = 1 + multipliers @ constraints
        gradient = (constraints * (shares / below)).sum(axis=1)
        hessian = (constraints * (shares / below**2)) @ constraints.T
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        size = 1.0
        value = (shares * np.log(below)).sum()
        while size > 1e-12:
            tried = 1 + (multipliers + size * step) @ constraints
            if tried.min() > 0 and (shares * np.log(tried)).sum() >= value:
                break
            size /= 2
        multipliers = multipliers + size * step
        if np.abs(step).max() * size < 1e-13:
            break
    below = 1 + multipliers @ constraints
    if abs((constraints * (shares / below)).sum(axis=1)).max() > 1e-6:
        return None
    return float((shares * np.log(shares / below)).sum())


def likelihood(shares, elo, normalized):
    if not normalized:
        mean = 1 / (1 + 10 ** (-elo / 400))
        return constrained_likelihood(shares, np.array([SCORES - mean]))
    # Over all deviations: given one, mean and variance are known.
    t = elo * math.log(10) / 800 * math.sqrt(2)

    def of(deviation):
        mean = 0.5 + t * deviation
        found = constrained_likelihood(
            shares, np.array([SCORES - mean, (SCORES - mean) ** 2 - deviation**2])
        )
        return -math.inf if found is None else found

    grid = np.linspace(0.004, 0.498, 40)
    best = int(np.argmax([of(deviation) for deviation in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(40):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if of(a) > of(b) else (a, high)
    return of((low + high) / 2)


def log_likelihood_ratio(pentanomial, test):
    counts = np.array([count if count else 1e-3 for count in pentanomial], dtype=float)
    shares = counts / counts.sum()
    one, zero = (likelihood(shares, test[name], test["normalized"]) for name in ("elo1", "elo0"))
    return float(counts.sum()) * (one - zero)


def draw_probability(score, odds):
    """P(draw) with P(draw)^2 = 4 odds^2 P(win) P(loss), by bisection."""
    low, high = 0.0, 2 * min(score, 1 - score)
    for _ in range(100):
        middle = (low + high) / 2
        wanted = 2 * odds * math.sqrt((score - middle / 2) * (1 - score - middle / 2))
        low, high = (middle, high) if middle < wanted else (low, middle)
    return low


class Tournament:
    """A joint fit, game by game: every game is a row of a design matrix, every pair a cluster of rows."""

    def __init__(self, given):
        players, self.anchors = given["players"], dict(given["anchors"])
        # Without anchors the last player is at 0 until the mean is taken off.
        self.fixed = self.anchors or {players - 1: 0.0}
        self.free = [player for player in range(players) if player not in self.fixed]
        rows, offsets, results, clusters, weights = [], [], [], [], []

        def game(white, black, points, cluster, weight):
            row, offset = np.zeros(len(self.free) + 1), 0.0
            row[-1] = 1.0
            for player, sign in ((white, 1.0), (black, -1.0)):
                if player in self.fixed:
                    offset += sign * self.fixed[player] / ELO
                else:
                    row[self.free.index(player)] = sign
            rows.append(row)
            offsets.append(offset)
            results.append(points)
            clusters.append(cluster)
            weights.append(weight)

        games = {}
        for cluster, (first, second, white, black) in enumerate(given["pairs"]):
            for a, b, points in ((first, second, white), (second, first, None if black is None else 1 - black)):
                if points is not None:
                    game(a, b, points, cluster, 1.0)
                    games[first, second] = games.get((first, second), 0) + 1
        self.played = len(rows)
        total = lambda player: sum(count for pair, count in games.items() if player in pair)
        self.halves = []
        for (first, second), count in sorted(games.items()):
            extra = 0.5 * (count / total(first) + count / total(second))
            for points in (1.0, 0.0):
                # A game won and a game lost, half with either colour; they share in the variance as whole games, `extra / 2` times each.
                cluster = len(given["pairs"]) + len(self.halves)
                self.halves.append((cluster, extra))
                game(first, second, points, cluster, 0.25 * extra)
                game(second, first, 1 - points, cluster, 0.25 * extra)
        self.x, self.offset = np.array(rows), np.array(offsets)
        self.y, self.cluster, self.weight = np.array(results), np.array(clusters), np.array(weights)
        self.pairs = len(given["pairs"])
        self.players = players

    def fit(self):
        theta = np.zeros(self.x.shape[1])
        start = np.mean([elo / ELO for elo in self.fixed.values()])
        theta[:-1] = start
        for _ in range(300):
            score = 1 / (1 + np.exp(-(self.x @ theta + self.offset)))
            spread = self.weight * score * (1 - score)
            hessian = (self.x.T * spread) @ self.x
            step = np.linalg.solve(hessian, self.x.T @ (self.weight * (self.y - score)))
            theta = theta + step * min(1.0, 0.5 / np.abs(step).max())
            if np.abs(step).max() < 1e-12:
                break
        self.theta, self.score = theta, 1 / (1 + np.exp(-(self.x @ theta + self.offset)))
        self.inverse = np.linalg.inv(hessian)
        self.variance()
        return self

    def variance(self):
        size = self.x.shape[1]
        residual = self.y - self.score
        spread = self.score * (1 - self.score)
        self.models, self.scores = [], []
        found, expected = 0.5, 0.5
        for cluster in range(self.pairs):
            games = self.cluster == cluster
            model = (self.x[games].T * spread[games]) @ self.x[games]
            self.models.append(model)
            self.scores.append(self.x[games].T @ residual[games])
            # Points of the first player: along the direction of its rating, which White's row has as well.
            sign = np.where(np.arange(games.sum()) == 0, 1.0, -1.0)
            points = sign @ residual[games]
            rest = sign * spread[games]
            leverage = rest @ self.along(games, sign) @ rest
            found += points**2
            expected += spread[games].sum() - leverage
        self.dispersion = found / expected
        middle = np.zeros((size, size))
        for model, score in zip(self.models, self.scores):
            middle += np.outer(score, score) + self.dispersion * model @ self.inverse @ model
        self.virtual = np.zeros((size, size))
        for cluster, extra in self.halves:
            games = self.cluster == cluster
            score = self.x[games].T @ (0.5 * residual[games])
            self.virtual += 0.5 * extra * np.outer(score, score)
        self.covariance = self.inverse @ (middle + self.virtual) @ self.inverse

    def along(self, games, sign):
        return self.x[games] @ self.inverse @ self.x[games].T

    def interval(self, combination):
        g = self.inverse @ combination
        whole = np.array([self.dispersion * g @ model @ g for model in self.models])
        taken = np.array([self.dispersion * g @ model @ self.inverse @ model @ g for model in self.models])
        degrees = (whole.sum() + g @ self.virtual @ g) ** 2 / ((whole - taken) ** 2).sum()
        middle = combination @ self.theta
        margin = student_quantile(max(degrees, 1.0)) * math.sqrt(combination @ self.covariance @ combination)
        return [ELO * (middle - margin), ELO * middle, ELO * (middle + margin)]

    def ratings(self):
        size = len(self.theta)
        unit = lambda player: np.eye(size)[self.free.index(player)] if player in self.free else np.zeros(size)
        mean = np.zeros(size) if self.anchors else sum(unit(player) for player in range(self.players)) / self.players
        for player in range(self.players):
            if player in self.anchors:
                yield [self.anchors[player]] * 3
            else:
                yield self.interval(unit(player) - mean)

    def draws(self):
        """The draw rate of equal players: as many draws as were played, and half of one virtual game between equals."""
        scores = self.score[: self.played]
        drawn = (self.y[: self.played] == 0.5).sum() + 0.5
        low, high = 0.0, 1.0
        for _ in range(50):
            rate = (low + high) / 2
            expected = rate + sum(draw_probability(score, rate / (1 - rate)) for score in scores)
            low, high = (rate, high) if expected < drawn else (low, rate)
        return low


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        given = json.load(file)
    problems = []

    def compare(what, found, expected, within):
        if found is None or expected is None:
            agrees = found is expected
        else:
            agrees = abs(found - expected) <= within * max(1.0, abs(expected))
        if not agrees:
            problems.append(f"{what}: dc0 has {found}, expected {expected}")

    for match in given["matches"]:
        name = match["pentanomial"]
        score, normalized, los = match_figures(name)
        for end, found, expected in zip(("low", "high"), match["score"], score):
            compare(f"{name}: score {end}", found, expected, 2e-4)
        for end, found, expected in zip(("low", "high"), match["elo"], match["score"]):
            compare(f"{name}: Elo {end}", found, elo_of(expected), 1e-9)
        for end, found, expected in zip(("low", "figure", "high"), match["normalized"], normalized):
            compare(f"{name}: normalised Elo {end}", found, expected, 2e-3)
        compare(f"{name}: LOS", match["los"], los, 1e-6)
        # If all pairs ended alike, dc0's iteration, which is fishtest's, ends at a distribution that is not quite the likeliest.
        is_uniform = sum(count > 0 for count in name) == 1
        for test in match["tests"]:
            if is_uniform and test["normalized"]:
                continue
            what = f"{name}: ratio of {test['elo0']} and {test['elo1']}, normalised: {test['normalized']}"
            compare(what, test["llr"], log_likelihood_ratio(name, test), 2e-3)

    for number, tournament in enumerate(given["tournaments"]):
        fitted = Tournament(tournament).fit()
        for player, (found, expected) in enumerate(zip(tournament["ratings"], fitted.ratings())):
            for figure, index in (("rating", 0), ("low", 1), ("high", 2)):
                order = (1, 0, 2)[index]
                within = 1e-6 if index == 0 else 2e-2
                compare(f"tournament {number}, player {player}: {figure}", found[index], expected[order], within)
        white = fitted.interval(np.eye(len(fitted.theta))[-1])
        for figure, found, expected in zip(("figure", "low", "high"), tournament["white"], (white[1], white[0], white[2])):
            compare(f"tournament {number}: White's advantage, {figure}", found, expected, 2e-2)
        compare(f"tournament {number}: draw rate", tournament["draws"][0], fitted.draws(), 1e-6)

    if problems:
        print("\n".join(problems))
        sys.exit(1)
    print(f"{len(given['matches'])} matches and {len(given['tournaments'])} tournaments agree")


main()
