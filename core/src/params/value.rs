//! The plain value tree that parameters are read from and written to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A value from a script, a file or the command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// No value: an optional parameter that is switched off.
    None,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(String),
    /// Values in order.
    List(Vec<Value>),
    /// Named values, sorted by name so that equal groups print equally.
    Group(BTreeMap<String, Value>),
}

impl Value {
    /// An empty group.
    pub fn group() -> Self {
        Self::Group(BTreeMap::new())
    }

    /// A group of these members.
    pub fn of<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Group(BTreeMap::from(members.map(|(name, value)| (name.to_owned(), value))))
    }

    /// The kind of value, as named in errors.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::Bool(_) => "true or false",
            Self::Int(_) => "whole number",
            Self::Float(_) => "number",
            Self::Text(_) => "text",
            Self::List(_) => "list",
            Self::Group(_) => "group",
        }
    }

    /// A member of a group; `None` if it is missing or this is not a group.
    pub fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Group(members) => members.get(name),
            _ => None,
        }
    }

    /// The value as a number, if it is one; whole numbers are converted.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::Int(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            _ => None,
        }
    }

    /// A member of a group as a number; `None` if it is missing or no number.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.member(name)?.as_f64()
    }

    /// Sets the value at a dotted path of a group; values on the path that are not groups are replaced by groups.
    pub fn put(&mut self, path: &str, value: Self) {
        if !matches!(self, Self::Group(_)) {
            *self = Self::group();
        }
        let Self::Group(members) = self else { return };
        let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
        let member = members.entry(name.to_owned()).or_insert(Self::None);
        match rest {
            Some(rest) => member.put(rest, value),
            None => *member = value,
        }
    }

    /// Parses a command-line argument: nothing, true or false, a number, or else text.
    pub fn from_argument(argument: &str) -> Self {
        match argument {
            "()" | "" => Self::None,
            "true" => Self::Bool(true),
            "false" => Self::Bool(false),
            text => match (text.parse(), text.parse()) {
                (Ok(number), _) => Self::Int(number),
                (_, Ok(number)) => Self::Float(number),
                _ => Self::Text(text.to_owned()),
            },
        }
    }

    /// The text for people, cut after 60 characters.
    pub fn shortened(&self) -> String {
        const MOST: usize = 60;
        let text = self.to_string();
        match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    /// JSON with sorted names; equal values give equal text.
    pub fn canonical(&self) -> String {
        serde_json::to_string(self).expect("a value tree has text keys only")
    }
}

/// Conversions that lose nothing.
macro_rules! from {
    ($($source:ty => $variant:ident),+ $(,)?) => {
        $(impl From<$source> for Value {
            fn from(value: $source) -> Self {
                Self::$variant(value.into())
            }
        })+
    };
}

from! {
    bool => Bool,
    i64 => Int,
    u32 => Int,
    f32 => Float,
    f64 => Float,
    &str => Text,
    &String => Text,
    String => Text,
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("()"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Float(value) => write!(f, "{value:?}"),
            other => f.write_str(&other.canonical()),
        }
    }
}
