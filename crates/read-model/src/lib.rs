//! Read models: everything that a person sees of a session, as pure folds over its facts.

// Modules stand in reading order.
mod projection;
mod limits;
mod window;
mod text;
mod moment;
mod honesty;
pub mod projections;
mod view;
mod replay;
mod page;
mod checkpoint;
mod engine;
mod replica;
pub mod render;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod testing;

pub use checkpoint::{CHECKPOINT_NAME, CheckpointStore, NoCheckpoints};
pub use engine::{Engine, EngineOptions, Following};
pub use honesty::{Absence, Known, NotText};
pub use limits::Limits;
pub use moment::{Elapsed, Moment};
pub use page::{Page, page};
pub use projection::{Applied, Projection};
pub use replay::{Difference, compare, replay, replay_with};
pub use replica::{Freshness, Received, Repair, Replica, ReplicaOptions};
pub use text::Text;
pub use view::{Lost, LostStretch, REDUCER_VERSION, SessionView, VIEW_NAMES, ViewStamp};
pub use window::{Place, Row, Window};
