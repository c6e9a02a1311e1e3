//! Tests of the pictures.

use super::{dot, mermaid, svg};
use crate::projections::graph::tests::gallery::gallery;

#[test]
fn draws_the_gallery_the_same_way_twice() {
    for (name, story) in gallery() {
        let (once, again) = (story.graph(), story.graph());
        assert_eq!(svg(&once), svg(&again), "{name}");
        assert_eq!(dot(&once), dot(&again), "{name}");
        assert_eq!(mermaid(&once), mermaid(&again), "{name}");
    }
}
