//! SP0080: no secret stands in a payload.

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::secret;

pub(super) struct SecretLeakRisk;

impl Rule for SecretLeakRisk {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0080",
            code: "secret_leak_risk",
            severity: Severity::Error,
            demand: "no key, token, password or other secret stands in a payload",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        // The value itself is never repeated: findings are shown, stored and sent on.
        for secret in secret::find(&look.subject.event.draft.payload) {
            match secret.rule {
                Some(rule) => out.add(secret.path, format!("a secret, by the rule {rule}")),
                None => {
                    let message = "a text under a name that promises a secret";
                    out.add_as(Severity::Degraded, secret.path, message);
                }
            }
        }
    }
}
