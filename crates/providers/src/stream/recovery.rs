//! Owns our own words about failures, by category: what a person can do, and why a call is closed that nobody answered.

/// The advice for a failure category, if there is one.
pub(super) fn recovery(category: &str) -> Option<&'static str> {
    Some(match category {
        "execution_failed" => "read the error, then correct the arguments or choose another tool",
        "invalid_arguments" => "correct the arguments and call it again",
        "arguments_cut_off" => "ask for the call again; it did not run",
        "interrupted" | "no_result" => "check what it did before it is called again",
        "permission_denied" | "rejected" => "ask again or choose another tool",
        "sandbox_blocked" => "ask for permission or stay within the sandbox",
        "cancelled" => "submit it again if it is still wanted",
        "timeout" => "raise the limit or narrow what is asked",
        "unknown_tool" => "register the tool or choose another one",
        "rate_limited" | "quota_exceeded" => "wait and try again, or raise the limit",
        "auth_failed" => "set the credential",
        "context_too_long" => "compact the history and try again",
        "server_error" | "network_error" | "stream_interrupted" => "try again",
        "incomplete" => "look whether the source went on, then submit it again",
        _ => return None,
    })
}

/// Why a call is closed that its source did not close.
pub(super) fn unanswered(category: &str) -> &'static str {
    match category {
        "cancelled" => "it was called off before a result came",
        "arguments_cut_off" => "its arguments were cut off; it did not run",
        "no_result" => "the turn ended and no result came; what it did is not known",
        _ => "the stream ended and no result came; what it did is not known",
    }
}
