//! Laws and examples of the window.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Item {
    id: u8,
    first: u64,
    settled: Option<u64>,
    text: String,
}

impl Row for Item {
    type Key<'a> = u8;
    fn key(&self) -> Option<u8> {
        Some(self.id)
    }
    fn first(&self) -> u64 {
        self.first
    }
    fn settled(&self) -> Option<u64> {
        self.settled
    }
    fn weight(&self) -> usize {
        self.text.len()
    }
}

const SMALL: Limits = Limits {
    items: 3,
    open_items: 4,
    list_bytes: 40,
    text_bytes: 0,
    preview_bytes: 0,
    document_bytes: 0,
};

#[derive(Debug, Clone)]
enum Step {
    Push { id: u8, open: bool, text: usize },
    Settle { id: u8 },
    Reopen { id: u8 },
    Grow { id: u8, text: usize },
    SettleAllOpen,
    Release { id: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0_u8..8, any::<bool>(), 0_usize..9).prop_map(|(id, open, text)| Step::Push {
            id,
            open,
            text
        }),
        (0_u8..8).prop_map(|id| Step::Settle { id }),
        (0_u8..8).prop_map(|id| Step::Reopen { id }),
        (0_u8..8, 0_usize..30).prop_map(|(id, text)| Step::Grow { id, text }),
        Just(Step::SettleAllOpen),
        (0_u8..8).prop_map(|id| Step::Release { id }),
    ]
}

fn run(window: &mut Window<Item>, sequence: u64, step: &Step) {
    match step {
        Step::Push { id, open, text } => {
            window.push(Item {
                id: *id,
                first: sequence,
                settled: (!open).then_some(sequence),
                text: "x".repeat(*text),
            });
        }
        Step::Settle { id } => {
            window.update_at(window.place(*id), |item| item.settled = Some(sequence));
        }
        Step::Reopen { id } => {
            window.update_at(window.place(*id), |item| item.settled = None);
        }
        Step::Grow { id, text } => {
            window.update_at(window.place(*id), |item| item.text.push_str(&"y".repeat(*text)));
        }
        Step::Release { id } => {
            if let Some(place) = window.place(*id) {
                window.release(place);
            }
        }
        Step::SettleAllOpen => {
            window.update_open(|_| true, |item| item.settled = Some(sequence));
        }
    }
}

proptest! {
    #[test]
    fn keeps_its_bounds_and_its_books(steps in prop::collection::vec(step(), 0..120)) {
        let mut window = Window::<Item>::default();
        window.limit(&SMALL);
        for (at, step) in steps.iter().enumerate() {
            run(&mut window, at as u64 + 1, step);
            let settled = window.iter().filter(|i| i.settled.is_some()).count();
            prop_assert!(settled <= SMALL.items);
            prop_assert!(window.open_len() <= SMALL.open_items);
            prop_assert_eq!(window.open().count(), window.len() - settled);
            prop_assert_eq!(window.total(), window.len() as u64 + window.dropped());
            let bytes: usize = window.iter().map(Row::weight).sum();
            prop_assert_eq!(bytes, window.bytes);
            prop_assert!(bytes <= SMALL.list_bytes || settled <= 1);
            prop_assert!(window.iter().is_sorted_by_key(Row::first));
            prop_assert_eq!(window.before().is_some(), window.dropped() > 0);
        }
    }

    #[test]
    fn goes_on_the_same_after_being_stored(
        steps in prop::collection::vec(step(), 0..60), cut in 0_usize..60,
    ) {
        let (mut whole, mut stored) = (Window::<Item>::default(), Window::<Item>::default());
        whole.limit(&SMALL);
        stored.limit(&SMALL);
        for (at, step) in steps.iter().enumerate() {
            if at == cut {
                let json = serde_json::to_string(&stored).unwrap();
                stored = serde_json::from_str(&json).unwrap();
                stored.limit(&SMALL);
            }
            run(&mut whole, at as u64 + 1, step);
            run(&mut stored, at as u64 + 1, step);
            prop_assert_eq!(&whole, &stored);
        }
    }
}
