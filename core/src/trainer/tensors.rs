//! Stored positions as tensors for other programs: one safetensors file, written part by part.
//!
//! The format is a length (8 bytes, little-endian), a JSON header with the type, shape and byte range of each tensor, and the
//! tensors one after the other (github.com/huggingface/safetensors). Since every shape is known beforehand, each part of the rows
//! is written to its range of every tensor, and memory does not grow with the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use thiserror::Error;

use crate::board::{Game, Move, Position};
use crate::encoding::{Encoding, PolicyIndex};
use crate::store::{GameRow, PositionRow, games_with_positions};

/// Rows that are kept in memory before they are written.
const PART: usize = 4096;

/// How positions and policies are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TensorForm {
    /// `input` as bits, with `scalars` beside them, instead of planes of floats.
    pub is_packed: bool,
    /// The moves of all positions one after the other, instead of padded to the longest list.
    pub is_ragged: bool,
}

/// The sizes of a file's tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TensorCounts {
    /// Positions.
    pub positions: u64,
    /// Legal moves of all positions.
    pub legal: u64,
    /// Legal moves of the position that has most.
    pub most_legal: u64,
}

impl TensorCounts {
    /// Adds rows that will be written.
    pub fn add(&mut self, positions: &[PositionRow]) {
        self.positions += positions.len() as u64;
        for row in positions {
            self.legal += u64::from(row.legal);
            self.most_legal = self.most_legal.max(row.legal.into());
        }
    }
}

/// Tensors that were not written.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TensorError {
    #[error(transparent)]
    Write(#[from] io::Error),
    /// Rows contradict each other, or the rules of chess.
    #[error("game {game}, ply {ply}: {fault}")]
    Rows { game: u32, ply: usize, fault: String },
}

/// A tensor of the file.
#[derive(Debug)]
struct Tensor {
    name: &'static str,
    kind: &'static str,
    shape: Vec<u64>,
    /// Where its next rows are written.
    at: u64,
    /// Rows that are not written yet.
    rows: Vec<u8>,
}

impl Tensor {
    fn new(name: &'static str, kind: &'static str, shape: &[u64]) -> Self {
        Self { name, kind, shape: shape.to_vec(), at: 0, rows: Vec::new() }
    }

    fn bytes(&self) -> u64 {
        let item = match self.kind {
            "BOOL" => 1,
            "F32" | "I32" => 4,
            _ => 8,
        };
        item * self.shape.iter().product::<u64>()
    }
}

/// A file of tensors that is written.
#[derive(Debug)]
pub struct TensorFile<'a> {
    file: &'a mut File,
    encoding: &'a Encoding,
    form: TensorForm,
    counts: TensorCounts,
    tensors: Vec<Tensor>,
    /// Positions so far.
    positions: u64,
    /// Their legal moves.
    legal: u64,
    /// Positions that are not written yet.
    pending: usize,
}

impl<'a> TensorFile<'a> {
    /// Begins a file of rows of these counts; `about` becomes its metadata.
    pub fn new(
        file: &'a mut File,
        encoding: &'a Encoding,
        form: TensorForm,
        counts: TensorCounts,
        about: &BTreeMap<String, String>,
    ) -> io::Result<Self> {
        let mut tensors = tensors(encoding, form, counts);
        let mut end = 0;
        let mut header = serde_json::Map::new();
        let about = about.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        header.insert("__metadata__".to_owned(), serde_json::Value::Object(about));
        for tensor in &mut tensors {
            tensor.at = end;
            end += tensor.bytes();
            let entry = serde_json::json!({
                "dtype": tensor.kind, "shape": tensor.shape, "data_offsets": [tensor.at, end],
            });
            header.insert(tensor.name.to_owned(), entry);
        }
        let mut header = serde_json::Value::Object(header).to_string();
        // Tensors begin at a multiple of eight bytes.
        header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
        let start = 8 + header.len() as u64;
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        file.set_len(start + end)?;
        for tensor in &mut tensors {
            tensor.at += start;
        }
        Ok(Self { file, encoding, form, counts, tensors, positions: 0, legal: 0, pending: 0 })
    }

