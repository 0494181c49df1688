//! Kinds of parameter values.

use std::fmt;

/// A kind of parameter value; displayed as in errors and the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamKind {
    /// A finite number.
    Number,
    /// A whole number.
    WholeNumber,
    /// True or false.
    Bool,
    /// Any text.
    Text,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A [`Schedule`](super::Schedule).
    Schedule,
    /// A group of declared parameters.
    Group,
    /// A group whose members the script names, described by this text.
    OpenGroup(&'static str),
    /// A list of this kind.
    List(Box<Self>),
    /// This kind, or nothing.
    Optional(Box<Self>),
}

impl ParamKind {
    /// The kind without `Optional`.
    pub fn required(&self) -> &Self {
        match self {
            Self::Optional(kind) => kind.required(),
            kind => kind,
        }
    }

    /// The names of a choice or of a list of choices; none for other kinds.
    pub fn choices(&self) -> &'static [&'static str] {
        match self.required() {
            Self::Choice(names) => names,
            Self::List(items) => items.choices(),
            _ => &[],
        }
    }

    /// Whether the value is a group `#{…}`.
    pub fn is_group(&self) -> bool {
        matches!(self.required(), Self::Group | Self::OpenGroup(_))
    }
}

impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => f.write_str("a number"),
            Self::WholeNumber => f.write_str("a whole number"),
            Self::Bool => f.write_str("true or false"),
            Self::Text => f.write_str("text"),
            Self::Choice(names) => write!(f, "one of {}", names.join(", ")),
            Self::Schedule => {
                f.write_str("a number, pairs [[0, value], …], or a function of one whole number")
            }
            Self::Group => f.write_str("a group #{…}"),
            Self::OpenGroup(text) => f.write_str(text),
            Self::List(items) => write!(f, "a list, each {items}"),
            Self::Optional(kind) => write!(f, "{kind}, or () for none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ParamKind;

    #[test]
    fn choices_and_groups_are_found_inside_lists_and_options() {
        let choice = ParamKind::Choice(&["a", "b"]);
        let list = ParamKind::Optional(Box::new(ParamKind::List(Box::new(choice.clone()))));
        assert_eq!(list.to_string(), "a list, each one of a, b, or () for none");
        assert_eq!((choice.choices(), list.choices()), (&["a", "b"][..], &["a", "b"][..]));
        let group = ParamKind::Optional(Box::new(ParamKind::Group));
        assert!(group.is_group() && group.choices().is_empty() && !list.is_group());
        assert!(ParamKind::OpenGroup("a group of dimensions").is_group());
    }
}
