//! The rows of TPC-C's tables (clause 4.3.3), in pieces that follow from the seed alone.
//!
//! In: the number of warehouses, the number of a piece. Out: lines of columns separated by tabs,
//! with `\N` for null. Called by `load`.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::draws::{
    CUSTOMERS, DISTRICTS, FIRST_UNDELIVERED, ITEMS, ORDERS, between, loaded_last_name, percent,
    write_digits, write_last_name,
};
use super::lines::Lines;
use super::schema;
use crate::random::generator;
use crate::workload::fileio::distribution::below;
use crate::workload::sql::chunk::Chunk;

/// Rows of items and of stock in a piece.
const PIECE: u64 = 10_000;
const PIECES_OF_ITEMS: u64 = ITEMS / PIECE;
/// A warehouse with its districts, its stock, and the customers and the orders of each district.
const PIECES_OF_A_WAREHOUSE: u64 = 1 + 3 * DISTRICTS;
const _: () = assert!(
    PIECES_OF_ITEMS == DISTRICTS,
    "a round has a piece of stock and a district"
);
/// Of the lines, on average; the sizes of names and texts vary.
const BYTES_OF_ITEMS: u64 = 7_680_000;
const BYTES_OF_A_WAREHOUSE: u64 = 70_700_000;
/// When all customers joined and all orders were placed: a fixed moment, since equal seeds give
/// equal rows.
const LOADED: &str = "2020-01-01 00:00:00";
const NULL: &str = "\\N";

/// The size of all lines, about.
pub fn total_bytes(warehouses: u64) -> u64 {
    BYTES_OF_ITEMS + warehouses * BYTES_OF_A_WAREHOUSE
}

/// The rows of a piece, of one or several tables; `None` behind the last.
pub fn piece(warehouses: u64, seed: u64, number: u64) -> Option<Vec<Chunk>> {
    let mut rng = generator(seed, number);
    let rng = &mut rng;
    if number < PIECES_OF_ITEMS {
        return Some(vec![items(number * PIECE, rng)]);
    }
    let number = number - PIECES_OF_ITEMS;
    let (warehouse, part) = (
        1 + number / PIECES_OF_A_WAREHOUSE,
        number % PIECES_OF_A_WAREHOUSE,
    );
    if warehouse > warehouses {
        return None;
    }
    if part == 0 {
        return Some(vec![
            warehouse_row(warehouse, rng),
            districts(warehouse, rng),
        ]);
    }
    // Neighbours are of different tables: two loaders of one table wait for each other.
    let (round, table) = ((part - 1) / 3, (part - 1) % 3);
    Some(match table {
        0 => vec![stock(warehouse, round * PIECE, rng)],
        1 => customers(warehouse, round + 1, rng),
        _ => orders(warehouse, round + 1, rng),
    })
}

fn items(before: u64, rng: &mut Xoshiro256PlusPlus) -> Chunk {
    let mut lines = Lines::of(&schema::ITEM, PIECE, 80);
    for item in before + 1..=before + PIECE {
        lines
            .number(item)
            .number(between(1, 10_000, rng))
            .letters(14, 24, rng)
            .money(between(100, 10_000, rng) as i64)
            .data(rng)
            .end();
    }
    lines.0
}

fn warehouse_row(warehouse: u64, rng: &mut Xoshiro256PlusPlus) -> Chunk {
    let mut lines = Lines::of(&schema::WAREHOUSE, 1, 120);
    lines
        .number(warehouse)
        .letters(6, 10, rng)
        .address(rng)
        .rate(2_000, rng)
        .money(30_000_000)
        .end();
    lines.0
}

fn districts(warehouse: u64, rng: &mut Xoshiro256PlusPlus) -> Chunk {
    let mut lines = Lines::of(&schema::DISTRICT, DISTRICTS, 130);
    for district in 1..=DISTRICTS {
        lines
            .number(district)
            .number(warehouse)
            .letters(6, 10, rng)
            .address(rng)
            .rate(2_000, rng)
            .money(3_000_000)
            .number(ORDERS + 1)
            .end();
    }
    lines.0
}

fn stock(warehouse: u64, before: u64, rng: &mut Xoshiro256PlusPlus) -> Chunk {
    let mut lines = Lines::of(&schema::STOCK, PIECE, 330);
    for item in before + 1..=before + PIECE {
        lines
            .number(item)
            .number(warehouse)
            .number(between(10, 100, rng));
        for _ in 0..DISTRICTS {
            lines.letters(24, 24, rng);
        }
        lines.number(0).number(0).number(0).data(rng).end();
    }
    lines.0
}

