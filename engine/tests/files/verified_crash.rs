//! Data reported as durable survives the worst crash that fsync allows, and the report is not too
//! cautious.
//!
//! The storage is a model. It completes operations in any order, and keeps any subset of unsynced
//! writes. An fsync covers only operations completed before its start.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::harness::{change, disk_directory, job};
use paribus_engine::clock::Nanos;
use paribus_engine::error::Result;
use paribus_engine::io::Operation;
use paribus_engine::io::buffer::Buffer;
use paribus_engine::io::fileset::FileSet;
use paribus_engine::io::{Io, Request};
use paribus_engine::job::{Files, Job, WorkloadJob as Work};
use paribus_engine::load::stop::OnRequest;
use paribus_engine::load::workload::Workload;
use paribus_engine::operation::{Completion, Outcome, Slot, Submitted};
use paribus_engine::random::generator;
use paribus_engine::workload::fileio::FileLoad;
use paribus_engine::workload::fileio::pattern::streams;
use paribus_engine::workload::fileio::prepare::prepare;
use paribus_engine::workload::fileio::requests::Requests;
use paribus_engine::workload::fileio::verified::verify::verify;
use paribus_engine::workload::fileio::verified::{Verification, Verifier};
use proptest::prelude::*;
use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

const BLOCK: usize = 512;

type Place = (usize, u64);

/// A completed write; writes of one position are in order.
struct Written {
    place: Place,
    bytes: Vec<u8>,
    synced: bool,
}

#[derive(Default)]
struct Storage {
    current: HashMap<Place, Vec<u8>>,
    log: Vec<Written>,
}

struct ModelIo {
    storage: Rc<RefCell<Storage>>,
    directory: std::path::PathBuf,
    buffers: Vec<Buffer>,
    /// With an fsync: the covered length of the log.
    in_flight: Vec<(Slot, Request, usize)>,
    rng: Xoshiro256PlusPlus,
}

impl Io for ModelIo {
    fn slots(&self) -> usize {
        self.buffers.len()
    }

    fn buffer(&mut self, slot: Slot) -> Option<&mut Buffer> {
        Some(&mut self.buffers[slot])
    }

    fn submit(&mut self, slot: Slot, request: Request) -> Result<Submitted> {
        let covers = self.storage.borrow().log.len();
        self.in_flight.push((slot, request, covers));
        Ok(Submitted::Pending)
    }

    fn reap(&mut self, _deadline: Option<Nanos>, completions: &mut Vec<Completion>) -> Result<()> {
        let index = self.rng.next_u64() as usize % self.in_flight.len();
        let (slot, request, covers) = self.in_flight.swap_remove(index);
        let mut storage = self.storage.borrow_mut();
        let place = (request.file, request.offset);
        match request.kind {
            Operation::Write => {
                let bytes = self.buffers[slot].bytes().to_vec();
                storage.current.insert(place, bytes.clone());
                storage.log.push(Written {
                    place,
                    bytes,
                    synced: false,
                });
            }
            Operation::Read => {
                let bytes = match storage.current.get(&place) {
                    Some(bytes) => bytes.clone(),
                    None => read_block(&self.directory, place),
                };
                self.buffers[slot].bytes_mut().copy_from_slice(&bytes);
            }
            Operation::Fsync => {
                let covered = storage.log[..covers].iter_mut();
                covered
                    .filter(|write| write.place.0 == request.file)
                    .for_each(|write| write.synced = true);
            }
        }
        completions.push(Completion {
            slot,
            kind: request.kind.into(),
            outcome: Outcome::Done {
                bytes: u64::from(request.length),
            },
        });
        Ok(())
    }
}

fn read_block(directory: &Path, (file, offset): Place) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK];
    let file = OpenOptions::new()
        .read(true)
        .open(directory.join(format!("paribus.{file}")));
    file.unwrap().read_exact_at(&mut bytes, offset).unwrap();
    bytes
}

fn write_block(directory: &Path, (file, offset): Place, bytes: &[u8]) {
    let file = OpenOptions::new()
        .write(true)
        .open(directory.join(format!("paribus.{file}")));
    file.unwrap().write_all_at(bytes, offset).unwrap();
}

fn files_of(job: &Job) -> &Files {
    match &job.workload {
        Work::Files(files) => files,
        Work::Sql(_) => unreachable!("the job is of files"),
    }
}

