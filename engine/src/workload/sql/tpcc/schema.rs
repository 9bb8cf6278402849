//! The tables of TPC-C with the names of tpcc-mysql: their columns and keys.
//!
//! Called by `definition`, `load` and `rows`.

/// A table: its name, its columns, its primary key, and what a statement sums up to read it whole.
pub struct TpccTable {
    pub name: &'static str,
    pub columns: &'static [(&'static str, &'static str)],
    pub key: &'static str,
    summed: &'static str,
}

const STREET: &str = "VARCHAR(20)";
const MONEY: &str = "DECIMAL(12,2) NOT NULL";
const ID: &str = "INTEGER NOT NULL";
const SMALL: &str = "SMALLINT NOT NULL";
const RATE: &str = "DECIMAL(4,4)";
/// Becomes the dialect's type of a point in time.
pub const TIME: &str = "{time}";
const OF_DISTRICT: &str = "CHAR(24)";

pub const WAREHOUSE: TpccTable = TpccTable {
    name: "warehouse",
    columns: &[
        ("w_id", ID),
        ("w_name", "VARCHAR(10)"),
        ("w_street_1", STREET),
        ("w_street_2", STREET),
        ("w_city", STREET),
        ("w_state", "CHAR(2)"),
        ("w_zip", "CHAR(9)"),
        ("w_tax", RATE),
        ("w_ytd", MONEY),
    ],
    key: "w_id",
    summed: "LENGTH(w_name)",
};

pub const DISTRICT: TpccTable = TpccTable {
    name: "district",
    columns: &[
        ("d_id", SMALL),
        ("d_w_id", ID),
        ("d_name", "VARCHAR(10)"),
        ("d_street_1", STREET),
        ("d_street_2", STREET),
        ("d_city", STREET),
        ("d_state", "CHAR(2)"),
        ("d_zip", "CHAR(9)"),
        ("d_tax", RATE),
        ("d_ytd", MONEY),
        ("d_next_o_id", ID),
    ],
    key: "d_w_id, d_id",
    summed: "LENGTH(d_name)",
};

pub const CUSTOMER: TpccTable = TpccTable {
    name: "customer",
    columns: &[
        ("c_id", ID),
        ("c_d_id", SMALL),
        ("c_w_id", ID),
        ("c_first", "VARCHAR(16)"),
        ("c_middle", "CHAR(2)"),
        ("c_last", "VARCHAR(16)"),
        ("c_street_1", STREET),
        ("c_street_2", STREET),
        ("c_city", STREET),
        ("c_state", "CHAR(2)"),
        ("c_zip", "CHAR(9)"),
        ("c_phone", "CHAR(16)"),
        ("c_since", TIME),
        ("c_credit", "CHAR(2)"),
        ("c_credit_lim", "DECIMAL(12,2)"),
        ("c_discount", RATE),
        ("c_balance", MONEY),
        ("c_ytd_payment", MONEY),
        ("c_payment_cnt", ID),
        ("c_delivery_cnt", ID),
        ("c_data", "VARCHAR(500)"),
    ],
    key: "c_w_id, c_d_id, c_id",
    summed: "LENGTH(c_data)",
};

pub const HISTORY: TpccTable = TpccTable {
    name: "history",
    columns: &[
        ("h_c_id", ID),
        ("h_c_d_id", SMALL),
        ("h_c_w_id", ID),
        ("h_d_id", SMALL),
        ("h_w_id", ID),
        ("h_date", TIME),
        ("h_amount", "DECIMAL(6,2) NOT NULL"),
        ("h_data", "VARCHAR(24)"),
    ],
    key: "",
    summed: "LENGTH(h_data)",
};

pub const ORDERS: TpccTable = TpccTable {
    name: "orders",
    columns: &[
        ("o_id", ID),
        ("o_d_id", SMALL),
        ("o_w_id", ID),
        ("o_c_id", ID),
        ("o_entry_d", TIME),
        ("o_carrier_id", "SMALLINT"),
        ("o_ol_cnt", SMALL),
        ("o_all_local", SMALL),
    ],
    key: "o_w_id, o_d_id, o_id",
    summed: "o_ol_cnt",
};

pub const NEW_ORDERS: TpccTable = TpccTable {
    name: "new_orders",
    columns: &[("no_o_id", ID), ("no_d_id", SMALL), ("no_w_id", ID)],
    key: "no_w_id, no_d_id, no_o_id",
    summed: "no_o_id",
};

pub const ORDER_LINE: TpccTable = TpccTable {
    name: "order_line",
    columns: &[
        ("ol_o_id", ID),
        ("ol_d_id", SMALL),
        ("ol_w_id", ID),
        ("ol_number", SMALL),
        ("ol_i_id", ID),
        ("ol_supply_w_id", ID),
        ("ol_delivery_d", TIME),
        ("ol_quantity", SMALL),
        ("ol_amount", "DECIMAL(6,2) NOT NULL"),
        ("ol_dist_info", OF_DISTRICT),
    ],
    key: "ol_w_id, ol_d_id, ol_o_id, ol_number",
    summed: "LENGTH(ol_dist_info)",
};

pub const ITEM: TpccTable = TpccTable {
    name: "item",
    columns: &[
        ("i_id", ID),
        ("i_im_id", ID),
        ("i_name", "VARCHAR(24)"),
        ("i_price", "DECIMAL(5,2) NOT NULL"),
        ("i_data", "VARCHAR(50)"),
    ],
    key: "i_id",
    summed: "LENGTH(i_data)",
};

pub const STOCK: TpccTable = TpccTable {
    name: "stock",
    columns: &[
        ("s_i_id", ID),
        ("s_w_id", ID),
        ("s_quantity", SMALL),
        ("s_dist_01", OF_DISTRICT),
        ("s_dist_02", OF_DISTRICT),
        ("s_dist_03", OF_DISTRICT),
        ("s_dist_04", OF_DISTRICT),
        ("s_dist_05", OF_DISTRICT),
        ("s_dist_06", OF_DISTRICT),
        ("s_dist_07", OF_DISTRICT),
        ("s_dist_08", OF_DISTRICT),
        ("s_dist_09", OF_DISTRICT),
        ("s_dist_10", OF_DISTRICT),
        ("s_ytd", ID),
        ("s_order_cnt", ID),
        ("s_remote_cnt", ID),
        ("s_data", "VARCHAR(50)"),
    ],
    key: "s_w_id, s_i_id",
    summed: "LENGTH(s_data)",
};

/// Those that others refer to first.
pub const TABLES: [&TpccTable; 9] = [
    &WAREHOUSE,
    &DISTRICT,
    &CUSTOMER,
    &HISTORY,
    &ORDERS,
    &NEW_ORDERS,
    &ITEM,
    &STOCK,
    &ORDER_LINE,
];

impl TpccTable {
    pub fn columns(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    pub fn reading(&self) -> String {
        format!("SELECT SUM({}) FROM {}", self.summed, self.name)
    }

    /// The column of the warehouse that a row belongs to.
    pub fn warehouse(&self) -> Option<&'static str> {
        let mut names = self.columns.iter().map(|(name, _)| *name);
        let key = self.key.split(',').next()?;
        match self.name {
            "history" => Some("h_w_id"),
            _ => names.find(|&name| name == key && name.ends_with("w_id")),
        }
    }
}
