//! The statements of the five transactions, in the order and form of tpcc-mysql.
//!
//! In: a dialect. Out: the statements to prepare. Used by `script`; the number of a statement is its
//! place in the list.

use super::draws::DISTRICTS;
use crate::db::statement::{Statement, StatementKind};
use crate::workload::sql::schema::Dialect;
use crate::workload::sql::transaction::framing;

/// A statement of TPC-C. Those on stock come once for each district, whose column they read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TpccStatement {
    Buyer,
    NextOrder,
    CountOrder,
    AddOrder,
    AddNewOrder,
    Item,
    UpdateStock,
    AddOrderLine,
    PayWarehouse,
    WarehouseAddress,
    PayDistrict,
    DistrictAddress,
    CountNames,
    CustomersOfName,
    Payer,
    CreditData,
    Pay,
    PayOnBadCredit,
    AddHistory,
    Balance,
    BalancesOfName,
    LatestOrder,
    LinesOfOrder,
    OldestNewOrder,
    TakeNewOrder,
    OrderingCustomer,
    SetCarrier,
    SetDelivery,
    AmountOfOrder,
    Credit,
    OrdersUpTo,
    LowStock,
    Stock,
}

use RowUse::*;
use TpccStatement::*;

/// What a statement's rows are for.
#[derive(Debug, Clone, Copy)]
enum RowUse {
    /// There are none.
    Writes,
    /// They are only counted.
    Reads,
    /// They decide what follows.
    Returns,
    /// They decide what follows, and no other transaction may change them meanwhile. Those after
    /// the first lock see what was committed before it only if they lock too.
    Locks,
}

/// Every statement, in the order of the variants.
const ALL: [(TpccStatement, RowUse, &str); 33] = [
    (
        Buyer,
        Reads,
        "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse \
                 WHERE w_id = ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?",
    ),
    (
        NextOrder,
        Locks,
        "SELECT d_next_o_id, d_tax FROM district WHERE d_id = ? AND d_w_id = ?",
    ),
    (
        CountOrder,
        Writes,
        "UPDATE district SET d_next_o_id = ? WHERE d_id = ? AND d_w_id = ?",
    ),
    (
        AddOrder,
        Writes,
        "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
                 VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)",
    ),
    (
        AddNewOrder,
        Writes,
        "INSERT INTO new_orders (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)",
    ),
    (
        Item,
        Returns,
        "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?",
    ),
    (
        UpdateStock,
        Writes,
        "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
                 s_remote_cnt = s_remote_cnt + ? WHERE s_i_id = ? AND s_w_id = ?",
    ),
    (
        AddOrderLine,
        Writes,
        "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, \
                 ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    (
        PayWarehouse,
        Writes,
        "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?",
    ),
    (
        WarehouseAddress,
        Returns,
        "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse \
                 WHERE w_id = ?",
    ),
    (
        PayDistrict,
        Writes,
        "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        DistrictAddress,
        Returns,
        "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
                 WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        CountNames,
        Reads,
        "SELECT COUNT(c_id) FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ?",
    ),
    (
        CustomersOfName,
        Returns,
        "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? \
                 ORDER BY c_first",
    ),
    (
        Payer,
        Locks,
        "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, \
                 c_state, c_zip, c_phone, c_credit_lim, c_discount, c_balance, c_since \
                 FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        CreditData,
        Locks,
        "SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        Pay,
        Writes,
        "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
                 c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        PayOnBadCredit,
        Writes,
        "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
                 c_payment_cnt = c_payment_cnt + 1, c_data = ? \
                 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        AddHistory,
        Writes,
        "INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, \
                 h_data) VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)",
    ),
    (
        Balance,
        Reads,
        "SELECT c_balance, c_first, c_middle, c_last FROM customer \
                 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        BalancesOfName,
        Returns,
        "SELECT c_id, c_balance, c_first, c_middle FROM customer \
                 WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
    ),
    (
        LatestOrder,
        Returns,
        "SELECT o_id, o_entry_d, o_carrier_id FROM orders \
                 WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1",
    ),
    (
        LinesOfOrder,
        Reads,
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d \
                 FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
    ),
    (
        OldestNewOrder,
        Locks,
        "SELECT no_o_id FROM new_orders WHERE no_d_id = ? AND no_w_id = ? \
                 ORDER BY no_o_id LIMIT 1",
    ),
    (
        TakeNewOrder,
        Writes,
        "DELETE FROM new_orders WHERE no_o_id = ? AND no_d_id = ? AND no_w_id = ?",
    ),
    (
        OrderingCustomer,
        Locks,
        "SELECT o_c_id FROM orders WHERE o_id = ? AND o_d_id = ? AND o_w_id = ?",
    ),
    (
        SetCarrier,
        Writes,
        "UPDATE orders SET o_carrier_id = ? WHERE o_id = ? AND o_d_id = ? AND o_w_id = ?",
    ),
    (
        SetDelivery,
        Writes,
        "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP \
                 WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?",
    ),
    (
        AmountOfOrder,
        Returns,
        "SELECT SUM(ol_amount) FROM order_line \
                 WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?",
    ),
    (
        Credit,
        Writes,
        "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
                 WHERE c_id = ? AND c_d_id = ? AND c_w_id = ?",
    ),
    (
        OrdersUpTo,
        Returns,
        "SELECT d_next_o_id FROM district WHERE d_id = ? AND d_w_id = ?",
    ),
    (
        LowStock,
        Reads,
        "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock \
                 WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? \
                 AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?",
    ),
    (
        Stock,
        Locks,
        "SELECT s_quantity, s_dist_{district}, s_data FROM stock WHERE s_i_id = ? AND s_w_id = ?",
    ),
];

