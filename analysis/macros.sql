-- dc0's functions in DuckDB's SQL. san, opening and eco need dc0's rules of chess and its book of openings.
CREATE OR REPLACE MACRO dc0_dots(board) AS replace(replace(replace(replace(replace(replace(replace(replace(board, '1', '.'), '2', '..'), '3', '...'),
  '4', '....'), '5', '.....'), '6', '......'), '7', '.......'), '8', '........');
-- The board of a FEN with dots for empty squares, if it has eight ranks of eight squares.
CREATE OR REPLACE MACRO dc0_board(fen) AS CASE WHEN NOT contains(split_part(fen, ' ', 1), '.')
  AND regexp_full_match(dc0_dots(split_part(fen, ' ', 1)), '[PNBRQKpnbrqk.]{8}(/[PNBRQKpnbrqk.]{8}){7}') THEN dc0_dots(split_part(fen, ' ', 1)) END;
CREATE OR REPLACE MACRO dc0_pieces(fen) AS regexp_extract_all(dc0_board(fen), '[a-zA-Z]');
CREATE OR REPLACE MACRO piece_count(fen) AS len(dc0_pieces(fen));
CREATE OR REPLACE MACRO material(fen) AS CASE WHEN dc0_board(fen) IS NOT NULL THEN coalesce(list_sum(list_transform(dc0_pieces(fen), lambda piece:
  CASE lower(piece::VARCHAR) WHEN 'p' THEN 1 WHEN 'n' THEN 3 WHEN 'b' THEN 3 WHEN 'r' THEN 5 WHEN 'q' THEN 9 ELSE 0 END
  * CASE WHEN piece::VARCHAR = upper(piece::VARCHAR) THEN 1 ELSE -1 END)), 0)::INTEGER END;
CREATE OR REPLACE MACRO phase(fen) AS CASE WHEN dc0_board(fen) IS NOT NULL THEN coalesce(list_sum(list_transform(dc0_pieces(fen), lambda piece:
  CASE lower(piece::VARCHAR) WHEN 'n' THEN 1 WHEN 'b' THEN 1 WHEN 'r' THEN 2 WHEN 'q' THEN 4 ELSE 0 END)), 0) / 24 END;
CREATE OR REPLACE MACRO side(fen) AS CASE split_part(fen, ' ', 2) WHEN 'w' THEN 'white' WHEN 'b' THEN 'black' END;
CREATE OR REPLACE MACRO board(fen) AS rtrim(replace(regexp_replace(replace(dc0_board(fen), '/', chr(10)), '([^\n])', '\1 ', 'g'),
  ' ' || chr(10), chr(10)), ' ');
-- A packed move is from + 64·to + 4096·promotion.
CREATE OR REPLACE MACRO dc0_square(index) AS chr((97 + index % 8)::INTEGER) || (1 + index // 8);
CREATE OR REPLACE MACRO uci(packed) AS CASE WHEN packed BETWEEN 0 AND 20479 THEN dc0_square(packed % 64) || dc0_square(packed // 64 % 64)
  || ['', 'n', 'b', 'r', 'q'][packed // 4096 + 1] END;
CREATE OR REPLACE MACRO policy_entropy(weights) AS coalesce(-list_sum(list_transform(list_filter(weights::DOUBLE[],
  lambda weight: weight > 0), lambda weight: weight / list_sum(weights::DOUBLE[])
  * ln(weight / list_sum(weights::DOUBLE[])))), CASE WHEN weights IS NULL THEN NULL ELSE 0.0 END) + 0.0;
