use prost::Message;

use super::{Event, Scalar, event_file, masked};

fn scalar(tag: &str, step: i64, value: f64) -> Scalar {
    Scalar { tag: tag.to_owned(), step, wall_time: 1.5e9, value }
}

/// The payloads of a file of records whose checksums are right.
fn records(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<8>() {
        let (check, rest) = rest.split_first_chunk::<4>().expect("a checksum");
        assert_eq!(*check, masked(length));
        let (payload, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
        let (check, rest) = rest.split_first_chunk::<4>().expect("a checksum");
        assert_eq!(*check, masked(payload));
        payloads.push(payload.to_vec());
        bytes = rest;
    }
    assert!(bytes.is_empty());
    payloads
}

#[test]
fn checksums_are_masked_crc_32c() {
    // RFC 3720, B.4: 32 zeros give aa 36 91 8a, read as little endian.
    // The 15 low bits are rotated to the top, and the offset is added.
    let rotated: u32 = 0x6d55_1522;
    assert_eq!(masked(&[0; 32]), rotated.wrapping_add(0xa282_ead8).to_le_bytes());
}

#[test]
fn a_minimal_file_has_the_expected_bytes() {
    let file = event_file(&[Scalar { wall_time: 0.0, ..scalar("a", 1, 1.0) }]);
    let payloads = records(&file);
    // Field 3 (text) with 13 bytes; then field 2 (number) 1 and field 5 with field 1 with the tag and the 32-bit 1.0.
    assert_eq!(payloads[0], [&[0x1a, 13][..], b"brain.Event:2"].concat());
    assert_eq!(payloads[1], [0x10, 1, 0x2a, 10, 0x0a, 8, 0x0a, 1, b'a', 0x15, 0, 0, 0x80, 0x3f]);
}

#[test]
fn scalars_round_trip_with_zeros_and_non_finite_values() {
    let scalars = [scalar("loss/policy", 0, 0.0), scalar("loss/policy", 7, f64::NAN), scalar("ü", -1, 0.1)];
    let events: Vec<Event> = records(&event_file(&scalars))
        .iter()
        .map(|payload| Event::decode(payload.as_slice()).expect("an event"))
        .collect();
    assert_eq!((events.len(), events[0].wall_time), (4, 1.5e9));
    for (event, scalar) in events[1..].iter().zip(&scalars) {
        let value = &event.summary.as_ref().expect("a summary").value[0];
        assert_eq!((event.step, &value.tag), (scalar.step, &scalar.tag));
        let expected = (scalar.value as f32).to_bits();
        assert_eq!(value.simple_value.map(f32::to_bits), Some(expected));
    }
}

#[test]
fn an_empty_file_is_valid() {
    assert_eq!(records(&event_file(&[])).len(), 1);
}
