//! The answer to a query, as text.
//!
//! In: packets, one after another. Out: all rows of the last result with rows. Called by
//! `Connection::query`; never used for measured operations.

use super::ending::{self, NO_COLUMNS, Status, WANTS_FILE, is_end};
use super::fields::MySqlFields;
use super::refusal;
use crate::db::Rows;
use crate::db::error::{DbError, DbResult};

/// The other side of a conversation.
pub trait Packets {
    fn next(&mut self) -> DbResult<Vec<u8>>;
    fn reply(&mut self, payload: &[u8]) -> DbResult<()>;
}

pub fn read(packets: &mut impl Packets, short_ends: bool) -> DbResult<(Rows, Status)> {
    let mut set = Rows::default();
    let mut file_wanted = false;
    loop {
        let packet = packets.next()?;
        let status = match packet.split_first() {
            None => return Err(empty()),
            Some((&refusal::SIGN, body)) => return Err(refusal::read(body)),
            Some((&NO_COLUMNS, body)) => ending::changed(body)?.1,
            Some((&WANTS_FILE, _)) => {
                packets.reply(&[])?;
                file_wanted = true;
                continue;
            }
            Some(_) => {
                let columns = MySqlFields(&packet).number()?;
                let (rows, status) = result(packets, columns, short_ends)?;
                set = rows;
                status
            }
        };
        if status.more_follow() {
            continue;
        }
        if file_wanted {
            return Err(ending::file_refused());
        }
        return Ok((set, status));
    }
}

fn result(packets: &mut impl Packets, columns: u64, short_ends: bool) -> DbResult<(Rows, Status)> {
    let mut set = Rows::default();
    for _ in 0..columns {
        set.columns.push(name(&packets.next()?)?);
    }
    if !short_ends {
        packets.next()?;
    }
    loop {
        let packet = packets.next()?;
        match packet.split_first() {
            None => return Err(empty()),
            Some((&refusal::SIGN, body)) => return Err(refusal::read(body)),
            Some((&first, body)) if is_end(first, packet.len(), short_ends) => {
                return Ok((set, ending::after_rows(body, short_ends)?));
            }
            Some(_) => set.rows.push(row(&packet, set.columns.len())?),
        }
    }
}

/// The name of a column, after catalogue, database, table, and the table's own name.
fn name(packet: &[u8]) -> DbResult<String> {
    let mut fields = MySqlFields(packet);
    for _ in 0..4 {
        fields.counted()?;
    }
    fields.counted().map(text)
}

fn row(packet: &[u8], columns: usize) -> DbResult<Vec<Option<String>>> {
    let mut fields = MySqlFields(packet);
    (0..columns)
        .map(|_| Ok(fields.counted_or_null()?.map(text)))
        .collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn empty() -> DbError {
    DbError::protocol("the server sends an empty packet")
}
