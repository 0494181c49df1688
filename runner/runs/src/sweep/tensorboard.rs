//! Exports curves as a TensorBoard event file.
//!
//! An event file is a sequence of records (TensorFlow's `TFRecord`): the payload's length as 8 bytes, their checksum, the
//! payload, its checksum. A payload is an `Event` of TensorFlow's `event.proto`, of which only the fields that scalars
//! need are declared here. Checksums are CRC-32C, masked by rotation and an offset, for payloads that contain checksums
//! themselves.

use prost::Message;

/// One point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// The curve's name; a slash groups curves, as in `loss/policy`.
    pub tag: String,
    /// The position along the curve.
    pub step: i64,
    /// When it was measured, in seconds since 1970.
    pub wall_time: f64,
    /// The value; the file holds it as a 32-bit float.
    pub value: f64,
}

/// Encodes scalars, in this order, as an event file. TensorBoard expects increasing steps within a curve.
pub fn event_file(scalars: &[Scalar]) -> Vec<u8> {
    let start = scalars.first().map_or(0.0, |scalar| scalar.wall_time);
    let version = Event { wall_time: start, file_version: VERSION.to_owned(), ..Event::default() };
    let events = std::iter::once(version).chain(scalars.iter().map(event));
    events.flat_map(|event| record(&event.encode_to_vec())).collect()
}

/// The name of an event file: TensorBoard looks for `tfevents`. The number is that of a time, which a run does not hold.
pub const FILE_NAME: &str = "events.out.tfevents.0000000000.dc0";

/// The version in the first event of a file.
const VERSION: &str = "brain.Event:2";

/// TensorFlow's checksum offset.
const MASK: u32 = 0xa282_ead8;

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(string, tag = "3")]
    file_version: String,
    #[prost(message, optional, tag = "5")]
    summary: Option<Summary>,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<SummaryValue>,
}

#[derive(Clone, PartialEq, Message)]
struct SummaryValue {
    #[prost(string, tag = "1")]
    tag: String,
    /// Optional, so that zeros are written: the field is part of a `oneof`.
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

fn event(scalar: &Scalar) -> Event {
    let value = SummaryValue { tag: scalar.tag.clone(), simple_value: Some(scalar.value as f32) };
    Event {
        wall_time: scalar.wall_time,
        step: scalar.step,
        summary: Some(Summary { value: vec![value] }),
        ..Event::default()
    }
}

fn record(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_le_bytes();
    let (length_check, payload_check) = (masked(&length), masked(payload));
    [&length[..], &length_check, payload, &payload_check].concat()
}

fn masked(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(MASK).to_le_bytes()
}

#[cfg(test)]
mod tests;