fn customers(warehouse: u64, district: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<Chunk> {
    let mut lines = Lines::of(&schema::CUSTOMER, CUSTOMERS, 620);
    let mut payments = Lines::of(&schema::HISTORY, CUSTOMERS, 64);
    for customer in 1..=CUSTOMERS {
        let name = loaded_last_name(customer, rng);
        let credit = if percent(10, rng) { "BC" } else { "GC" };
        lines
            .number(customer)
            .number(district)
            .number(warehouse)
            .letters(8, 16, rng)
            .word("OE")
            .with(|text| write_last_name(name, text))
            .address(rng)
            .with(|text| write_digits(16, rng, text))
            .word(LOADED)
            .word(credit)
            .money(5_000_000)
            .rate(5_000, rng)
            .money(-1_000)
            .money(1_000)
            .number(1)
            .number(0)
            .letters(300, 500, rng)
            .end();
        payments.number(customer);
        for _ in 0..2 {
            payments.number(district).number(warehouse);
        }
        payments
            .word(LOADED)
            .money(1_000)
            .letters(12, 24, rng)
            .end();
    }
    vec![lines.0, payments.0]
}

/// The orders of a district, with their lines; the last are not yet delivered.
fn orders(warehouse: u64, district: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<Chunk> {
    let mut placed = Lines::of(&schema::ORDERS, ORDERS, 48);
    let mut lines = Lines::of(&schema::ORDER_LINE, ORDERS * 10, 72);
    let mut new = Lines::of(&schema::NEW_ORDERS, ORDERS + 1 - FIRST_UNDELIVERED, 16);
    let mut customers: Vec<u64> = (1..=CUSTOMERS).collect();
    for order in 1..=ORDERS {
        // Each customer has one order: a step of Fisher and Yates.
        let (first, left) = ((order - 1) as usize, CUSTOMERS + 1 - order);
        customers.swap(first, first + below(left, rng) as usize);
        let is_delivered = order < FIRST_UNDELIVERED;
        let count = between(5, 15, rng);
        placed
            .number(order)
            .number(district)
            .number(warehouse)
            .number(customers[first])
            .word(LOADED);
        match is_delivered {
            true => placed.number(between(1, 10, rng)),
            false => placed.word(NULL),
        };
        placed.number(count).number(1).end();
        for number in 1..=count {
            let amount = match is_delivered {
                true => 0,
                false => between(1, 999_999, rng) as i64,
            };
            lines
                .number(order)
                .number(district)
                .number(warehouse)
                .number(number)
                .number(between(1, ITEMS, rng))
                .number(warehouse)
                .word(if is_delivered { LOADED } else { NULL })
                .number(5)
                .money(amount)
                .letters(24, 24, rng)
                .end();
        }
        if !is_delivered {
            new.number(order).number(district).number(warehouse).end();
        }
    }
    vec![placed.0, lines.0, new.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn two_warehouses_have_the_rows_of_the_specification() {
        let mut rows: BTreeMap<String, u64> = BTreeMap::new();
        let (mut bytes, mut original) = (0, 0);
        for number in 0.. {
            let Some(chunks) = piece(2, 42, number) else {
                break;
            };
            for chunk in chunks {
                *rows.entry(chunk.name.clone()).or_default() += chunk.rows;
                assert_eq!(chunk.lines.lines().count() as u64, chunk.rows);
                let columns = chunk.columns.split(", ").count();
                let first = chunk.lines.lines().next().unwrap();
                assert_eq!(first.split('\t').count(), columns, "{first}");
                bytes += chunk.lines.len() as u64;
                if chunk.name == "stock" {
                    original += chunk.lines.matches("ORIGINAL").count();
                }
            }
        }
        for (table, count) in [
            ("warehouse", 2),
            ("district", 20),
            ("customer", 60_000),
            ("history", 60_000),
            ("orders", 60_000),
            ("new_orders", 18_000),
            ("item", 100_000),
            ("stock", 200_000),
        ] {
            assert_eq!(rows[table], count, "{table}");
        }
        assert!((rows["order_line"] as f64 / 60_000.0 - 10.0).abs() < 0.1);
        assert!((original as f64 / 200_000.0 - 0.1).abs() < 0.004);
        let estimate = total_bytes(2) as f64 / bytes as f64;
        assert!(
            (0.98..1.02).contains(&estimate),
            "{bytes} bytes, {estimate}"
        );
    }

    #[test]
    fn every_customer_has_an_order_and_equal_seeds_give_equal_rows() {
        let [placed, _, _] = &orders(1, 1, &mut generator(1, 1))[..] else {
            panic!("three tables")
        };
        let customer = |line: &str| line.split('\t').nth(3).unwrap().parse::<u64>().unwrap();
        let mut customers: Vec<u64> = placed.lines.lines().map(customer).collect();
        customers.sort_unstable();
        assert_eq!(customers, (1..=CUSTOMERS).collect::<Vec<_>>());
        let lines = |seed| piece(1, seed, 30).unwrap().remove(0).lines;
        assert_eq!(lines(5), lines(5));
        assert_ne!(lines(5), lines(6));
    }
}
