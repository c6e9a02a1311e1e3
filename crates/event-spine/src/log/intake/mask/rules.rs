//! Owns the tokens that are known by how they begin: one row each, from what their issuers publish.

use super::encoded::{alnum, base64, dashed, dotted, hex, lower_hex, upper, word};

/// What a byte of a token may be.
pub(super) type Class = fn(u8) -> bool;

/// What a token must have beside prefix, class and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Nothing: the prefix says it all.
    None,
    /// A digit, and sixteen letters and digits in a row: the prefix also begins words.
    Random,
}

/// One kind of token.
pub(super) struct TokenRule {
    /// Name in the placeholder.
    pub(super) name: &'static str,
    /// What it begins with.
    pub(super) prefix: &'static str,
    pub(super) class: Class,
    /// Characters behind the prefix, at least.
    pub(super) min: usize,
    /// Characters behind the prefix, at most; a longer run is another thing.
    pub(super) max: usize,
    pub(super) check: Check,
}

impl TokenRule {
    /// Characters behind the prefix that may stay when the text is cut there: too few to be of use.
    pub(super) fn stub(&self) -> usize {
        (self.min / 4).min(8)
    }
}

const fn row(
    name: &'static str,
    prefix: &'static str,
    class: Class,
    min: usize,
    max: usize,
) -> TokenRule {
    TokenRule { name, prefix, class, min, max, check: Check::None }
}

const fn random(name: &'static str, prefix: &'static str, class: Class, min: usize) -> TokenRule {
    TokenRule { name, prefix, class, min, max: MANY, check: Check::Random }
}

/// No upper limit that a real token reaches.
pub(super) const MANY: usize = 4096;

