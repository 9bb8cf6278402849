//! Filling tables with rows, in pieces that follow from the seed alone.
//!
//! In: empty tables. Out: rows. Called by `prepare`.

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::chunk::{Chunk, ChunkLoader};
use super::loaders::share_out;
use super::rows::{RowNumbers, write_c, write_pad};
use super::schema::{create_index, table};
use crate::db::error::DbResult;
use crate::db::session::Session;
use crate::job::sql::Oltp;
use crate::load::stop::OnRequest;
use crate::random::generator;

/// Rows of a piece: about a megabyte.
const PIECE: u64 = 5_000;

/// Rows of one table, from `first` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    table: u32,
    first: u64,
    end: u64,
    seed: u64,
}

/// The pieces of all tables, by number. Neighbours belong to different tables, so that concurrent
/// loaders do not block each other.
fn piece(oltp: &Oltp, seed: u64, number: u64) -> Option<Piece> {
    let tables = u64::from(oltp.tables);
    let (table, within) = (1 + number % tables, number / tables);
    (within * PIECE < oltp.table_size).then(|| Piece {
        table: table as u32,
        first: 1 + within * PIECE,
        end: 1 + ((within + 1) * PIECE).min(oltp.table_size),
        seed: seed.wrapping_add(number << 32),
    })
}

impl Piece {
    /// Calls `row` with the number, `k`, `c` and `pad` of each row.
    fn rows(&self, oltp: &Oltp, mut row: impl FnMut(u64, u64, &str, &str)) {
        let mut rng = generator(self.seed, u64::from(self.table));
        let numbers = RowNumbers::of(oltp);
        let (mut c, mut pad) = (String::new(), String::new());
        for id in self.first..self.end {
            c.clear();
            pad.clear();
            let k = numbers.draw(&mut rng);
            write_c(&mut c, &mut rng);
            write_pad(&mut pad, &mut rng);
            row(id, k, &c, &pad);
        }
    }

    fn chunk(&self, oltp: &Oltp) -> Chunk {
        let rows = self.end - self.first;
        let mut lines = String::with_capacity(rows as usize * 210);
        self.rows(oltp, |id, k, c, pad| {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{id}\t{k}\t{c}\t{pad}");
        });
        Chunk {
            name: table(self.table),
            columns: "id, k, c, pad".to_string(),
            rows,
            lines,
        }
    }
}

/// Fills all tables, then creates their indexes. Calls `report_rows` with the number of loaded rows.
/// Returns false where it was stopped.
pub fn load(
    oltp: &Oltp,
    seed: u64,
    stop: &OnRequest,
    report_rows: &impl Fn(u64),
) -> DbResult<bool> {
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut loaded = share_out(
        &oltp.database,
        stop,
        &|| report_rows(done.load(Ordering::Relaxed)),
        &|halt| {
            let tables: Vec<(String, usize)> =
                (1..=oltp.tables).map(|number| (table(number), 4)).collect();
            let mut loader = ChunkLoader::open(&oltp.database, &tables)?;
            while !halt.load(Ordering::Relaxed)
                && let Some(piece) = piece(oltp, seed, next.fetch_add(1, Ordering::Relaxed))
            {
                loader.load(&piece.chunk(oltp))?;
                done.fetch_add(piece.end - piece.first, Ordering::Relaxed);
            }
            Ok(())
        },
    )?;
    let next = AtomicU32::new(1);
    loaded = loaded
        && share_out(&oltp.database, stop, &|| {}, &|halt| {
            let mut session = Session::open(&oltp.database, false)?;
            while !halt.load(Ordering::Relaxed) {
                match next.fetch_add(1, Ordering::Relaxed) {
                    number if number > oltp.tables => break,
                    number => session.query(&create_index(number))?,
                };
            }
            Ok(())
        })?;
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oltp(tables: u32, table_size: u64) -> Oltp {
        let job = serde_json::json!({
            "database": {"driver": "sqlite", "path": "/d"},
            "mix": "read_write", "tables": tables, "table_size": table_size,
        });
        serde_json::from_value(job).unwrap()
    }

    #[test]
    fn every_row_is_in_exactly_one_piece() {
        let oltp = oltp(3, 12_345);
        let pieces: Vec<Piece> = (0..).map_while(|number| piece(&oltp, 7, number)).collect();
        for table in 1..=3 {
            let of_table = pieces.iter().filter(|piece| piece.table == table);
            let rows: Vec<u64> = of_table.flat_map(|piece| piece.first..piece.end).collect();
            assert_eq!(rows, (1..=12_345).collect::<Vec<_>>());
        }
        let seeds: std::collections::HashSet<u64> = pieces.iter().map(|piece| piece.seed).collect();
        assert_eq!(seeds.len(), pieces.len());
    }
}
