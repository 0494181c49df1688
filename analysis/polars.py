"""The tables of runs of dc0 as polars LazyFrames, written by `dc0-run sql RUN --views polars`.

    import first                                        # this file, saved as first.py
    first.games.group_by("reason").len().collect()
    first.positions.select(first.side("fen"), first.policy_entropy("target")).collect()
    first.sql("select reason, count(*) as games from games group by reason").collect()

Its files are those of the moment. The functions take a column's name or an expression, and name their columns after themselves; san, opening and eco need the package `chess`.
"""

import functools

import polars as pl

_SQUARES = [file + rank for rank in "12345678" for file in "abcdefgh"]
_PROMOTIONS = ["", "n", "b", "r", "q"]
_DOTS = {str(count): "." * count for count in range(1, 9)}


def _expression(column):
    return pl.col(column) if isinstance(column, str) else column


def _column(function):
    """The function with its name for its column, as several functions of one column need."""

    @functools.wraps(function)
    def named(*arguments, **named_arguments):
        return function(*arguments, **named_arguments).alias(function.__name__)

    return named


def _of_board(fen, value):
    """A value of the board's part of a FEN and of the same with dots for empty squares; null if it has not eight ranks of eight squares."""
    board = _expression(fen).str.split(" ").list.first()
    dots = board.str.replace_many(_DOTS)
    is_board = ~board.str.contains(".", literal=True) & dots.str.contains("^[PNBRQKpnbrqk.]{8}(/[PNBRQKpnbrqk.]{8}){7}$")
    return pl.when(is_board).then(value(board, dots))


def _weighed(fen, weights):
    """The sum over pieces of their letters' weights."""
    count = lambda board, letter: board.str.count_matches(letter, literal=True).cast(pl.Int64)
    return _of_board(fen, lambda board, _: sum(count(board, letter) * weight for letter, weight in weights.items()))


@_column
def material(fen):
    """White's material minus Black's, in pawns."""
    values = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9}
    return _weighed(fen, {letter.upper(): value for letter, value in values.items()} | {letter: -value for letter, value in values.items()})


@_column
def phase(fen):
    """The share of material that is left, from 1 to 0."""
    points = {"n": 1, "b": 1, "r": 2, "q": 4}
    return _weighed(fen, points | {letter.upper(): value for letter, value in points.items()}) / 24


@_column
def piece_count(fen):
    """The number of pieces on the board, pawns and kings included."""
    return _of_board(fen, lambda board, _: board.str.count_matches("[a-zA-Z]").cast(pl.Int64))


@_column
def side(fen):
    """The side to move, `white` or `black`."""
    letter = _expression(fen).str.split(" ").list.get(1, null_on_oob=True)
    return letter.replace_strict(["w", "b"], ["white", "black"], default=None, return_dtype=pl.String)


@_column
def board(fen):
    """The board in eight lines, with a dot for an empty square."""
    lines = _of_board(fen, lambda _, dots: dots)
    spaced = lines.str.replace_all("/", "\n", literal=True).str.replace_all("([^\n])", "${1} ")
    return spaced.str.replace_all(" \n", "\n", literal=True).str.strip_suffix(" ")


