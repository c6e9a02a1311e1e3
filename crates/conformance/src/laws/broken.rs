//! Owns what a law is and how it says that it is broken.

use std::error::Error;
use std::fmt;

/// A law and the check of it over subjects of type `S`.
pub struct Law<S: ?Sized> {
    /// What must hold, in one sentence.
    pub says: &'static str,
    /// Checks it.
    pub check: fn(&S) -> Result<(), Broken>,
}

impl<S: ?Sized> fmt::Debug for Law<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.says)
    }
}

/// How a law is broken: what was seen and what should have been.
#[derive(Debug)]
pub struct Broken(String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Broken {
    /// Says how.
    pub(crate) fn because(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// An operation that should have worked did not.
impl<E: Error> From<E> for Broken {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(source) = cause {
            text.push_str(": ");
            text.push_str(&source.to_string());
            cause = source.source();
        }
        Self(text)
    }
}

/// Returns [`Broken`] unless both are equal.
macro_rules! same {
    ($left:expr, $right:expr, $($what:tt)+) => {{
        let (left, right) = (&$left, &$right);
        if left != right {
            let what = format!($($what)+);
            let text = format!("{what}: {left:?}, should be {right:?}");
            return Err($crate::laws::Broken::because(text));
        }
    }};
}

/// Returns [`Broken`] unless the value has this form; gives what the form binds.
macro_rules! form {
    ($value:expr, $pattern:pat => $bound:expr, $($what:tt)+) => {
        match $value {
            $pattern => $bound,
            other => {
                let what = format!($($what)+);
                return Err($crate::laws::Broken::because(format!("{what}: {other:?}")));
            }
        }
    };
}

pub(crate) use {form, same};
