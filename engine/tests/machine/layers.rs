//! The layers of the engine: each module imports only modules of lower layers.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom to the top. `main` uses all of them.
const LAYERS: [&[&str]; 7] = [
    &["clock", "error", "input", "machine", "operation", "random"],
    &["conditions", "device", "event", "folder"],
    &["db", "file_agent"],
    &["job", "journal", "record"],
    &["io", "load", "sql", "supervise", "telemetry"],
    &["confine", "durability", "probe", "processes", "workload"],
    &["run"],
];

fn layer(module: &str) -> usize {
    let index = LAYERS.iter().position(|layer| layer.contains(&module));
    index.unwrap_or_else(|| panic!("module {module} is in no layer"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// The modules of the crate that a file names, outside of comments.
fn imports(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|path| {
            assert!(!path.starts_with('{'), "one `use` for each module: {path}");
            let name = path
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_');
            name.collect()
        })
        .collect()
}

#[test]
fn each_module_imports_only_lower_layers() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut modules = BTreeSet::new();
    for path in sources(&src) {
        let relative = path.strip_prefix(&src).unwrap().with_extension("");
        let first = relative.components().next().unwrap();
        let module = first.as_os_str().to_str().unwrap().to_string();
        if ["lib", "main"].contains(&module.as_str()) {
            continue;
        }
        for import in imports(&fs::read_to_string(&path).unwrap()) {
            assert!(
                import == module || layer(&import) < layer(&module),
                "{} imports {import}, which is not below {module}",
                path.display()
            );
        }
        modules.insert(module);
    }
    let named: BTreeSet<String> = LAYERS.concat().iter().map(ToString::to_string).collect();
    assert_eq!(modules, named, "each module of the table exists");
}
