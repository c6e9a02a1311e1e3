//! Checks a file of RuntimeEvents and prints what was found: the library behind `spine check`.
//!
//! `cargo run -p conformance --example check -- FILE`

use conformance::{Options, check_lines};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a file of RuntimeEvents")?;
    let file = std::io::BufReader::new(std::fs::File::open(path)?);
    let report = check_lines(file, Options::default())?;
    std::io::Write::write_all(&mut std::io::stdout(), report.to_string().as_bytes())?;
    Ok(())
}
