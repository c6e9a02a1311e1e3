//! Owns the report as JUnit XML: one test case for each rule, so that a build server shows what was looked at too.

use quick_junit::{NonSuccessKind, Report as Xml, TestCase, TestCaseStatus, TestSuite};

use super::Report;
use crate::finding::{Finding, Severity};
use crate::rule::RULES;

impl Report {
    /// The report as JUnit XML. `name` says what was checked.
    ///
    /// # Errors
    /// The XML writer refuses a text.
    pub fn to_junit(&self, name: &str) -> Result<String, quick_junit::SerializeError> {
        let mut suite = TestSuite::new(name);
        for rule in RULES {
            let info = rule.info();
            let found: Vec<_> =
                self.findings.iter().filter(|finding| finding.rule == info.number).collect();
            let fails = found.iter().any(|finding| finding.severity == Severity::Error);
            let status = if fails {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(info.code).set_message(info.demand).set_description(lines(&found));
                status
            } else {
                TestCaseStatus::success()
            };
            let mut case = TestCase::new(format!("{} {}", info.number, info.code), status);
            if !fails && !found.is_empty() {
                case.set_system_out(lines(&found));
            }
            suite.add_test_case(case);
        }
        let mut xml = Xml::new("conformance");
        xml.add_test_suite(suite);
        xml.to_string()
    }
}

fn lines(found: &[&Finding]) -> String {
    found.iter().map(|finding| format!("{finding}\n")).collect()
}