    /// Adds the positions of some games of an iteration; both tables are sorted by game.
    pub fn add(
        &mut self,
        iteration: u32,
        games: &[GameRow],
        positions: &[PositionRow],
    ) -> Result<(), TensorError> {
        for found in games_with_positions(games, positions) {
            let (row, own) = found.map_err(|stray| fault(stray, "it belongs to no game of its file"))?;
            self.add_game(iteration, row, own)?;
        }
        Ok(())
    }

    fn add_game(
        &mut self,
        iteration: u32,
        row: &GameRow,
        positions: &[PositionRow],
    ) -> Result<(), TensorError> {
        let wrong = |ply, fault: String| TensorError::Rows { game: row.game, ply, fault };
        let start = Position::from_fen(&row.start_fen).map_err(|error| wrong(0, error.to_string()))?;
        let mut game = Game::from_position(start);
        let mut rest = positions.iter().peekable();
        let mut legal = Vec::new();
        for packed in &row.moves {
            game.position().legal_moves_into(&mut legal);
            let played = Move::from_packed(*packed).filter(|mv| legal.contains(mv));
            let played = played
                .ok_or_else(|| wrong(game.ply(), format!("the move {packed} (packed) is not legal")))?;
            if let Some(position) = rest.next_if(|position| usize::from(position.ply) == game.ply()) {
                self.push(iteration, row, position, &game, &legal)?;
            }
            game.play_unchecked(played);
        }
        rest.next().map_or(Ok(()), |stray| Err(fault(stray, "it belongs to no ply of its game")))
    }

    fn push(
        &mut self,
        iteration: u32,
        row: &GameRow,
        position: &PositionRow,
        game: &Game,
        legal: &[Move],
    ) -> Result<(), TensorError> {
        if usize::from(position.legal) != legal.len() {
            return Err(fault(
                position,
                &format!("`legal` is {}, but {} moves are", position.legal, legal.len()),
            ));
        }
        self.push_input(game);
        self.push_policy(position, game, legal)?;
        let plies_left = row.moves.len() - game.ply();
        // As for the trainer: with a target of zeros, the cross-entropy of a game without a result is 0.
        let is_result = |result| !row.reason.is_cut_off() && position.result == result;
        let wdl: [f32; 3] = [1, 0, -1].map(|result| f32::from(u8::from(is_result(result))));
        self.floats("wdl", &wdl);
        self.floats("root", &[position.root_q, position.root_d]);
        self.ints("plies_left", [if row.reason.is_played_out() { plies_left as i32 } else { -1 }]);
        self.ints("game", [iteration as i32, row.game as i32, i32::from(position.ply)]);
        self.bytes("full", &[u8::from(position.full)]);
        self.positions += 1;
        self.pending += 1;
        if self.pending == PART { Ok(self.flush()?) } else { Ok(()) }
    }

    fn push_input(&mut self, game: &Game) {
        let (mut binary, mut scalars) = (Vec::new(), Vec::new());
        self.encoding.encode(game, &mut binary, &mut scalars);
        if self.form.is_packed {
            let bits: Vec<u8> = binary.iter().flat_map(|bits| bits.to_le_bytes()).collect();
            self.bytes("input", &bits);
            return self.floats("scalars", &scalars);
        }
        let mut planes = Vec::new();
        self.encoding.expand(&binary, &scalars, &mut planes);
        self.floats("input", &planes);
    }