const FIRST: usize = 4;

impl TpccStatement {
    pub fn number(self) -> usize {
        FIRST + self as usize
    }

    /// The statement that reads the stock with the text of this district, counted from 1.
    pub fn stock_of(district: u64) -> usize {
        Stock.number() + district as usize - 1
    }
}

/// Every statement, that on stock once for each district. Its position in the list is its number.
pub fn statements(dialect: Dialect) -> Vec<Statement> {
    let mut list = framing(dialect);
    for (statement, row_use, sql) in ALL {
        if statement == Stock {
            for district in 1..=DISTRICTS {
                let sql = sql.replace("{district}", &format!("{district:02}"));
                list.push(in_dialect(row_use, &sql, dialect));
            }
        } else {
            list.push(in_dialect(row_use, sql, dialect));
        }
    }
    list
}

fn in_dialect(row_use: RowUse, sql: &str, dialect: Dialect) -> Statement {
    match (row_use, dialect) {
        (Writes, _) => Statement::new(StatementKind::Write, sql),
        (Reads, _) => Statement::new(StatementKind::Read, sql),
        // A writing transaction of SQLite has the whole database to itself.
        (Returns, _) | (Locks, Dialect::Sqlite) => Statement::with_values(sql),
        (Locks, _) => Statement::with_values(&format!("{sql} FOR UPDATE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_the_list() {
        let list = statements(Dialect::Postgres);
        for (place, (statement, _, _)) in ALL.into_iter().enumerate() {
            assert_eq!(statement as usize, place);
        }
        let text = |number: usize| list[number].with_question_marks();
        assert!(text(LowStock.number()).starts_with("SELECT COUNT(DISTINCT s_i_id)"));
        assert!(text(TpccStatement::stock_of(10)).contains("s_dist_10"));
        assert!(text(TpccStatement::stock_of(1)).ends_with("FOR UPDATE"));
        assert_eq!(list.len(), TpccStatement::stock_of(10) + 1);
        assert!(
            !statements(Dialect::Sqlite)[NextOrder.number()]
                .with_question_marks()
                .contains("UPDATE")
        );
    }
}
