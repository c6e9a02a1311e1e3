//! Owns the view of products: each once, with its versions and where it was exported to.

#[cfg(test)]
mod tests;

use event_spine::event::family::artifact as payload;
use event_spine::event::family::{ArtifactEvent, Event};
use event_spine::event::value::ArtifactChange;
use event_spine::{ArtifactId, RecordedEvent, Scope};
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::moment::Moment;
use crate::projection::{Applied, Projection};
use crate::projections::shared::keep_newer;
use crate::text::Text;
use crate::window::{Row, Window};

/// Versions and exports that a view holds of one product; the newest ones.
const KEPT: usize = 20;

/// The products of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifacts {
    /// The products, in the order in which they appeared; those that changed last are kept.
    pub artifacts: Window<Artifact>,
    #[serde(skip)]
    preview_bytes: usize,
}

/// Where a product stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactState {
    /// It is there.
    Ready,
    /// It is gone.
    Deleted,
    /// Making it failed.
    Failed,
    /// The source says something about it, and not how it stands.
    Unknown,
}

/// A product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Where it was last worked on; `artifactId` names it.
    pub scope: Scope,
    /// Where it stands.
    pub state: ArtifactState,
    /// What it is: `file`, `diff`, `image`, `document`, `state` …
    pub kind: Option<String>,
    /// Title for people.
    pub title: Option<String>,
    /// Where it lies, for files.
    pub path: Option<String>,
    /// Media type.
    pub media_type: Option<String>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// Head of it.
    pub preview: Text,
    /// Ref that holds it.
    pub read_ref: Option<String>,
    /// Its last change, as a unified diff.
    pub diff: Text,
    /// Its newest version.
    pub version_id: Option<String>,
    /// Its versions, oldest first; the newest ones.
    pub versions: Vec<Version>,
    /// How many versions there were.
    pub version_count: u64,
    /// Where it was written to; the newest ones.
    pub exports: Vec<Export>,
    /// How many times it was written somewhere.
    pub export_count: u64,
    /// How many times it changed.
    pub changes: u64,
    /// Its first event.
    pub first: Moment,
    /// Its newest event.
    pub last: Moment,
}

/// A version of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// The version.
    pub version_id: String,
    /// The version before.
    pub parent_version_id: Option<String>,
    /// BLAKE3 of the content, in hex.
    pub digest: Option<String>,
    /// Ref that holds it.
    pub read_ref: Option<String>,
    /// When it was fixed.
    pub at: Moment,
}

/// A product written somewhere outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    /// Where to.
    pub target: String,
    /// The version.
    pub version_id: Option<String>,
    /// Media type.
    pub media_type: Option<String>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// When.
    pub at: Moment,
}

impl Projection for Artifacts {
    const NAME: &'static str = "artifacts";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        match event {
            Event::Artifact(event) => state.artifact(recorded, event),
            Event::Lifecycle(_)
            | Event::Message(_)
            | Event::Reasoning(_)
            | Event::Tool(_)
            | Event::Policy(_)
            | Event::Evidence(_)
            | Event::Task(_)
            | Event::Context(_)
            | Event::Diagnostics(_)
            | Event::Unknown { .. } => Applied::Unchanged,
        }
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.artifacts.limit(limits);
        state.preview_bytes = limits.preview_bytes;
    }
}

impl Artifacts {
    fn artifact(&mut self, recorded: &RecordedEvent, event: &ArtifactEvent) -> Applied {
        let id = &recorded.draft.scope.artifact_id;
        if id.is_none() {
            return Applied::Unchanged;
        }
        let known = self.artifacts.place(id);
        let place = known.unwrap_or_else(|| self.artifacts.push(Artifact::new(recorded)));
        let limit = self.preview_bytes;
        self.artifacts.update_at(place, |artifact| {
            artifact.last = Moment::of(recorded);
            artifact.scope.clone_from(&recorded.draft.scope);
            match event {
                ArtifactEvent::ArtifactChanged(changed) => artifact.change(changed, limit),
                ArtifactEvent::ArtifactVersioned(version) => artifact.version(recorded, version),
                ArtifactEvent::ArtifactExported(export) => artifact.export(recorded, export),
            }
        });
        Applied::Changed
    }
}

impl Artifact {
    fn new(recorded: &RecordedEvent) -> Self {
        Self {
            scope: recorded.draft.scope.clone(),
            state: ArtifactState::Unknown,
            kind: None,
            title: None,
            path: None,
            media_type: None,
            size_bytes: None,
            preview: Text::default(),
            read_ref: None,
            diff: Text::default(),
            version_id: None,
            versions: Vec::new(),
            version_count: 0,
            exports: Vec::new(),
            export_count: 0,
            changes: 0,
            first: Moment::of(recorded),
            last: Moment::of(recorded),
        }
    }

    fn change(&mut self, changed: &payload::ArtifactChanged, limit: usize) {
        self.changes += 1;
        self.state = match changed.change {
            ArtifactChange::Created | ArtifactChange::Updated => ArtifactState::Ready,
            ArtifactChange::Deleted => ArtifactState::Deleted,
            ArtifactChange::Failed => ArtifactState::Failed,
            ArtifactChange::Unknown => self.state,
        };
        keep_newer(&mut self.kind, &changed.kind);
        keep_newer(&mut self.title, &changed.title);
        keep_newer(&mut self.path, &changed.path);
        keep_newer(&mut self.media_type, &changed.media_type);
        keep_newer(&mut self.read_ref, &changed.read_ref);
        keep_newer(&mut self.version_id, &changed.version_id);
        self.size_bytes = changed.size_bytes.or(self.size_bytes);
        if let Some(preview) = &changed.preview {
            self.preview.set(preview, limit);
        }
        // A diff belongs to one change.
        self.diff.set(changed.diff.as_deref().unwrap_or_default(), limit);
    }

    fn version(&mut self, recorded: &RecordedEvent, version: &payload::ArtifactVersioned) {
        self.version_count += 1;
        self.version_id = Some(version.version_id.clone());
        keep_newer(&mut self.title, &version.title);
        keep_newer(&mut self.read_ref, &version.read_ref);
        if self.state == ArtifactState::Unknown {
            self.state = ArtifactState::Ready;
        }
        push_bounded(
            &mut self.versions,
            Version {
                version_id: version.version_id.clone(),
                parent_version_id: version.parent_version_id.clone(),
                digest: version.digest.clone(),
                read_ref: version.read_ref.clone(),
                at: Moment::of(recorded),
            },
        );
    }

    fn export(&mut self, recorded: &RecordedEvent, export: &payload::ArtifactExported) {
        self.export_count += 1;
        push_bounded(
            &mut self.exports,
            Export {
                target: export.target.clone(),
                version_id: export.version_id.clone(),
                media_type: export.media_type.clone(),
                size_bytes: export.size_bytes,
                at: Moment::of(recorded),
            },
        );
    }
}

fn push_bounded<T>(list: &mut Vec<T>, item: T) {
    if list.len() == KEPT {
        list.remove(0);
    }
    list.push(item);
}

impl Row for Artifact {
    type Key<'a> = &'a Option<ArtifactId>;

    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.scope.artifact_id)
    }

    fn first(&self) -> u64 {
        self.first.sequence
    }

    fn settled(&self) -> Option<u64> {
        Some(self.last.sequence)
    }

    fn weight(&self) -> usize {
        self.preview.kept_bytes() + self.diff.kept_bytes()
    }
}
