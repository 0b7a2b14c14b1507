// The Rust side of run.sh: see ../ours.cpp, which measures the same in the same order. Names are
// not measured, because the crate's parser is private; nor are files of 10,000 devices and 100,000
// devices, because each device has a copy of its whole file, which takes over 20 GB. `once DIR
// CONFIG NAME` does once what `cdi inject` does.
// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use container_device_interface::cache::{new_cache, with_auto_refresh, Cache};
use container_device_interface::spec::read_spec;
use container_device_interface::spec_dirs::with_spec_dirs;
use oci_spec::runtime::Spec;

fn microseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / 1000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Calls for a tenth of a second, and at least three times.
fn median_time(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = Vec::new();
    while times.len() < 3 || times.iter().sum::<f64>() < 100_000.0 {
        times.push(microseconds(&mut work));
    }
    median(times)
}

fn open(dir: &str) -> Arc<Mutex<Cache>> {
    new_cache(vec![with_spec_dirs(&[dir]), with_auto_refresh(false)])
}

fn measure_reading(data: &str) {
    for size in ["4kB", "60kB"] {
        for format in ["yaml", "json"] {
            let path = Path::new(data).join(format!("{size}.{format}/spec.{format}"));
            let time = median_time(|| {
                read_spec(&path, 0).unwrap();
            });
            println!("read_{size}_{format} {time}");
        }
    }
}

/// Renames the first device of a file, replaces the file, and returns the new name.
fn change_one(dir: &str, file: usize) -> String {
    let path = Path::new(dir).join(format!("spec{file:05}.json"));
    let text = fs::read_to_string(&path).unwrap();
    let renamed = text.contains(r#""name":"new0""#);
    let (old, new) = if renamed { ("new0", "dev0") } else { ("dev0", "new0") };
    let text = text.replacen(&format!(r#""name":"{old}""#), &format!(r#""name":"{new}""#), 1);
    let temporary = Path::new(dir).join(".new");
    fs::write(&temporary, text).unwrap();
    fs::rename(&temporary, &path).unwrap();
    format!("vendor{file}.example.com/device={new}")
}

fn time_of_one_change(cache: &mut Cache, dir: &str, files: usize) -> f64 {
    let mut times = Vec::new();
    for i in 0..3 {
        let name = change_one(dir, i % files);
        std::thread::sleep(Duration::from_millis(50));
        times.push(microseconds(|| cache.refresh().unwrap()));
        assert!(cache.get_device(&name).is_some(), "the change was not seen");
    }
    median(times)
}

fn measure_refreshes(data: &str) {
    for files in [1, 10, 100, 1000, 10_000] {
        let dir = format!("{data}/files-{files}");
        println!("load_{files} {}", median_time(|| drop(open(&dir))));
        let cache = open(&dir);
        let mut cache = cache.lock().unwrap();
        println!("unchanged_{files} {}", median_time(|| cache.refresh().unwrap()));
        println!("changed_{files} {}", time_of_one_change(&mut cache, &dir, files));
    }
}

/// The names in a random order, the same in every run.
fn scattered(mut names: Vec<String>) -> Vec<String> {
    let mut state: usize = 4;
    for i in (1..names.len()).rev() {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        names.swap(i, (state >> 33) % (i + 1));
    }
    names.iter().map(|name| name.as_str().to_string()).collect() // contiguous in memory
}

/// The time of a lookup, in nanoseconds: the median of ten means.
fn time_of_lookup(cache: &mut Cache, names: &[String], there: bool) -> f64 {
    const LOOKUPS: usize = 1_000_000;
    let (mut found, mut i) = (0, 0);
    let mut times = Vec::new();
    for _ in 0..10 {
        times.push(microseconds(|| {
            for _ in 0..LOOKUPS / 10 {
                found += usize::from(cache.get_device(&names[i]).is_some());
                i = if i + 1 < names.len() { i + 1 } else { 0 };
            }
        }));
    }
    assert_eq!(found, if there { LOOKUPS } else { 0 });
    median(times) * 10_000.0 / LOOKUPS as f64
}

fn measure_lookups(data: &str) {
    for count in [1, 100, 10_000] {
        let cache = open(&format!("{data}/devices-{count}"));
        let mut cache = cache.lock().unwrap();
        let mut names = scattered(cache.list_devices());
        println!("hit_{count} {}", time_of_lookup(&mut cache, &names, true));
        for name in &mut names {
            name.pop();
            name.push('x');
        }
        println!("miss_{count} {}", time_of_lookup(&mut cache, &names, false));
    }
}

fn measure_injections(data: &str) {
    let cache = open(&format!("{data}/60kB.json"));
    let mut cache = cache.lock().unwrap();
    let names = vec!["vendor.example.com/gpu=0".to_string()];
    let text = fs::read_to_string(format!("{data}/pod.json")).unwrap();
    let spec: Spec = serde_json::from_str(&text).unwrap();
    let mut specs = vec![spec; 201];
    let mut times = Vec::new();
    for spec in &mut specs {
        let asked = names.clone();
        times.push(microseconds(|| drop(cache.inject_devices(Some(spec), asked).unwrap())));
    }
    println!("inject_model {}", median(times));
    let whole = median_time(|| {
        let mut spec: Spec = serde_json::from_str(&text).unwrap();
        cache.inject_devices(Some(&mut spec), names.clone()).unwrap();
        assert!(!serde_json::to_string(&spec).unwrap().is_empty());
    });
    println!("text_model {whole}");
}

fn inject_once(dir: &str, config: &str, name: &str) {
    let mut spec: Spec = serde_json::from_str(&fs::read_to_string(config).unwrap()).unwrap();
    let cache = open(dir);
    cache.lock().unwrap().inject_devices(Some(&mut spec), vec![name.to_string()]).unwrap();
    println!("{}", serde_json::to_string_pretty(&spec).unwrap());
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let data = &words[2];
    match words[1].as_str() {
        "read" => measure_reading(data),
        "refresh" => measure_refreshes(data),
        "lookup" => measure_lookups(data),
        "inject" => measure_injections(data),
        "load" => assert!(!open(data).lock().unwrap().list_devices().is_empty()),
        "once" => inject_once(data, &words[3], &words[4]),
        _ => (),
    }
}