    fn push_policy(
        &mut self,
        position: &PositionRow,
        game: &Game,
        legal: &[Move],
    ) -> Result<(), TensorError> {
        let total: f64 = position.target.iter().map(|share| f64::from(*share)).sum();
        let mut shares = vec![0.0f32; legal.len()];
        for (packed, share) in position.moves.iter().zip(&position.target) {
            let index = legal.iter().position(|mv| mv.packed() == *packed);
            let index = index.ok_or_else(|| fault(position, "its policy target has an illegal move"))?;
            shares[index] = if total > 0.0 { (f64::from(*share) / total) as f32 } else { 0.0 };
        }
        let side = game.position().side_to_move();
        let index = |mv: &Move| i32::from(PolicyIndex::get(self.encoding.policy_index(*mv, side)));
        let mut indices: Vec<i32> = legal.iter().map(index).collect();
        self.legal += legal.len() as u64;
        if self.form.is_ragged {
            self.bytes("policy_ends", &(self.legal as i64).to_le_bytes());
        } else {
            indices.resize(self.counts.most_legal as usize, -1);
            shares.resize(self.counts.most_legal as usize, 0.0);
        }
        self.ints("policy_index", indices);
        self.floats("policy_share", &shares);
        Ok(())
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        if let Some(tensor) = self.tensors.iter_mut().find(|tensor| tensor.name == name) {
            tensor.rows.extend_from_slice(bytes);
        }
    }

    fn floats(&mut self, name: &str, numbers: &[f32]) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.bytes(name, &bytes);
    }

    fn ints(&mut self, name: &str, numbers: impl IntoIterator<Item = i32>) {
        let bytes: Vec<u8> = numbers.into_iter().flat_map(i32::to_le_bytes).collect();
        self.bytes(name, &bytes);
    }

    /// Writes the pending rows of every tensor to its range.
    fn flush(&mut self) -> io::Result<()> {
        for tensor in &mut self.tensors {
            self.file.seek(SeekFrom::Start(tensor.at))?;
            self.file.write_all(&tensor.rows)?;
            tensor.at += tensor.rows.len() as u64;
            tensor.rows.clear();
        }
        self.pending = 0;
        Ok(())
    }

    /// Writes the last rows.
    ///
    /// # Panics
    /// If other rows were added than were counted.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        let written = (self.positions, self.legal);
        assert_eq!(written, (self.counts.positions, self.counts.legal), "the counts are those of the rows");
        Ok(())
    }
}

fn fault(row: &PositionRow, fault: &str) -> TensorError {
    TensorError::Rows { game: row.game, ply: row.ply.into(), fault: fault.to_owned() }
}

/// The tensors of a file. Those of eight-byte numbers come first, so that all are aligned.
fn tensors(encoding: &Encoding, form: TensorForm, counts: TensorCounts) -> Vec<Tensor> {
    let TensorCounts { positions, legal, most_legal } = counts;
    let (binary, scalars) = (encoding.binary_count() as u64, encoding.scalar_count() as u64);
    let mut tensors = Vec::new();
    if form.is_packed {
        tensors.push(Tensor::new("input", "U64", &[positions, binary]));
    }
    if form.is_ragged {
        tensors.push(Tensor::new("policy_ends", "I64", &[positions]));
    }
    if !form.is_packed {
        tensors.push(Tensor::new("input", "F32", &[positions, binary + scalars, 8, 8]));
    } else if scalars > 0 {
        tensors.push(Tensor::new("scalars", "F32", &[positions, scalars]));
    }
    let moves = if form.is_ragged { vec![legal] } else { vec![positions, most_legal] };
    tensors.push(Tensor::new("policy_index", "I32", &moves));
    tensors.push(Tensor::new("policy_share", "F32", &moves));
    tensors.push(Tensor::new("wdl", "F32", &[positions, 3]));
    tensors.push(Tensor::new("root", "F32", &[positions, 2]));
    tensors.push(Tensor::new("plies_left", "I32", &[positions]));
    tensors.push(Tensor::new("game", "I32", &[positions, 3]));
    tensors.push(Tensor::new("full", "BOOL", &[positions]));
    tensors
}
