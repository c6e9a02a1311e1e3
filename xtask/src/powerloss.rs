//! Owns the power-loss test: a file system inside a file is copied while the log on it is written, the copy is mounted and
//! the log recovered. Every acknowledged barrier fact must be there. Needs root and loop devices, and says so.
//!
//! What a kill leaves is in the page cache and survives; what a power loss leaves is what the device was told to keep. So
//! the file behind the loop device is copied, not the mounted files. A control run, whose log acknowledges without a sync,
//! must lose facts: that is how one knows that the test can see a loss.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::command;
use crate::repo::Repo;

/// Size of the file system.
const IMAGE_BYTES: u64 = 1 << 30;

/// Runs the test so many times, then the controls.
pub(crate) fn run(repo: &Repo, runs: u32, program: Option<PathBuf>) -> Result<()> {
    can_run()?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| repo.root.join("benches/target"), PathBuf::from);
    let bench = match program {
        Some(program) => program,
        None => build(repo, &target)?,
    };
    let home = target.join("powerloss");
    for number in 1..=runs {
        let outcome = one_run(&bench, &home, number, "barrier")?;
        match outcome {
            Outcome::Whole(text) => println!("run {number} of {runs}: {text}"),
            Outcome::Lost(text) => bail!("run {number}: {text}"),
        }
    }
    let mut lost = 0;
    for number in 1..=CONTROLS {
        match one_run(&bench, &home, number, "relaxed")? {
            Outcome::Whole(text) => {
                println!("control {number} of {CONTROLS}: nothing lost ({text})")
            }
            Outcome::Lost(text) => {
                lost += 1;
                println!("control {number} of {CONTROLS}: lost, as it should: {text}");
            }
        }
    }
    if lost == 0 {
        bail!("no control run lost anything, so this test would not have seen a loss");
    }
    println!(
        "{runs} power losses, no acknowledged fact lost; {lost} of {CONTROLS} controls without sync lost some"
    );
    Ok(())
}

/// Builds the program that has the writer and the check.
fn build(repo: &Repo, target: &Path) -> Result<PathBuf> {
    let mut cargo = command::cargo();
    cargo.current_dir(&repo.root).args([
        "build",
        "--release",
        "--locked",
        "--manifest-path",
        "benches/Cargo.toml",
    ]);
    command::run(&mut cargo, "The writer and the check are in `benches/`.")?;
    Ok(target.join("release/bench"))
}

/// Runs without sync.
const CONTROLS: u32 = 3;

/// Long enough for some segments and short enough to fall between two writebacks; another moment each time.
fn pause(number: u32) -> Duration {
    Duration::from_millis(700 + u64::from(number * 377 % 1000))
}

/// Says what is missing on this machine.
fn can_run() -> Result<()> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|line| {
        line.strip_prefix("Uid:").is_some_and(|ids| ids.split_whitespace().nth(1) == Some("0"))
    });
    if !is_root {
        bail!("the power-loss test mounts file systems, so it needs root; it did not run");
    }
    for program in ["mkfs.ext4", "losetup", "mount", "umount"] {
        if !command::is_installed(program, &["-V"])
            && !command::is_installed(program, &["--version"])
        {
            bail!(
                "the power-loss test needs `{program}` (on Debian: packages mount and e2fsprogs); it did not run"
            );
        }
    }
    let free = Command::new("losetup").arg("--find").output();
    if !free.is_ok_and(|output| output.status.success()) {
        bail!(
            "the power-loss test needs a loop device and this machine has none to give (a container?); it did not run"
        );
    }
    Ok(())
}

enum Outcome {
    Whole(String),
    Lost(String),
}

fn one_run(bench: &Path, home: &Path, number: u32, sync: &str) -> Result<Outcome> {
    let _ = fs::remove_dir_all(home);
    fs::create_dir_all(home)?;
    let (image, copy) = (home.join("disk.img"), home.join("copy.img"));
    let acknowledged = home.join("acknowledged");
    File::create(&image)?.set_len(IMAGE_BYTES)?;
    quiet(Command::new("mkfs.ext4").arg("-q").arg(&image))?;
    {
        let disk = Mount::of(&image, &home.join("disk"))?;
        // Every other run seals segments and writes the index all the time, the others hardly ever.
        let segment_kib = if number.is_multiple_of(2) { 256 } else { 64 * 1024 };
        let mut start = Command::new(bench);
        start.arg("write").arg("--dir").arg(disk.0.join("data"));
        start.args(["--sync", sync, "--segment-kib", &segment_kib.to_string()]);
        let mut writer = Writer::start(&mut start, &acknowledged)?;
        std::thread::sleep(pause(number));
        writer.stop()?;
        // The file, not the mounted files: what the device has, and nothing that only the cache has.
        quiet(Command::new("cp").arg("--sparse=always").arg(&image).arg(&copy))?;
        writer.end()?;
    }
    let disk = Mount::of(&copy, &home.join("recovered"))?;
    let check = Command::new(bench)
        .arg("check")
        .arg("--dir")
        .arg(disk.0.join("data"))
        .arg("--acknowledged")
        .arg(&acknowledged)
        .env("RUST_BACKTRACE", "0")
        .output()
        .context("starting the check")?;
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.lines().next().unwrap_or_default().trim_start_matches("Error: ").to_owned()
    };
    Ok(if check.status.success() {
        Outcome::Whole(text(&check.stdout))
    } else {
        Outcome::Lost(text(&check.stderr))
    })
}

/// A mounted image; unmounted when dropped.
struct Mount(PathBuf);

impl Mount {
    fn of(image: &Path, point: &Path) -> Result<Self> {
        fs::create_dir_all(point)?;
        quiet(Command::new("mount").args(["-o", "loop"]).arg(image).arg(point))?;
        Ok(Self(point.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = quiet(Command::new("umount").arg(&self.0));
    }
}

/// The process that writes; killed when dropped.
struct Writer(Child);

impl Writer {
    fn start(command: &mut Command, acknowledged: &Path) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(acknowledged)?)
            .spawn()
            .context("starting the writer")?;
        Ok(Self(child))
    }

    /// Stops it where it is, so that nothing is acknowledged while the image is copied.
    fn stop(&mut self) -> Result<()> {
        if let Some(status) = self.0.try_wait()? {
            bail!("the writer ended by itself: {status}");
        }
        quiet(Command::new("kill").args(["-STOP", &self.0.id().to_string()]))
    }

    fn end(&mut self) -> Result<()> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn quiet(command: &mut Command) -> Result<()> {
    command::output(command).map(|_| ())
}
