//! Owns the file: the members in their order, the hash of each part, the checksum of the whole. Events stream through.

use std::io::{self, Write};

use event_spine::RecordedEvent;
use serde::{Deserialize, Serialize};

use super::entry;
use super::model::EvidencePack;

/// Marks the end of what the checksum covers: everything before this text.
pub(super) const CHECKSUM: &str = "\"checksum\":";

/// A part of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PackPart {
    /// Name of the member that holds it.
    pub name: String,
    /// Media type.
    pub media_type: String,
    /// What it is for.
    pub role: String,
    /// Bytes of its text in the file.
    pub size_bytes: u64,
    /// BLAKE3 of its text in the file, in hex.
    pub blake3: String,
}

/// What a part is for.
pub(super) fn role(name: &str) -> &'static str {
    match name {
        "events" => "evidence",
        "eventIds" => "index",
        "runtimeCorrelation" | "scope" => "correlation",
        "range" | "chain" | "verification" => "integrity",
        "completeness" | "signalCoverage" | "knownGaps" | "redactions" => "completeness",
        "bodies" => "references",
        _ => "summary",
    }
}

/// Writes a pack member by member.
pub(super) struct PackWriter<W> {
    out: W,
    whole: blake3::Hasher,
    part: blake3::Hasher,
    part_bytes: u64,
    parts: Vec<PackPart>,
    first: bool,
}

impl<W: Write> PackWriter<W> {
    pub(super) fn new(out: W) -> io::Result<Self> {
        let mut writer = Self {
            out,
            whole: blake3::Hasher::new(),
            part: blake3::Hasher::new(),
            part_bytes: 0,
            parts: Vec::new(),
            first: true,
        };
        writer.put(b"{\n")?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.whole.update(bytes);
        self.out.write_all(bytes)
    }

    fn put_part(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.part.update(bytes);
        self.part_bytes += bytes.len() as u64;
        self.put(bytes)
    }

    fn begin(&mut self, name: &str) -> io::Result<()> {
        if !std::mem::take(&mut self.first) {
            self.put(b",\n")?;
        }
        self.put(format!("\"{name}\":").as_bytes())
    }

    fn end(&mut self, name: &str) {
        self.parts.push(PackPart {
            name: name.to_owned(),
            media_type: "application/json".to_owned(),
            role: role(name).to_owned(),
            size_bytes: std::mem::take(&mut self.part_bytes),
            blake3: self.part.finalize().to_hex().to_string(),
        });
        self.part.reset();
    }

    /// Writes all members but the events, in their order.
    pub(super) fn header(&mut self, pack: &EvidencePack) -> io::Result<()> {
        for (name, value) in members(pack)? {
            self.begin(&name)?;
            self.put_part(value.as_bytes())?;
            self.end(&name);
        }
        Ok(())
    }

    /// Writes a list of texts that are JSON already, one on each line.
    fn list<E: From<io::Error>>(
        &mut self,
        name: &str,
        items: impl Iterator<Item = Result<String, E>>,
    ) -> Result<(), E> {
        self.begin(name)?;
        self.put_part(b"[")?;
        for (at, item) in items.enumerate() {
            self.put_part(if at == 0 { b"\n" } else { b",\n" })?;
            self.put_part(item?.as_bytes())?;
        }
        self.put_part(b"\n]")?;
        self.end(name);
        Ok(())
    }

    /// Writes the ids of the events, for joining with other exports.
    pub(super) fn event_ids<E: From<io::Error>>(
        &mut self,
        events: impl Iterator<Item = Result<RecordedEvent, E>>,
    ) -> Result<(), E> {
        let id = |event: RecordedEvent| {
            serde_json::Value::from(event.draft.event_id.as_str()).to_string()
        };
        self.list("eventIds", events.map(|event| event.map(id)))
    }

    /// Writes the events.
    pub(super) fn events<E: From<io::Error>>(
        &mut self,
        events: impl Iterator<Item = Result<RecordedEvent, E>>,
    ) -> Result<(), E> {
        self.list(
            "events",
            events.map(|event| {
                event.map(|event| {
                    let mut text = String::with_capacity(1024);
                    entry::write(&event, &mut text);
                    text
                })
            }),
        )
    }

    /// Writes the list of parts and the checksum; gives the checksum.
    pub(super) fn finish(self) -> io::Result<String> {
        self.close().map(|(checksum, _)| checksum)
    }

    /// As [`PackWriter::finish`], giving back what was written to.
    #[cfg(test)]
    pub(super) fn into_inner(self) -> io::Result<W> {
        self.close().map(|(_, out)| out)
    }

    fn close(mut self) -> io::Result<(String, W)> {
        let parts = serde_json::to_string(&self.parts)?;
        self.begin("files")?;
        self.put(parts.as_bytes())?;
        self.put(b",\n")?;
        let checksum = format!("blake3:{}", self.whole.finalize().to_hex());
        self.out.write_all(format!("{CHECKSUM}\"{checksum}\"\n}}\n").as_bytes())?;
        self.out.flush()?;
        Ok((checksum, self.out))
    }
}

/// The members of a pack with their texts, in the order of the file.
pub(super) fn members(pack: &EvidencePack) -> io::Result<Vec<(String, String)>> {
    let value = serde_json::to_value(pack)?;
    let mut members = Vec::new();
    if let serde_json::Value::Object(object) = value {
        for (name, value) in object {
            members.push((name, value.to_string()));
        }
    }
    Ok(members)
}
