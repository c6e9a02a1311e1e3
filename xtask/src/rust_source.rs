//! Owns reading Rust sources for the checks: functions, modules, which lines are tests, what `match` arms say.
//!
//! A syntax tree decides what is code; comments, which it does not have, are found by line.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A function of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    /// Name.
    pub(crate) name: String,
    /// First line of the signature, 1 first.
    pub(crate) first: usize,
    /// Line of the closing brace.
    pub(crate) last: usize,
    /// True when it is compiled for tests only.
    pub(crate) is_test: bool,
}

/// An inline module of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Module {
    /// Name.
    pub(crate) name: String,
    /// First line, attributes included.
    pub(crate) first: usize,
    /// Line of the closing brace.
    pub(crate) last: usize,
    /// True when it, or a module around it, is compiled for tests only.
    pub(crate) is_test: bool,
}

/// What a file says.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// Functions, methods included, in the order of the file.
    pub(crate) functions: Vec<Function>,
    /// Inline modules, outer before inner.
    pub(crate) modules: Vec<Module>,
    /// Lines of arms that take whatever is left of a `match` over events.
    pub(crate) event_wildcards: Vec<usize>,
    /// Lines that import the members of an event type, which hides what a `match` is over.
    pub(crate) event_imports: Vec<usize>,
    test_depth: usize,
}

/// Reads the outline of a file.
///
/// # Errors
/// The text is not Rust.
pub(crate) fn outline(text: &str) -> syn::Result<Outline> {
    let file = syn::parse_file(text)?;
    let mut outline = Outline::default();
    outline.visit_file(&file);
    Ok(outline)
}

/// True when the whole file is test code, judged by where it lies.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

impl Outline {
    fn function(&mut self, attributes: &[syn::Attribute], signature: &syn::Signature, end: usize) {
        self.functions.push(Function {
            name: signature.ident.to_string(),
            first: signature.span().start().line,
            last: end,
            is_test: self.test_depth > 0 || for_tests(attributes),
        });
    }

    fn within(&mut self, attributes: &[syn::Attribute], visit: impl FnOnce(&mut Self)) {
        let deeper = usize::from(for_tests(attributes));
        self.test_depth += deeper;
        visit(self);
        self.test_depth -= deeper;
    }
}

impl<'ast> Visit<'ast> for Outline {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.attrs, &item.sig, item.span().end().line);
        self.within(&item.attrs, |outline| visit::visit_item_fn(outline, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.attrs, &item.sig, item.span().end().line);
        self.within(&item.attrs, |outline| visit::visit_impl_item_fn(outline, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.attrs, &item.sig, item.span().end().line);
        self.within(&item.attrs, |outline| visit::visit_trait_item_fn(outline, item));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.within(&item.attrs, |outline| visit::visit_item_impl(outline, item));
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_some() {
            self.modules.push(Module {
                name: item.ident.to_string(),
                first: item.span().start().line,
                last: item.span().end().line,
                is_test: self.test_depth > 0 || for_tests(&item.attrs),
            });
        }
        self.within(&item.attrs, |outline| visit::visit_item_mod(outline, item));
    }

    fn visit_expr_match(&mut self, expression: &'ast syn::ExprMatch) {
        if expression.arms.iter().any(|arm| names_event(&arm.pat)) {
            let catch_alls = expression.arms.iter().filter(|arm| is_catch_all(&arm.pat));
            self.event_wildcards.extend(catch_alls.map(|arm| arm.span().start().line));
        }
        visit::visit_expr_match(self, expression);
    }

    fn visit_use_path(&mut self, path: &'ast syn::UsePath) {
        let opens_enum = matches!(*path.tree, syn::UseTree::Glob(_) | syn::UseTree::Group(_));
        if opens_enum && is_event_name(&path.ident) {
            self.event_imports.push(path.ident.span().start().line);
        }
        visit::visit_use_path(self, path);
    }
}

fn is_event_name(ident: &syn::Ident) -> bool {
    let name = ident.to_string();
    name.ends_with("Event") && !["WireEvent", "RecordedEvent"].contains(&name.as_str())
}

/// True for `_`, for a name, and for a choice with one of them in it.
fn is_catch_all(pattern: &syn::Pat) -> bool {
    match pattern {
        syn::Pat::Wild(_) => true,
        syn::Pat::Ident(name) => name.subpat.is_none(),
        syn::Pat::Or(choice) => choice.cases.iter().any(is_catch_all),
        _ => false,
    }
}

