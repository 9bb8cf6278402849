//! Prepared statements of the server, and their execution.
//!
//! In: the server's description of a statement, arguments. Out: the packet that executes it. Called
//! by `Connection`.

use super::fields::MySqlFields;
use super::packet;
use crate::db::argument::{Argument, Arguments};
use crate::db::error::{DbError, DbResult};

pub const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;

/// Types of values, as the protocol numbers them; the second byte would mark unsigned ones.
const LONGLONG: [u8; 2] = [8, 0];
const DOUBLE: [u8; 2] = [5, 0];
const NULL: [u8; 2] = [6, 0];
const VAR_STRING: [u8; 2] = [253, 0];

/// The server's description of a prepared statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrepareResponse {
    number: u32,
    pub columns: u16,
    pub parameters: u16,
}

impl PrepareResponse {
    /// The answer to `PREPARE`, without its first byte.
    pub fn read(packet: &[u8]) -> DbResult<PrepareResponse> {
        let mut fields = MySqlFields(packet);
        Ok(PrepareResponse {
            number: fields.u32()?,
            columns: fields.u16()?,
            parameters: fields.u16()?,
        })
    }
}

#[derive(Debug)]
pub struct Prepared {
    /// The bytes up to the null bitmap.
    head: [u8; packet::HEAD + 10],
    /// The types of the arguments, as last sent to the server.
    types: Vec<[u8; 2]>,
    /// Whether the server has received them.
    types_sent: bool,
}

impl Prepared {
    pub fn new(response: PrepareResponse) -> Prepared {
        let mut head = [0; packet::HEAD + 10];
        let [_, _, _, _, command, number @ .., _, iterations, _, _, _] = &mut head;
        *command = EXECUTE;
        *number = response.number.to_le_bytes();
        // Executed once; the protocol allows no other count.
        *iterations = 1;
        Prepared {
            head,
            types: vec![NULL; response.parameters.into()],
            types_sent: false,
        }
    }

    /// After an error it is unknown which types have reached the server.
    pub fn forget_types(&mut self) {
        self.types_sent = false;
    }

    #[inline]
    pub fn write(&mut self, arguments: Arguments<'_>, out: &mut Vec<u8>) -> DbResult<()> {
        let count = self.types.len();
        if arguments.len() != count {
            return Err(DbError::protocol(format!(
                "a statement with {count} parameters has {} arguments",
                arguments.len()
            )));
        }
        out.clear();
        out.extend_from_slice(&self.head);
        if count > 0 {
            let nulls = out.len();
            out.resize(nulls + count.div_ceil(8), 0);
            for (at, argument) in arguments.iter().enumerate() {
                let kind = match argument {
                    Argument::Null => {
                        out[nulls + at / 8] |= 1 << (at % 8);
                        continue;
                    }
                    Argument::Int(_) => LONGLONG,
                    Argument::Float(_) => DOUBLE,
                    Argument::Text(_) => VAR_STRING,
                };
                if self.types[at] != kind {
                    self.types[at] = kind;
                    self.types_sent = false;
                }
            }
            out.push(u8::from(!self.types_sent));
            if !self.types_sent {
                out.extend_from_slice(self.types.as_flattened());
                self.types_sent = true;
            }
            for argument in arguments.iter() {
                match argument {
                    Argument::Null => {}
                    Argument::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
                    Argument::Float(value) => out.extend_from_slice(&value.to_le_bytes()),
                    Argument::Text(text) => {
                        write_length(text.len(), out);
                        out.extend_from_slice(text.as_bytes());
                    }
                }
            }
        }
        packet::finish(out, 0);
        Ok(())
    }
}

/// A number preceded by its length.
#[inline]
pub fn write_length(length: usize, out: &mut Vec<u8>) {
    let bytes = (length as u64).to_le_bytes();
    match length {
        0..=0xfa => out.push(bytes[0]),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::argument::ArgumentList;

    fn statement(parameters: u16) -> Prepared {
        Prepared::new(PrepareResponse {
            number: 0x0102,
            columns: 1,
            parameters,
        })
    }

    fn written(prepared: &mut Prepared, list: &ArgumentList) -> Vec<u8> {
        let mut out = vec![9; 3];
        prepared.write(list.range(0..list.len()), &mut out).unwrap();
        let length = out.len() - 4;
        assert_eq!(packet::head(&out), Some((length, 0)));
        assert_eq!(out[4..14], [0x17, 2, 1, 0, 0, 0, 1, 0, 0, 0]);
        out.split_off(14)
    }

    #[test]
    fn types_are_sent_only_when_they_differ() {
        let mut prepared = statement(2);
        let mut list = ArgumentList::default();
        list.int(-1);
        list.text(|text| text.push_str("ab"));
        let values = [&[0xff; 8][..], b"\x02ab"].concat();
        let with_types = [&[0, 1, 8, 0, 253, 0][..], &values].concat();
        assert_eq!(written(&mut prepared, &list), with_types);
        assert_eq!(
            written(&mut prepared, &list),
            [&[0, 0][..], &values].concat()
        );
        prepared.forget_types();
        assert_eq!(written(&mut prepared, &list), with_types);
        let mut other = ArgumentList::default();
        other.null();
        other.float(1.0);
        let number = 1f64.to_le_bytes();
        let expected = [&[1, 1, 8, 0, 5, 0][..], &number].concat();
        assert_eq!(written(&mut prepared, &other), expected);
    }

    #[test]
    fn null_alone_changes_no_type() {
        let mut prepared = statement(9);
        let mut list = ArgumentList::default();
        (0..9).for_each(|_| list.int(0));
        written(&mut prepared, &list);
        let mut nulls = ArgumentList::default();
        (0..9).for_each(|_| nulls.null());
        assert_eq!(written(&mut prepared, &nulls), [0xff, 1, 0]);
    }

    #[test]
    fn without_parameters_there_is_nothing_more() {
        let none = ArgumentList::default();
        assert!(written(&mut statement(0), &none).is_empty());
        let error = statement(1).write(Arguments::NONE, &mut Vec::new());
        assert!(error.unwrap_err().message.contains("1 parameters has 0"));
    }

    #[test]
    fn lengths_take_as_many_bytes_as_they_need() {
        for length in [0, 250, 251, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000] {
            let mut out = Vec::new();
            write_length(length, &mut out);
            assert_eq!(MySqlFields(&out).number().unwrap(), length as u64);
        }
    }
}