def _uci(move):
    square = lambda index: index.replace_strict(list(range(64)), _SQUARES, return_dtype=pl.String)
    promotion = (move // 4096).replace_strict(list(range(5)), _PROMOTIONS, default=None, return_dtype=pl.String)
    return square(move % 64) + square(move // 64 % 64) + promotion


@_column
def uci(moves):
    """A packed move in UCI notation; a list of moves with spaces between them. Null if one is no move."""

    def texts(moves):
        frame = moves.to_frame("moves")
        if isinstance(moves.dtype, pl.List):
            return frame.select(pl.col("moves").list.eval(_uci(pl.element().cast(pl.Int64))).list.join(" ", ignore_nulls=False)).to_series()
        return frame.select(_uci(pl.col("moves").cast(pl.Int64))).to_series()

    return _expression(moves).map_batches(texts, return_dtype=pl.String)


@_column
def policy_entropy(weights):
    """Entropy in nats of visits or targets, normalised to sum to 1; 0 for an empty list."""
    weights = _expression(weights)
    weight = pl.element().cast(pl.Float64)
    share = weight.filter(weight > 0) / weight.sum()
    entropy = weights.list.eval(0.0 - (share * share.log()).sum()).list.first()
    return pl.when(weights.list.len() == 0).then(pl.lit(0.0)).otherwise(entropy)


def _chess():
    try:
        import chess
    except ImportError as cause:
        raise ImportError("san, opening and eco need the rules of chess: pip install chess") from cause
    return chess


def _move(chess, packed):
    """A packed move; None if it is none."""
    if packed is None or not 0 <= packed < 4096 * len(_PROMOTIONS):
        return None
    return chess.Move(packed % 64, packed // 64 % 64, [None, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN][packed // 4096])


def _unpacked(chess, position, packed):
    """A packed move as python-chess has it in Chess960, where castling is the king's move to its rook; None if it is not legal."""
    move = _move(chess, packed)
    if move is None:
        return None
    start, target = move.from_square, move.to_square
    is_king = position.piece_type_at(start) == chess.KING and chess.square_file(start) == 4
    if is_king and position.color_at(target) == position.color_at(start):
        if chess.square_file(target) in (0, 7):
            return None
    elif is_king and abs(start - target) == 2:
        move = chess.Move(start, start + (3 if target > start else -4))
        if position.piece_type_at(move.to_square) != chess.ROOK:
            return None
    return move if position.is_legal(move) else None


def _position(chess, fen):
    """The position of a FEN; None if it is not legal."""
    try:
        position = chess.Board(fen, chess960=True)
    except ValueError:
        return None
    return position if position.is_valid() and len(fen.split()) in (4, 6) else None


@_column
def san(fen, move):
    """A packed move in SAN; null if it is not legal, which python-chess decides."""
    chess = _chess()

    def text(row):
        position = row["fen"] and _position(chess, row["fen"])
        move = position and _unpacked(chess, position, row["move"])
        return position.san(move) if move else None

    pair = pl.struct(_expression(fen).alias("fen"), _expression(move).alias("move"))
    return pair.map_elements(text, return_dtype=pl.String)


_book = {}


def _openings():
    """The openings by their positions, and the length of the longest line."""
    if not _book:
        chess = _chess()
        position, longest, found = chess.Board(), 0, {}
        for line in OPENINGS.splitlines():
            shared, moves, code, name = line.split("\t")
            while position.ply() > int(shared):
                position.pop()
            for move in moves.split():
                position.push_uci(move)
            longest = max(longest, position.ply())
            found[position.epd()] = (code, name)
        _book["positions"], _book["longest"] = found, longest
    return _book["positions"], _book["longest"]


def _opening(moves):
    chess = _chess()
    positions, longest = _openings()
    position, found = chess.Board(), None
    moves = [_move(chess, packed) for packed in moves]
    if None in moves:
        return None
    for move in moves[:longest]:
        if not position.is_legal(move):
            return None
        position.push(move)
        found = positions.get(position.epd(), found)
    return found


def _named(moves, part):
    def text(moves):
        found = _opening(list(moves))
        return found and found[part]

    return _expression(moves).map_elements(text, return_dtype=pl.String)


@_column
def opening(moves):
    """The name of the opening that these moves make from the initial position, by the last named position."""
    return _named(moves, 1)


@_column
def eco(moves):
    """The ECO code of a game's opening."""
    return _named(moves, 0)


def _stored(number, pattern, columns, parts):
    """A table in Parquet files. `parts`: for each run, the columns that say where a row comes from, and its files."""
    frames = []
    for origin, files in parts:
        frame = pl.scan_parquet(files, include_file_paths="filename", hive_partitioning=False, glob=False)
        known = frame.collect_schema().names()
        own = [(pl.col(name) if name in known else pl.lit(None)).cast(kind).alias(name) for name, kind in columns.items()]
        number_of = [pl.col("filename").str.extract(pattern).cast(pl.Int64).alias(number)] if number else []
        frames.append(frame.select(*_origin(origin), *number_of, *own))
    names = list(parts[0][0]) if parts else ["run"]
    kinds = {name: pl.String if name == "run" else pl.Int64 for name in names} | ({number: pl.Int64} if number else {})
    return pl.concat(frames) if frames else pl.LazyFrame(schema=kinds | columns)


def _origin(origin):
    return [pl.lit(value, dtype=pl.String if name == "run" else pl.Int64).alias(name) for name, value in origin.items()]


def _wide(columns, parts):
    """A table whose files have columns of their own."""
    frames = [pl.scan_parquet(files, glob=False).select(*_origin(origin), pl.all()) for origin, files in parts]
    return pl.concat(frames, how="diagonal_relaxed") if frames else pl.LazyFrame(schema={"run": pl.String} | columns)


def _computed(columns, rows):
    return pl.LazyFrame(rows, schema=columns, orient="row")


# The tables.
__TABLES__

TABLES = {__NAMES__}

context = pl.SQLContext(TABLES)


def sql(statement):
    """The answer of polars to a statement on the tables, as a LazyFrame. polars knows dc0's functions as Python functions only."""
    return context.execute(statement)


# Openings: shared plies, further moves, ECO code, name; lichess chess-openings, in the public domain (CC0).
OPENINGS = r"""
__OPENINGS__"""
OPENINGS = OPENINGS.strip()