/// True for `#[test]`, `#[cfg(test)]` and attributes whose path ends in `test`.
fn for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_test = attribute.path().segments.last().is_some_and(|s| s.ident == "test");
        let is_cfg_test = attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|condition| condition.is_ident("test"));
        is_test || is_cfg_test
    })
}

/// True when the pattern goes through a path such as `Event::Tool` or `ToolEvent::Started`.
fn names_event(pattern: &syn::Pat) -> bool {
    struct Finder(bool);
    impl<'ast> Visit<'ast> for Finder {
        fn visit_path(&mut self, path: &'ast syn::Path) {
            let mut segments = path.segments.iter().rev().skip(1);
            self.0 |= segments.next().is_some_and(|s| is_event_name(&s.ident));
        }
    }
    let mut finder = Finder(false);
    finder.visit_pat(pattern);
    finder.0
}

/// The text without comments and without the contents of string literals, line for line.
pub(crate) fn code_lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new(); text.lines().count() + 1];
    if let Ok(stream) = text.parse::<proc_macro2::TokenStream>() {
        collect(stream, &mut lines);
    }
    lines
}

fn collect(stream: proc_macro2::TokenStream, lines: &mut [String]) {
    for token in stream {
        let at = token.span().start().line;
        let mut push = |word: &str| {
            if let Some(line) = at.checked_sub(1).and_then(|at| lines.get_mut(at)) {
                line.push_str(word);
                line.push(' ');
            }
        };
        match token {
            proc_macro2::TokenTree::Group(group) => collect(group.stream(), lines),
            proc_macro2::TokenTree::Ident(ident) => push(&ident.to_string()),
            proc_macro2::TokenTree::Punct(punct) => push(&punct.as_char().to_string()),
            proc_macro2::TokenTree::Literal(_) => push("_literal"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"//! A file.
/// Doc.
fn long() {
    match event {
        Event::Tool(_) => {}
        _ => {} // sled
    }
    match word { "a" => {} _ => {} }
}
#[cfg(test)]
mod tests {
    mod inner {
        #[test]
        fn check() { sled::open("x"); }
    }
}
"#;

    #[test]
    fn outline_of_a_file() {
        let outline = outline(SOURCE).unwrap();
        let functions: Vec<_> = outline
            .functions
            .iter()
            .map(|f| (f.name.as_str(), f.first, f.last, f.is_test))
            .collect();
        assert_eq!(functions, [("long", 3, 9, false), ("check", 14, 14, true)]);
        let modules: Vec<_> =
            outline.modules.iter().map(|m| (m.name.as_str(), m.first, m.last, m.is_test)).collect();
        assert_eq!(modules, [("tests", 10, 16, true), ("inner", 12, 15, true)]);
        assert_eq!(outline.event_wildcards, [6]);
    }

    #[test]
    fn catch_alls_over_events() {
        let check = |arms: &str, expected: &[usize]| {
            let text = format!("fn f() {{\n    match e {{\n{arms}\n    }}\n}}\n");
            assert_eq!(outline(&text).unwrap().event_wildcards, expected, "{arms}");
        };
        check("Event::Tool(_) => {}\nother => {}", &[4]);
        check("Event::Tool(_) => {}\nEvent::Task(_) | _ => {}", &[4]);
        check("Event::Tool(ToolEvent::Started(_)) => {}\n_ if x => {}", &[4]);
        check("Event::Tool(_) | Event::Task(_) => {}", &[]);
        check("Some(RecordedEvent::A) => {}\n_ => {}", &[]);
        check("Body::Text => {}\n_ => {}", &[]);
        let uses = "use a::ToolEvent::{Started, Failed};\nuse a::Event;\nuse b::TaskEvent::*;\n";
        assert_eq!(outline(uses).unwrap().event_imports, [1, 3]);
    }

    #[test]
    fn code_lines_have_no_comments_and_no_strings() {
        let lines = code_lines(SOURCE);
        assert!(!lines[5].contains("sled"), "{lines:?}");
        assert!(lines[13].contains("sled : : open"), "{lines:?}");
        assert!(!lines[13].contains('x'), "{lines:?}");
    }
}
