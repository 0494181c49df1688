//! Positions as an array for Python's `numpy` (`numpy.lib.format`, version 1.0).

use super::{Encoded, PlaneContent};

/// Data begins at a multiple of this, in bytes.
const ALIGNMENT: usize = 64;

/// `[P, 8, 8]` float32 of one position or, as a batch, `[N, P, 8, 8]`: rank 1 and file a come first, as the orientation sees them.
pub(super) fn write(positions: &[Encoded<'_>], as_batch: bool) -> Vec<u8> {
    let planes = positions.first().map_or(0, |position| position.planes.len());
    let batch = if as_batch { format!("{}, ", positions.len()) } else { String::new() };
    let mut file = header(&format!("{batch}{planes}, 8, 8"));
    for content in positions.iter().flat_map(|position| &position.planes) {
        for square in 0..64 {
            let value = match *content {
                PlaneContent::Bits(squares) => (squares >> square & 1) as f32,
                PlaneContent::Number(number) => number,
            };
            file.extend_from_slice(&value.to_le_bytes());
        }
    }
    file
}

fn header(shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}");
    let before = b"\x93NUMPY\x01\x00".len() + size_of::<u16>();
    // One byte for the newline that ends the header.
    let padding = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before - text.len() - 1;
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn a_header_is_padded_and_holds_its_length() {
        let header = header("22, 8, 8");
        assert_eq!(header.len() % 64, 0);
        assert_eq!(usize::from(u16::from_le_bytes([header[8], header[9]])), header.len() - 10);
        let text = std::str::from_utf8(&header[10..]).expect("ASCII");
        assert_eq!(text.trim_end(), "{'descr': '<f4', 'fortran_order': False, 'shape': (22, 8, 8), }");
        assert!(text.ends_with(" \n"));
    }
}
