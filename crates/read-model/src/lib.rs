//! Read models: everything that a person sees of a session, as pure folds over its facts.

// Modules stand in reading order.
mod honesty;
mod limits;
mod moment;
mod projection;
pub mod projections;
pub mod render;
mod replay;
#[cfg(test)]
mod testing;
mod text;
mod view;
mod window;

pub use honesty::{Absence, Known, NotText};
pub use limits::Limits;
pub use moment::{Elapsed, Moment};
pub use projection::{Applied, Projection};
pub use replay::{Difference, compare, replay, replay_with};
pub use text::Text;
pub use view::{Lost, LostStretch, REDUCER_VERSION, SessionView, VIEW_NAMES, ViewStamp};
pub use window::{Place, Row, Window};
