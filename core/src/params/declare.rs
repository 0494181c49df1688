//! The macros that declare parameters.

/// Declares a struct of parameters. Each field has a doc line, a default and, where it makes sense, a range.
///
/// ```
/// dc0_core::params! {
///     /// How one move's search spends its budget.
///     pub struct Budget {
///         /// Simulations for each move.
///         simulations: u32 = 800, in 1..=1_000_000;
///         /// Exploration constant.
///         c_puct: f64 = 1.25, in 0.0..=10.0;
///     }
/// }
/// let value = serde_json::from_str(r#"{"simulation": 5, "c_puct": 11}"#).unwrap();
/// let errors = dc0_core::params::read::<Budget>("search", &value).unwrap_err();
/// assert_eq!(
///     errors.to_string(),
///     "search: 2 problems in its parameters\n  \
///      simulation: unknown parameter; did you mean `simulations`?\n  \
///      c_puct: must lie in 0.0..=10.0, got 11",
/// );
/// ```
///
/// Checks across fields follow the struct as `check function;` with `fn(&Self) -> Advice`: each
/// pair is a field and its problem. After that, `shorthand field;` lets a plain text stand for the group with only this
/// field given: `sampler: "random"` for `sampler: #{ kind: "random" }`.
///
/// Last, `unused function;` names fields that the others leave without a use, with the reason, as `fn(&Self) -> Advice`. Giving them is
/// a problem, and they are no part of the group's value.
///
/// Checks are done only if every value within the group could be read; their problems do not keep the checks of other groups from being
/// done.
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            $( $(#[doc = $doc:literal])+ $field:ident : $kind:ty = $default:expr $(, in $range:expr)? ; )*
        }
        $( check $check:expr ; )?
        $( shorthand $shorthand:ident ; )?
        $( unused $unused:expr ; )?
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: $kind, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $crate::params::Params for $name {
            fn about() -> &'static str {
                concat!($($about),+).trim_start()
            }

            fn names() -> &'static [&'static str] {
                &[$( stringify!($field) ),*]
            }

            fn rows() -> Vec<$crate::params::Row> {
                <Self as $crate::params::Param>::rows_at("", &Self::default(), None, "")
            }
        }

        impl $crate::params::Param for $name {
            fn kind() -> $crate::params::ParamKind {
                $crate::params::ParamKind::Group
            }

            fn read(
                value: &$crate::params::Value,
                path: &str,
                _: Option<$crate::params::Bounds>,
                problems: &mut $crate::params::Problems,
            ) -> Option<Self> {
                use $crate::params::{Param, Params, Value};
                $(
                    let expanded;
                    let mut value = value;
                    if let Value::Text(_) = value {
                        expanded = Value::Group([(stringify!($shorthand).to_owned(), value.clone())].into());
                        value = &expanded;
                    }
                )?
                let Value::Group(given) = value else {
                    problems.add(path, format!("expected a group #{{…}}, got {value} ({})", value.kind()));
                    return None;
                };
                let path_of = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                let before = problems.unread();
                for name in given.keys().filter(|name| !Self::names().contains(&name.as_str())) {
                    problems.unknown(&path_of(name), name, Self::names());
                }
                let mut read = Self::default();
                $(
                    if let Some(value) = given.get(stringify!($field)) {
                        let range = None $( .or(Some($crate::params::Bounds::from($range))) )?;
                        if let Some(value) = <$kind as Param>::read(value, &path_of(stringify!($field)), range, problems) {
                            read.$field = value;
                        }
                    }
                )*
                $(
                    let unused: fn(&Self) -> $crate::params::Advice = $unused;
                    for (field, message) in unused(&read) {
                        if given.contains_key(field) {
                            problems.add_judged(&path_of(field), message);
                        }
                    }
                )?
                $(
                    if problems.unread() == before {
                        let check: fn(&Self) -> $crate::params::Advice = $check;
                        for (field, message) in check(&read) {
                            problems.add_judged(&path_of(field), message);
                        }
                    }
                )?
                (problems.unread() == before).then_some(read)
            }

            fn to_value(&self) -> $crate::params::Value {
                use $crate::params::Param;
                let fields = [$( (stringify!($field).to_owned(), Param::to_value(&self.$field)) ),*];
                let fields = std::collections::BTreeMap::from(fields);
                $(
                    let unused: fn(&Self) -> $crate::params::Advice = $unused;
                    let mut fields = fields;
                    for (field, _) in unused(self) {
                        fields.remove(field);
                    }
                )?
                $crate::params::Value::Group(fields)
            }

            fn member_rows(path: &str) -> Vec<$crate::params::Row> {
                <Self as $crate::params::Param>::rows_at(path, &Self::default(), None, "")
            }

            fn rows_at(
                path: &str,
                default: &Self,
                _: Option<$crate::params::Bounds>,
                doc: &str,
            ) -> Vec<$crate::params::Row> {
                let path_of = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                let mut rows = $crate::params::group_row(path, doc);
                $(
                    let range = None $( .or(Some($crate::params::Bounds::from($range))) )?;
                    let doc = concat!($($doc),+).trim_start();
                    let path = path_of(stringify!($field));
                    rows.extend(<$kind as $crate::params::Param>::rows_at(&path, &default.$field, range, doc));
                )*
                rows
            }
        }
    };
}

/// Declares a choice of names as an enum. No variant is the default: the field gives it.
#[macro_export]
macro_rules! param_enum {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $choice:literal ),+ $(,)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl $name {
            /// The names that scripts use, in the order of declaration.
            pub const NAMES: &'static [&'static str] = &[$($choice),+];

            /// The name that scripts use for this choice.
            pub fn name(self) -> &'static str {
                match self { $( Self::$variant => $choice, )+ }
            }

            /// The choice with a name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $( $choice => Some(Self::$variant), )+ _ => None }
            }
        }

        impl $crate::params::Param for $name {
            fn kind() -> $crate::params::ParamKind {
                $crate::params::ParamKind::Choice(Self::NAMES)
            }

            fn read(
                value: &$crate::params::Value,
                path: &str,
                _: Option<$crate::params::Bounds>,
                problems: &mut $crate::params::Problems,
            ) -> Option<Self> {
                let read = match value {
                    $crate::params::Value::Text(name) => Self::from_name(name),
                    _ => None,
                };
                if read.is_none() {
                    let message = format!("expected one of {}, got {value}", Self::NAMES.join(", "));
                    problems.add(path, message);
                }
                read
            }

            fn to_value(&self) -> $crate::params::Value {
                $crate::params::Value::Text(self.name().to_owned())
            }
        }
    };
}
