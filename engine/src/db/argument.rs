//! Arguments: the values for a statement's parameters.
//!
//! In: values drawn for a whole transaction, appended to one reused buffer. Out: the values of one
//! statement. Written by `workload::sql`, read by the connections.

use std::ops::Range;

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument<'a> {
    Null,
    Int(i64),
    Float(f64),
    /// ASCII or other valid UTF-8.
    Text(&'a str),
}

#[derive(Debug, Clone, Copy)]
enum Stored {
    Null,
    Int(i64),
    Float(f64),
    Text { start: usize, end: usize },
}

/// The values of all statements of a transaction, in their order.
#[derive(Debug, Clone, Default)]
pub struct ArgumentList {
    stored: Vec<Stored>,
    text: String,
}

impl ArgumentList {
    pub fn clear(&mut self) {
        self.stored.clear();
        self.text.clear();
    }

    pub fn len(&self) -> usize {
        self.stored.len()
    }

    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    pub fn null(&mut self) {
        self.stored.push(Stored::Null);
    }

    #[inline]
    pub fn int(&mut self, value: i64) {
        self.stored.push(Stored::Int(value));
    }

    pub fn float(&mut self, value: f64) {
        self.stored.push(Stored::Float(value));
    }

    /// Appends a text; `write` appends its bytes to the given buffer.
    #[inline]
    pub fn text(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        self.stored.push(Stored::Text {
            start,
            end: self.text.len(),
        });
    }

    /// Appends the value of this number again.
    pub fn repeat(&mut self, number: usize) {
        self.stored.push(self.stored[number]);
    }

    /// The values with these numbers.
    #[inline]
    pub fn range(&self, range: Range<usize>) -> Arguments<'_> {
        Arguments {
            stored: &self.stored[range],
            text: &self.text,
        }
    }
}

/// The values of one statement.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    stored: &'a [Stored],
    text: &'a str,
}

impl<'a> Arguments<'a> {
    pub const NONE: Arguments<'static> = Arguments {
        stored: &[],
        text: "",
    };

    pub fn len(&self) -> usize {
        self.stored.len()
    }

    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Argument<'a>> + Clone + 'a {
        let text = self.text;
        self.stored.iter().map(move |stored| match *stored {
            Stored::Null => Argument::Null,
            Stored::Int(value) => Argument::Int(value),
            Stored::Float(value) => Argument::Float(value),
            Stored::Text { start, end } => Argument::Text(&text[start..end]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_gets_its_own() {
        let mut list = ArgumentList::default();
        list.int(-7);
        list.text(|text| text.push_str("ab"));
        list.null();
        list.text(|text| text.push('ä'));
        list.float(0.5);
        list.repeat(1);
        let arguments: Vec<_> = list.range(1..6).iter().collect();
        use Argument::{Float, Null, Text};
        let expected = [Text("ab"), Null, Text("ä"), Float(0.5), Text("ab")];
        assert_eq!(arguments, expected);
        list.clear();
        assert!(list.is_empty() && Arguments::NONE.is_empty());
    }
}
