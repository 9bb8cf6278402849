//! The twelve consistency conditions of clause 3.3.2, as queries for what violates them.
//!
//! In: a database with TPC-C's tables. Out: an error that names the first condition that does not
//! hold, with its rows. Called by the verify phase.

use super::draws::FIRST_UNDELIVERED;
use crate::db::Rows;
use crate::db::database::Database;
use crate::db::session::Session;
use crate::error::{Class, EngineError, Result};
use crate::load::stop::OnRequest;
use crate::workload::event::Verified;

/// Rows of a violation that a message shows.
const SHOWN: usize = 3;

/// Sums of SQLite are those of floating-point numbers; amounts differ by a hundredth at least.
const CONDITIONS: [&str; 12] = [
    "SELECT w_id, w_ytd, of_districts FROM warehouse \
     LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS of_districts FROM district GROUP BY d_w_id) d ON d_w_id = w_id \
     WHERE of_districts IS NULL OR ABS(w_ytd - of_districts) > 0.005",
    "SELECT d_w_id, d_id, d_next_o_id, latest, latest_new FROM district \
     LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS latest FROM orders GROUP BY o_w_id, o_d_id) o \
     ON o_w_id = d_w_id AND o_d_id = d_id \
     LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS latest_new FROM new_orders GROUP BY no_w_id, no_d_id) n \
     ON no_w_id = d_w_id AND no_d_id = d_id \
     WHERE latest IS NULL OR d_next_o_id - 1 <> latest OR latest <> latest_new",
    "SELECT no_w_id, no_d_id, MIN(no_o_id) AS first, MAX(no_o_id) AS last, COUNT(*) AS rows_there \
     FROM new_orders GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)",
    "SELECT d_w_id, d_id, lines_ordered, lines_there FROM district \
     LEFT JOIN (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS lines_ordered FROM orders GROUP BY o_w_id, o_d_id) o \
     ON o_w_id = d_w_id AND o_d_id = d_id \
     LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS lines_there FROM order_line GROUP BY ol_w_id, ol_d_id) l \
     ON ol_w_id = d_w_id AND ol_d_id = d_id \
     WHERE lines_ordered IS NULL OR lines_there IS NULL OR lines_ordered <> lines_there",
    "SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_o_id FROM orders \
     LEFT JOIN new_orders ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
     WHERE (o_carrier_id IS NULL AND no_o_id IS NULL) OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)",
    "SELECT o_w_id, o_d_id, o_id, o_ol_cnt, lines_there FROM orders \
     LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS lines_there FROM order_line \
     GROUP BY ol_w_id, ol_d_id, ol_o_id) l \
     ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
     WHERE lines_there IS NULL OR o_ol_cnt <> lines_there",
    "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id FROM order_line \
     JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
     WHERE (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) \
     OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)",
    "SELECT w_id, w_ytd, paid FROM warehouse \
     LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id \
     WHERE paid IS NULL OR ABS(w_ytd - paid) > 0.005",
    "SELECT d_w_id, d_id, d_ytd, paid FROM district \
     LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h \
     ON h_w_id = d_w_id AND h_d_id = d_id \
     WHERE paid IS NULL OR ABS(d_ytd - paid) > 0.005",
    "SELECT c_w_id, c_d_id, c_id, c_balance, delivered, paid FROM customer \
     LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders \
     JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
     WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o \
     ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
     LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history \
     GROUP BY h_c_w_id, h_c_d_id, h_c_id) h \
     ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id \
     WHERE ABS(c_balance - COALESCE(delivered, 0) + COALESCE(paid, 0)) > 0.005",
    "SELECT d_w_id, d_id, orders_there, new_there, deliveries FROM district \
     LEFT JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS deliveries FROM customer GROUP BY c_w_id, c_d_id) c \
     ON c_w_id = d_w_id AND c_d_id = d_id \
     LEFT JOIN (SELECT o_w_id, o_d_id, COUNT(*) AS orders_there FROM orders GROUP BY o_w_id, o_d_id) o \
     ON o_w_id = d_w_id AND o_d_id = d_id \
     LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS new_there FROM new_orders GROUP BY no_w_id, no_d_id) n \
     ON no_w_id = d_w_id AND no_d_id = d_id \
     WHERE deliveries IS NULL OR orders_there IS NULL \
     OR orders_there - COALESCE(new_there, 0) <> deliveries + {delivered}",
    "SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, delivered FROM customer \
     LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders \
     JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
     WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o \
     ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
     WHERE ABS(c_balance + c_ytd_payment - COALESCE(delivered, 0)) > 0.005",
];

/// Checks every condition. Calls `progress` with the number of those that hold, and of all.
pub fn check(
    database: &Database,
    stop: &OnRequest,
    progress: impl Fn(u64, u64),
) -> Result<Verified> {
    let address = database.address();
    let mut session =
        Session::open(&database.patient(), false).map_err(|error| error.at(&address))?;
    let loaded = (FIRST_UNDELIVERED - 1).to_string();
    for (number, query) in (1..).zip(CONDITIONS) {
        if stop.is_asked() {
            return Err(EngineError::new(
                Class::Interrupted,
                format!("{address}: the check of the tables was stopped"),
                "run the phase again",
            ));
        }
        let sql = format!("{} LIMIT {SHOWN}", query.replace("{delivered}", &loaded));
        let violating = session.query(&sql).map_err(|error| error.at(&address))?;
        if !violating.rows.is_empty() {
            return Err(EngineError::new(
                Class::DataCorrupt,
                format!(
                    "{address}: consistency condition 3.3.2.{number} of TPC-C does not hold: {}",
                    as_text(&violating)
                ),
                "something has changed these tables, or lost a commit of theirs; make the data again",
            ));
        }
        progress(number, CONDITIONS.len() as u64);
    }
    Ok(Verified {
        blocks: CONDITIONS.len() as u64,
        written: 0,
        acknowledged: 0,
    })
}

/// The rows that violate a condition, by the names of their columns.
fn as_text(violating: &Rows) -> String {
    let row = |cells: &Vec<Option<String>>| {
        let cell = |(name, value): (&String, &Option<String>)| {
            format!("{name} {}", value.as_deref().unwrap_or("null"))
        };
        let cells: Vec<String> = violating.columns.iter().zip(cells).map(cell).collect();
        cells.join(", ")
    };
    let mut rows: Vec<String> = violating.rows.iter().map(row).collect();
    if violating.rows.len() == SHOWN {
        rows.push("…".to_string());
    }
    rows.join("; ")
}
