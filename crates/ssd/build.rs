//! Finds the cache policies: every file of `src/ftl/cache/` but `mod.rs` is one, so that a new policy is a new file.

use std::fmt::Write as _;
use std::{env, fs, path::Path};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("src/ftl/cache");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_string())
        .filter(|name| name != "mod")
        .collect();
    names.sort();
    let mut code = String::new();
    for name in &names {
        let path = folder.join(format!("{name}.rs"));
        writeln!(code, "#[path = {:?}]\nmod {name};", path.display().to_string()).unwrap();
    }
    let entries: Vec<String> = names
        .iter()
        .map(|name| format!("({:?}, &{name}::POLICY as &dyn Policy)", name.replace('_', "-")))
        .collect();
    writeln!(
        code,
        "/// Every policy by its name in a profile.\npub const POLICIES: &[(&str, &dyn Policy)] = &[{}];",
        entries.join(", ")
    )
    .unwrap();
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join("policies.rs"), code).unwrap();
}