/// The rows. Of rows with a common beginning the longer prefix stands first.
pub(super) static TOKENS: &[TokenRule] = &[
    row("aws-access-key", "AKIA", upper, 16, 16),
    row("aws-access-key", "ASIA", upper, 16, 16),
    row("aws-access-key", "ABIA", upper, 16, 16),
    row("aws-access-key", "ACCA", upper, 16, 16),
    row("github-token", "github_pat_", word, 22, MANY),
    row("github-token", "ghp_", word, 30, MANY),
    row("github-token", "gho_", word, 30, MANY),
    row("github-token", "ghu_", word, 30, MANY),
    row("github-token", "ghs_", dotted, 30, MANY),
    row("github-token", "ghr_", word, 30, MANY),
    row("gitlab-token", "glpat-", dotted, 20, MANY),
    row("gitlab-token", "gldt-", dotted, 20, MANY),
    row("gitlab-token", "glrt-", dotted, 20, MANY),
    row("gitlab-token", "glptt-", dotted, 20, MANY),
    row("gitlab-token", "glcbt-", dotted, 20, MANY),
    row("slack-token", "xoxb-", dashed, 10, MANY),
    row("slack-token", "xoxp-", dashed, 10, MANY),
    row("slack-token", "xoxa-", dashed, 10, MANY),
    row("slack-token", "xoxr-", dashed, 10, MANY),
    row("slack-token", "xoxs-", dashed, 10, MANY),
    row("slack-token", "xoxe-", dashed, 10, MANY),
    row("slack-token", "xoxe.", dotted, 10, MANY),
    row("slack-token", "xapp-", dashed, 10, MANY),
    row("slack-webhook", "hooks.slack.com/services/", base64, 20, MANY),
    row("anthropic-key", "sk-ant-", dashed, 20, MANY),
    row("openai-key", "sk-proj-", dashed, 20, MANY),
    row("openai-key", "sk-svcacct-", dashed, 20, MANY),
    row("openai-key", "sk-admin-", dashed, 20, MANY),
    row("openrouter-key", "sk-or-v1-", lower_hex, 32, MANY),
    row("langfuse-key", "sk-lf-", dashed, 32, MANY),
    random("openai-key", "sk-", dashed, 20),
    row("google-api-key", "AIza", dashed, 35, 35),
    row("google-oauth-token", "ya29.", dotted, 20, MANY),
    row("google-client-secret", "GOCSPX-", dashed, 20, MANY),
    row("stripe-key", "sk_live_", alnum, 16, MANY),
    row("stripe-key", "sk_test_", alnum, 16, MANY),
    row("stripe-key", "rk_live_", alnum, 16, MANY),
    row("stripe-key", "rk_test_", alnum, 16, MANY),
    row("webhook-secret", "whsec_", base64, 24, MANY),
    row("npm-token", "npm_", alnum, 36, MANY),
    row("pypi-token", "pypi-", dashed, 50, MANY),
    row("huggingface-token", "hf_", alnum, 30, MANY),
    row("huggingface-token", "api_org_", alnum, 30, MANY),
    row("groq-key", "gsk_", alnum, 40, MANY),
    row("xai-key", "xai-", alnum, 40, MANY),
    row("perplexity-key", "pplx-", alnum, 40, MANY),
    row("replicate-token", "r8_", alnum, 37, MANY),
    row("sendgrid-key", "SG.", dotted, 50, MANY),
    row("digitalocean-token", "dop_v1_", lower_hex, 64, 64),
    row("digitalocean-token", "doo_v1_", lower_hex, 64, 64),
    row("digitalocean-token", "dor_v1_", lower_hex, 64, 64),
    row("databricks-token", "dapi", lower_hex, 32, 40),
    row("vault-token", "hvs.", dashed, 24, MANY),
    row("vault-token", "hvb.", dashed, 24, MANY),
    row("linear-key", "lin_api_", alnum, 32, MANY),
    row("notion-token", "ntn_", alnum, 40, MANY),
    row("shopify-token", "shpat_", hex, 32, 32),
    row("shopify-token", "shpss_", hex, 32, 32),
    row("shopify-token", "shpca_", hex, 32, 32),
    row("shopify-token", "shppa_", hex, 32, 32),
    row("postman-key", "PMAK-", dashed, 40, MANY),
    row("grafana-token", "glsa_", word, 32, MANY),
    row("grafana-token", "glc_", base64, 32, MANY),
    row("newrelic-key", "NRAK-", upper, 27, 27),
    row("pulumi-token", "pul-", lower_hex, 40, 40),
    row("rubygems-key", "rubygems_", lower_hex, 48, 48),
    row("docker-token", "dckr_pat_", dashed, 20, MANY),
    row("atlassian-token", "ATATT3", dashed_or_equals, 100, MANY),
    row("supabase-key", "sbp_", lower_hex, 40, 40),
    row("supabase-key", "sb_secret_", dashed, 20, MANY),
    row("tailscale-key", "tskey-", dashed, 20, MANY),
    row("figma-token", "figd_", dashed, 20, MANY),
    row("sentry-token", "sntrys_", base64_word, 40, MANY),
    row("sentry-token", "sntryu_", lower_hex, 64, 64),
    row("age-key", "AGE-SECRET-KEY-1", upper, 58, 58),
    row("planetscale-secret", "pscale_tkn_", dotted, 32, MANY),
    row("planetscale-secret", "pscale_pw_", dotted, 32, MANY),
    row("nvidia-key", "nvapi-", dashed, 40, MANY),
    row("tavily-key", "tvly-", dashed, 24, MANY),
    row("langsmith-key", "lsv2_pt_", word, 32, MANY),
    row("langsmith-key", "lsv2_sk_", word, 32, MANY),
    row("fly-token", "fo1_", dashed, 32, MANY),
    row("doppler-token", "dp.pt.", alnum, 40, MANY),
    row("notion-token", "secret_", alnum, 43, 43),
    row("firecrawl-key", "fc-", lower_hex, 32, 32),
    // Two letters begin too much; the hex digits behind keep it apart from words.
    row("twilio-key", "SK", lower_hex, 32, 32),
];

fn dashed_or_equals(byte: u8) -> bool {
    dashed(byte) || byte == b'='
}

fn base64_word(byte: u8) -> bool {
    base64(byte) || byte == b'_'
}
