// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// The Rust side of run.sh: see ../ours.cpp, which measures the same in the same order. It does not
// measure the parsing of names, because the crate's parser is private.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use container_device_interface::cache::{new_cache, with_auto_refresh, Cache};
use container_device_interface::spec::read_spec;
use container_device_interface::spec_dirs::with_spec_dirs;
use oci_spec::runtime::Spec;

const UNCHANGED_CALLS: usize = 3;

fn microseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / 1000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn median_time(repeats: usize, mut work: impl FnMut(usize)) -> f64 {
    median((0..repeats).map(|i| microseconds(|| work(i))).collect())
}

/// A line of /proc/self/status.
fn kilobytes(name: &str) -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().to_string()
}

/// Renames the first device of a file, replaces the file, and returns the new name.
fn change_one(dir: &Path, file: usize) -> String {
    let path = dir.join(format!("spec{file:05}.json"));
    let text = fs::read_to_string(&path).unwrap();
    let (old, new) = if text.contains(r#""name":"new0""#) { ("new0", "dev0") } else { ("dev0", "new0") };
    let text = text.replacen(&format!(r#""name":"{old}""#), &format!(r#""name":"{new}""#), 1);
    let temporary = dir.join(".new");
    fs::write(&temporary, text).unwrap();
    fs::rename(&temporary, &path).unwrap();
    format!("vendor{file}.example.com/device={new}")
}

/// The names in a random order, the same in every run.
fn scattered(mut names: Vec<String>) -> Vec<String> {
    let mut state: usize = 4;
    for i in (1..names.len()).rev() {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        names.swap(i, (state >> 33) % (i + 1));
    }
    names
}

/// The mean time of one lookup over all names, 20 times.
fn nanoseconds_per_name(cache: &mut Cache, names: &[String], there: bool) -> f64 {
    let lookups = 20 * names.len();
    let mut found = 0;
    let time = microseconds(|| {
        for i in 0..lookups {
            found += usize::from(cache.get_device(&names[i % names.len()]).is_some());
        }
    });
    assert_eq!(found, if there { lookups } else { 0 });
    time * 1000.0 / lookups as f64
}

fn measure_directory(dir: &Path) {
    let options = || vec![with_spec_dirs(&[dir.to_str().unwrap()]), with_auto_refresh(false)];
    let mut cache = None;
    println!("load_us {}", microseconds(|| cache = Some(new_cache(options()))));
    println!("peak_kB {}", kilobytes("VmHWM"));
    println!("resident_kB {}", kilobytes("VmRSS"));
    let cache = cache.unwrap();
    let mut cache = cache.lock().unwrap();
    let unchanged = median_time(UNCHANGED_CALLS, |_| cache.refresh().unwrap());
    println!("unchanged_us {unchanged}");
    let mut times = Vec::new();
    for file in 0..5 {
        let name = change_one(dir, file);
        std::thread::sleep(Duration::from_millis(50));
        times.push(microseconds(|| cache.refresh().unwrap()));
        assert!(cache.get_device(&name).is_some(), "the change was not seen");
    }
    println!("one_changed_us {}", median(times));

    let mut names = scattered(cache.list_devices());
    println!("hit_ns {}", nanoseconds_per_name(&mut cache, &names, true));
    for name in &mut names {
        name.pop();
        name.push('x');
    }
    println!("miss_ns {}", nanoseconds_per_name(&mut cache, &names, false));
}

fn measure_reading(dir: &Path) {
    for format in ["yaml", "json"] {
        let path: PathBuf = dir.join(format).join(format!("gpu.{format}"));
        let time = median_time(21, |_| {
            read_spec(&path, 0).unwrap();
        });
        println!("read_{format}_us {time}");
    }
}

fn measure_injections(dir: &Path) {
    const REPEATS: usize = 201;
    let json = dir.join("json");
    let cache = new_cache(vec![with_spec_dirs(&[json.to_str().unwrap()]), with_auto_refresh(false)]);
    let mut cache = cache.lock().unwrap();
    let names: Vec<String> = (0..4).map(|i| format!("vendor.example.com/gpu=gpu-{i}")).collect();
    let text = fs::read_to_string(dir.join("pod.json")).unwrap();
    let spec: Spec = serde_json::from_str(&text).unwrap();
    let mut specs = vec![spec; REPEATS];
    let time = median_time(REPEATS, |i| {
        cache.inject_devices(Some(&mut specs[i]), names.clone()).unwrap();
    });
    println!("inject_us {time}");
    let whole = median_time(REPEATS, |_| {
        let mut spec: Spec = serde_json::from_str(&text).unwrap();
        cache.inject_devices(Some(&mut spec), names.clone()).unwrap();
        assert!(!serde_json::to_string(&spec).unwrap().is_empty());
    });
    println!("config_us {whole}");
    println!("config_json_us {whole}"); // the crate has only one way
}

fn main() {
    let dir = PathBuf::from(std::env::args().nth(1).unwrap());
    measure_directory(&dir.join("many"));
    measure_reading(&dir);
    measure_injections(&dir);
}
