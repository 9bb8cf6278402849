//! The statements that create TPC-C's tables, keys and indexes, in the dialects of the databases.
//!
//! In: a dialect. Out: statements. Called by `prepare` and `load`.

use super::schema::{TABLES, TIME, TpccTable};
use crate::workload::sql::schema::Dialect;

/// Each: table, columns, the table that they refer to, its columns.
const REFERENCES: [(&str, &str, &str, &str); 9] = [
    ("district", "d_w_id", "warehouse", "w_id"),
    ("customer", "c_w_id, c_d_id", "district", "d_w_id, d_id"),
    (
        "history",
        "h_c_w_id, h_c_d_id, h_c_id",
        "customer",
        "c_w_id, c_d_id, c_id",
    ),
    ("history", "h_w_id, h_d_id", "district", "d_w_id, d_id"),
    (
        "orders",
        "o_w_id, o_d_id, o_c_id",
        "customer",
        "c_w_id, c_d_id, c_id",
    ),
    (
        "new_orders",
        "no_w_id, no_d_id, no_o_id",
        "orders",
        "o_w_id, o_d_id, o_id",
    ),
    (
        "order_line",
        "ol_w_id, ol_d_id, ol_o_id",
        "orders",
        "o_w_id, o_d_id, o_id",
    ),
    (
        "order_line",
        "ol_supply_w_id, ol_i_id",
        "stock",
        "s_w_id, s_i_id",
    ),
    ("stock", "s_i_id", "item", "i_id"),
];

/// Statements that create the empty table. With `partitions` above 0 its rows are spread over so many
/// by their warehouse, unless they have none.
pub fn create(table: &TpccTable, dialect: Dialect, partitions: u32) -> Vec<String> {
    let time = match dialect {
        Dialect::Mysql => "DATETIME",
        Dialect::Postgres | Dialect::Sqlite => "TIMESTAMP",
    };
    let mut parts: Vec<String> = table
        .columns
        .iter()
        .map(|(name, kind)| format!("{name} {}", kind.replace(TIME, time)))
        .collect();
    if dialect != Dialect::Postgres && !table.key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", table.key));
    }
    let name = table.name;
    let partitioned = table.warehouse().filter(|_| partitions > 0);
    let spread = partitioned.map_or(String::new(), |column| {
        format!(" PARTITION BY HASH ({column})")
    });
    let after = match dialect {
        Dialect::Mysql if partitioned.is_some() => {
            format!(" ENGINE = InnoDB{spread} PARTITIONS {partitions}")
        }
        Dialect::Mysql => " ENGINE = InnoDB".to_string(),
        Dialect::Postgres | Dialect::Sqlite => spread,
    };
    let mut statements = vec![format!("CREATE TABLE {name} ({}){after}", parts.join(", "))];
    if dialect == Dialect::Postgres && partitioned.is_some() {
        statements.extend((0..partitions).map(|number| {
            format!(
                "CREATE TABLE {name}_{number} PARTITION OF {name} \
                 FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})"
            )
        }));
    }
    statements
}

/// Statements that may be carried out at once after all rows are loaded, which is faster. Servers
/// that keep rows in the order of their key have that from the beginning.
pub fn create_indexes(dialect: Dialect) -> Vec<String> {
    let mut statements = vec![
        "CREATE INDEX idx_customer ON customer (c_w_id, c_d_id, c_last, c_first)".to_string(),
        "CREATE INDEX idx_orders ON orders (o_w_id, o_d_id, o_c_id, o_id)".to_string(),
    ];
    if dialect == Dialect::Postgres {
        let keyed = TABLES.iter().filter(|table| !table.key.is_empty());
        statements
            .extend(keyed.map(|table| {
                format!("ALTER TABLE {} ADD PRIMARY KEY ({})", table.name, table.key)
            }));
    }
    statements
}

/// The foreign keys of clause 1.3, which need the primary keys.
pub fn create_references() -> Vec<String> {
    REFERENCES
        .iter()
        .enumerate()
        .map(|(number, (table, columns, of, referred))| {
            format!(
                "ALTER TABLE {table} ADD CONSTRAINT fk_tpcc_{number} \
                 FOREIGN KEY ({columns}) REFERENCES {of} ({referred})"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::sql::tpcc::schema::{HISTORY, ITEM, STOCK};

    #[test]
    fn rows_of_a_warehouse_are_in_one_partition() {
        let [created] = create(&STOCK, Dialect::Mysql, 4).try_into().unwrap();
        assert!(created.ends_with(" ENGINE = InnoDB PARTITION BY HASH (s_w_id) PARTITIONS 4"));
        let statements = create(&HISTORY, Dialect::Postgres, 2);
        assert!(statements[0].ends_with(") PARTITION BY HASH (h_w_id)"));
        assert_eq!(
            statements[2],
            "CREATE TABLE history_1 PARTITION OF history FOR VALUES WITH (MODULUS 2, REMAINDER 1)"
        );
        for (dialect, partitions) in [
            (Dialect::Mysql, 0),
            (Dialect::Postgres, 0),
            (Dialect::Sqlite, 0),
        ] {
            let [created] = create(&STOCK, dialect, partitions).try_into().unwrap();
            assert!(!created.contains("PARTITION"));
        }
        assert_eq!(ITEM.warehouse(), None);
        let spread = TABLES.iter().filter(|table| table.warehouse().is_some());
        assert_eq!(spread.count(), TABLES.len() - 1);
    }
}
