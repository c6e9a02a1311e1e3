//! Owns the two macros that list rows. They only list; every decision is ordinary code over the rows.

/// Lists the rows of one family: gives the family's enum, its table, and each payload its descriptor.
macro_rules! event_family {
    (
        $(#[$doc:meta])*
        $enum_name:ident of $family:ident {
            $( $variant:ident($payload:ident) = $name:literal {
                scope: $scope:ident,
                durability: $durability:ident,
                pairing: $pairing:expr,
                origin: $origin:ident,
                aliases: [$( $alias:literal $(when $decision:expr)? ),*],
                neo_code: $neo:expr $(,)?
            } )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $enum_name {
            $( #[doc = concat!("`", $name, "`")] $variant($payload), )*
        }

        impl $enum_name {
            /// The row of this event.
            #[must_use]
            pub fn descriptor(&self) -> &'static EventDescriptor {
                match self {
                    $( Self::$variant(_) => <$payload as EventPayload>::descriptor(), )*
                }
            }

            /// The payload as JSON text.
            ///
            /// # Errors
            /// Never for the payloads of the catalog; the signature is serde's.
            pub fn payload_json(&self) -> Result<JsonText, crate::json::JsonError> {
                match self {
                    $( Self::$variant(payload) => JsonText::from_value(payload), )*
                }
            }
        }

        $(
            impl EventPayload for $payload {
                fn descriptor() -> &'static EventDescriptor {
                    static ROW: EventDescriptor = EventDescriptor {
                        name: $name,
                        family: Family::$family,
                        scope: ScopeKind::$scope,
                        durability: Durability::$durability,
                        pairing: $pairing,
                        origin: Origin::$origin,
                        aliases: &[$( Alias {
                            name: $alias,
                            when_decision: event_family!(@when $($decision)?),
                        } ),*],
                        neo_code: $neo,
                        schema: || schemars::schema_for!($payload),
                        decode: |json| {
                            serde_json::from_str(json).map(|p| Event::$family($enum_name::$variant(p)))
                        },
                    };
                    &ROW
                }
            }

            impl From<$payload> for Event {
                fn from(payload: $payload) -> Self {
                    Self::$family($enum_name::$variant(payload))
                }
            }
        )*

        pub(super) static ROWS: LazyLock<Vec<&'static EventDescriptor>> =
            LazyLock::new(|| vec![$( <$payload as EventPayload>::descriptor() ),*]);
    };
    (@when) => { None };
    (@when $decision:expr) => { Some($decision) };
}

/// Lists the families: gives [`Event`](super::Event) and the register of all rows.
macro_rules! event_families {
    ($( $module:ident: $variant:ident($enum_name:ident), )*) => {
        $( pub mod $module; )*
        $( pub use $module::$enum_name; )*

        /// A decoded event: family, then member. Match families you ignore by name and members of those you read in full,
        /// so that a new type breaks exactly the code that has to look at it.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Event {
            $( #[doc = concat!("Family ", stringify!($variant), ".")] $variant($enum_name), )*
            /// A type without a row: kept whole.
            Unknown {
                /// The name it came with.
                name: std::sync::Arc<str>,
                /// Its payload.
                payload: crate::json::JsonText,
            },
        }

        impl Event {
            /// The row of this event, if its type has one.
            #[must_use]
            pub fn descriptor(&self) -> Option<&'static EventDescriptor> {
                match self {
                    $( Self::$variant(event) => Some(event.descriptor()), )*
                    Self::Unknown { .. } => None,
                }
            }

            /// The payload as JSON text.
            ///
            /// # Errors
            /// Never for the payloads of the catalog; the signature is serde's.
            pub fn payload_json(&self) -> Result<crate::json::JsonText, crate::json::JsonError> {
                match self {
                    $( Self::$variant(event) => event.payload_json(), )*
                    Self::Unknown { payload, .. } => Ok(payload.clone()),
                }
            }
        }

        pub(super) static FAMILIES: [&std::sync::LazyLock<Vec<&'static EventDescriptor>>; 10] =
            [$( &$module::ROWS ),*];
    };
}

pub(super) use {event_families, event_family};