/// Runs workers with these numbers of slots for `steps` steps and crashes. Returns the last durable
/// report, and the storage.
fn run_until_crash(
    job: &Job,
    directory: &Path,
    workers: &[usize],
    steps: usize,
    rng: &mut Xoshiro256PlusPlus,
) -> (Option<Vec<u64>>, Storage) {
    let storage = Rc::new(RefCell::new(Storage::default()));
    let verification = Arc::new(Verification::of(job, files_of(job)).unwrap());
    let pattern = streams(files_of(job), &job.load).remove(0).pattern;
    let drawn = Arc::default();
    let mut lane = 0;
    let mut states: Vec<_> = workers
        .iter()
        .map(|&slots| {
            let io = ModelIo {
                storage: Rc::clone(&storage),
                directory: directory.to_path_buf(),
                buffers: (0..slots)
                    .map(|_| Buffer::random(BLOCK, rng).unwrap())
                    .collect(),
                in_flight: Vec::new(),
                rng: generator(rng.next_u64(), 0),
            };
            let requests = Requests::new(pattern.clone(), Arc::clone(&drawn), rng.clone());
            let verifier = Verifier::new(Arc::clone(&verification), &pattern, lane, slots);
            lane += slots;
            let files = Arc::new(FileSet::default());
            let free: Vec<Slot> = (0..slots).collect();
            (
                FileLoad::new(io, requests, files, Some(Box::new(verifier))),
                free,
            )
        })
        .collect();
    let mut durable = None;
    for _ in 0..steps {
        let choice = rng.next_u64() as usize;
        let (workload, free) = &mut states[choice % workers.len()];
        match free.pop() {
            Some(slot) if choice & 64 == 0 => drop(workload.submit(slot).unwrap()),
            slot => {
                free.extend(slot);
                if free.len() < workload.slots() {
                    let mut completions = Vec::new();
                    workload.reap(None, &mut completions).unwrap();
                    free.extend(completions.iter().map(|completion| completion.slot));
                }
            }
        }
        durable = verification.ledger.unreported().or(durable);
    }
    drop(states);
    (durable, Rc::into_inner(storage).unwrap().into_inner())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn what_is_durable_survives_and_its_loss_is_found(
        workers in prop::collection::vec(1usize..5, 1..4), files in 1u32..4, seed in any::<u64>(),
        fsync_every in 1u64..30, steps in 200usize..3000,
        mode in prop_oneof![Just("rndrw"), Just("rndwr"), Just("seqrewr")],
        distribution in prop_oneof![Just("uniform"), Just("zipf"), Just("hotspot")],
    ) {
        let directory = disk_directory();
        let outstanding: usize = workers.iter().sum();
        let mut line = job(directory.path(), "run", json!({
            "files": files, "total_size_bytes": u64::from(files) * 40 * BLOCK as u64,
            "verified_block_bytes": BLOCK, "block_size_bytes": BLOCK, "mode": mode, "seed": seed,
            "distribution": distribution, "fsync_every": fsync_every,
            "load": {"outstanding": outstanding}}));
        let job = Job::parse(&line.to_string()).unwrap();
        let never = OnRequest::default();
        prepare(files_of(&job).data(), false, seed, &never, |_| ()).unwrap();
        let mut rng = generator(seed, 1000);
        let (durable, storage) = run_until_crash(&job, directory.path(), &workers, steps, &mut rng);
        let Some(durable) = durable else { return Ok(()) };
        change(&mut line, &json!({"phase": "verify", "durable": durable}));
        let job = Job::parse(&line.to_string()).unwrap();

        let prepared: HashMap<Place, Vec<u8>> = storage
            .log
            .iter()
            .map(|write| (write.place, read_block(directory.path(), write.place)))
            .collect();
        for write in &storage.log {
            if write.synced || rng.next_u64().is_multiple_of(3) {
                write_block(directory.path(), write.place, &write.bytes);
            }
        }
        let verified = verify(&job, files_of(&job), &never, |_, _| ()).unwrap();
        prop_assert!(verified.acknowledged > 0);
        for (place, bytes) in prepared {
            write_block(directory.path(), place, &bytes);
        }
        let error = verify(&job, files_of(&job), &never, |_, _| ()).unwrap_err();
        prop_assert!(error.message.contains("stale"), "{}", error.message);
    }
}
