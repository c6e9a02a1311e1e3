//! Owns what is said of the machine, and what the operating system says of a process and a folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

/// A line for people: processor, cores, memory, kernel, file system, compiler.
pub(crate) fn describe(dir: &Path) -> String {
    let cpu = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".into());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory: u64 = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .unwrap_or(0);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{cores} cores ({cpu}), {} GiB of memory, Linux {}, {}, {}",
        memory / 1024 / 1024,
        kernel.trim(),
        file_system(dir),
        rustc()
    )
}

/// The load of the last minute, which says how much else was going on.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// Most memory that this process ever had resident, in MiB.
pub(crate) fn peak_memory_mib() -> f64 {
    let kib: f64 = field("/proc/self/status", "VmHWM")
        .and_then(|text| text.trim_end_matches(" kB").trim().parse().ok())
        .unwrap_or(0.0);
    kib / 1024.0
}

/// Bytes that the files of a folder take on disk.
pub(crate) fn disk_bytes(dir: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += if meta.is_dir() { disk_bytes(&entry.path())? } else { meta.blocks() * 512 };
    }
    Ok(bytes)
}

/// Asks the kernel to forget the cached pages of a folder. The host below a virtual machine may still have them.
pub(crate) fn drop_cache(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            drop_cache(&entry.path())?;
        } else {
            let file = fs::File::open(entry.path())?;
            file.sync_all()?;
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
        }
    }
    Ok(())
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Type of the file system that a folder is on: the longest mount point above it.
fn file_system(dir: &Path) -> String {
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut best = (0, "unknown file system");
    for line in mounts.lines() {
        let mut words = line.split(' ').skip(1);
        if let (Some(point), Some(kind)) = (words.next(), words.next())
            && dir.starts_with(point)
            && point.len() >= best.0
        {
            best = (point.len(), kind);
        }
    }
    best.1.to_owned()
}

fn rustc() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.split(" (").next().unwrap_or_default().trim().to_owned()
}
