//! Reads a page: its fenced blocks, hidden preparations, headings and links.

use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::common::testdata::{entries, has_extension, name, repository};

pub struct Page {
    /// The path below the repository.
    pub path: String,
    pub blocks: Vec<Block>,
    /// The identifiers of headings, as mdBook makes them.
    pub anchors: BTreeSet<String>,
    /// Destinations, each with its line.
    pub links: Vec<(usize, String)>,
    /// What stands in backquotes within text, each with its line.
    pub quoted: Vec<(usize, String)>,
}

/// A fenced block, or a comment `<!-- setup` with commands that readers do not see.
pub struct Block {
    pub line: usize,
    pub language: String,
    /// The words after the language.
    pub attributes: Vec<String>,
    pub text: String,
}

impl Block {
    pub fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find_map(|word| match word.split_once('=') {
            Some((k, value)) => (k == key).then_some(value),
            None => (word == key).then_some(""),
        })
    }

    /// Whether the block shows commands that the tests run.
    pub fn is_run(&self) -> bool {
        self.language == "console" && self.attribute("not-run").is_none()
    }
}

/// Reads all pages: those of the book, and those beside it in the repository.
pub fn all() -> Vec<Page> {
    let docs = entries(&repository("docs")).into_iter().filter(|path| has_extension(path, "md"));
    let paths = docs.map(|path| format!("docs/{}", name(&path)));
    let beside = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(str::to_owned);
    paths.chain(beside).map(|path| read(&path)).collect()
}

/// Reads a page of the repository.
pub fn read(path: &str) -> Page {
    let text = with_included(&text_of(path));
    let mut page = Page {
        path: path.to_owned(),
        blocks: Vec::new(),
        anchors: BTreeSet::new(),
        links: Vec::new(),
        quoted: Vec::new(),
    };
    let line = |range: &Range<usize>| text[..range.start].matches('\n').count() + 1;
    let mut heading: Option<String> = None;
    let mut comment = String::new();
    let mut in_block = false;
    for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let mut words = info.split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_owned);
                let language = words.next().unwrap_or_default();
                let block = Block { line: line(&range), language, attributes: words.collect(), text: String::new() };
                page.blocks.push(block);
                in_block = true;
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
                panic!("{path}:{}: an indented block has no language", line(&range))
            }
            Event::End(TagEnd::CodeBlock) => in_block = false,
            Event::Text(text) if in_block => page.blocks.last_mut().unwrap().text += &text,
            Event::Start(Tag::HtmlBlock) => comment.clear(),
            Event::Html(html) => comment += &html,
            Event::End(TagEnd::HtmlBlock) => {
                if let Some(commands) = comment.trim().strip_prefix("<!-- setup").and_then(|c| c.strip_suffix("-->")) {
                    let (language, text) = ("setup".to_owned(), commands.to_owned());
                    page.blocks.push(Block { line: line(&range), language, attributes: Vec::new(), text });
                }
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let id = anchor(&heading.take().unwrap_or_default());
                let taken = |id: &String| page.anchors.contains(id);
                let numbered = (1..).map(|n| format!("{id}-{n}"));
                let free = std::iter::once(id.clone()).chain(numbered).find(|id| !taken(id));
                page.anchors.extend(free);
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push((line(&range), dest_url.into_string()));
            }
            Event::Text(text) => heading.iter_mut().for_each(|heading| *heading += &text),
            Event::Code(text) => {
                heading.iter_mut().for_each(|heading| *heading += &text);
                page.quoted.push((line(&range), text.into_string()));
            }
            _ => {}
        }
    }
    page
}

fn text_of(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Puts the text of a file at the head of the repository in the place of `{{#include ../FILE:book}}`, as mdBook does.
fn with_included(text: &str) -> String {
    let Some((before, rest)) = text.split_once("{{#include ../") else { return text.to_owned() };
    let (file, after) = rest.split_once(":book}}").unwrap_or_else(|| panic!("an include of another form: {rest}"));
    let included = text_of(file);
    let (_, from) = included.split_once("<!-- ANCHOR: book -->").unwrap_or_else(|| panic!("{file} has no anchor"));
    let (book, _) = from.split_once("<!-- ANCHOR_END: book -->").unwrap_or_else(|| panic!("{file} has no end"));
    format!("{before}{book}{}", with_included(after))
}

/// The identifier that mdBook and GitHub give a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().to_lowercase();
    let kept = letters.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
