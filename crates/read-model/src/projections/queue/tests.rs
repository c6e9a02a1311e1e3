//! Tests of the view of the queue.

use crate::testing::{brief, view};

#[test]
fn inputs_wait_and_move_on() {
    let queue = view(
        r#"
        queue.changed {"change":"queued","itemId":"q1","mode":"queue","preview":"then tests","position":0}
        queue.changed {"change":"queued","itemId":"q2","mode":"queue","preview":"then docs","position":1}
        queue.changed {"change":"queued","itemId":"q3","mode":"steer","targetTurnId":"u1"}
        queue.changed {"change":"promoted","itemId":"q2","position":0}
        queue.changed {"change":"queued","itemId":"q1","position":1}
        queue.changed {"change":"rejected","itemId":"q3","reason":"the turn is over"}
        queue.changed {"change":"queued","itemId":"q4"}
        queue.changed {"change":"started","itemId":"q4"}
        "#,
    )
    .queue;
    let waiting: Vec<_> = queue.waiting().iter().map(|item| item.item_id.clone()).collect();
    assert_eq!(waiting, ["q2", "q1"]);
    insta::assert_snapshot!(brief(&queue));
}
