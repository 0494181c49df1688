//! The modules of a crate and the paths that each uses, read with a parser.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// Source files by path, from the workspace or made up by a test.
pub(super) type Sources = BTreeMap<PathBuf, String>;

/// A path as it is written, such as `crate::board::Game`, or the path of a macro that is called.
#[derive(Debug)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// Whether it is in test code.
    is_test: bool,
}

/// A module with its contents; inline modules are treated like all others.
#[derive(Debug)]
pub(super) struct Module {
    /// Names from the crate's root down; empty for the root.
    pub(super) name: Vec<String>,
    pub(super) file: PathBuf,
    pub(super) mentions: Vec<Mention>,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    /// The paths imported by `use`, by their names in the module.
    imports: BTreeMap<String, Vec<Vec<String>>>,
    globs: Vec<Vec<String>>,
    pub(super) is_test: bool,
}

/// All modules of a crate; the first is its root.
#[derive(Debug)]
pub(super) struct Crate {
    pub(super) modules: Vec<Module>,
}

/// Where a module is, in the module tree and in the file system.
struct Location {
    parent: Option<usize>,
    name: Vec<String>,
    file: PathBuf,
    /// The folder of its child modules' files.
    folder: PathBuf,
    is_test: bool,
}

/// A use by one module of something in another; `from` and `to` are the children of `parent` that contain them.
#[derive(Debug, Clone)]
pub(super) struct Import {
    pub(super) parent: Vec<String>,
    pub(super) from: String,
    pub(super) to: String,
    /// File, line and path as written.
    pub(super) location: String,
}

/// What a name refers to: a module, or an item of a module.
#[derive(Clone, Copy)]
enum Target {
    Module(usize),
    ItemOf(usize),
}

impl Crate {
    /// Reads the module tree that begins with the file `root`.
    ///
    /// # Panics
    /// If a file of the tree is missing or is not Rust; the compiler would have said so before.
    pub(super) fn read(root: &Path, sources: &Sources) -> Self {
        let mut read = Self { modules: Vec::new() };
        let folder = root.parent().expect("a file lies in a folder").to_owned();
        read.add_file(
            Location { parent: None, name: Vec::new(), file: root.to_owned(), folder, is_test: false },
            sources,
        );
        read
    }

    fn add_file(&mut self, location: Location, sources: &Sources) -> usize {
        let file = &location.file;
        let text = sources.get(file).unwrap_or_else(|| panic!("no file {}", file.display()));
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(location, &parsed.items, sources)
    }

    fn add(&mut self, location: Location, items: &[syn::Item], sources: &Sources) -> usize {
        let Location { parent, name, file, folder, is_test } = location;
        let module = self.modules.len();
        self.modules.push(Module {
            name,
            file,
            mentions: Vec::new(),
            parent,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
            is_test,
        });
        let mut reader = Reader { read: self, module, folder, is_test, sources };
        for item in items {
            reader.visit_item(item);
        }
        module
    }

    /// The imports between modules outside of test code, each at the level where the two are siblings. A module that uses its
    /// parent, or an item of an enclosing module, does not count as importing it.
    pub(super) fn imports(&self) -> Vec<Import> {
        let mut imports = Vec::new();
        for (from, module) in self.modules.iter().enumerate().filter(|(_, module)| !module.is_test) {
            for mention in module.mentions.iter().filter(|mention| !mention.is_test) {
                let Some(to) = self.target(from, &mention.path) else { continue };
                let to = &self.modules[to];
                let shared = module.name.iter().zip(&to.name).take_while(|(own, other)| own == other).count();
                if to.is_test || shared == module.name.len() || shared == to.name.len() {
                    continue;
                }
                let written = mention.path.join("::");
                imports.push(Import {
                    parent: module.name[..shared].to_vec(),
                    from: module.name[shared].clone(),
                    to: to.name[shared].clone(),
                    location: format!("{}:{}: {written}", module.file.display(), mention.line),
                });
            }
        }
        imports
    }

    /// The module that a path refers to, with re-exports resolved; none for other crates and local names.
    fn target(&self, from: usize, path: &[String]) -> Option<usize> {
        match self.resolve(from, path, &mut BTreeSet::new())? {
            Target::Module(module) | Target::ItemOf(module) => Some(module),
        }
    }

    fn resolve(&self, from: usize, path: &[String], seen: &mut BTreeSet<(usize, String)>) -> Option<Target> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Target::Module(0),
            "self" => Target::Module(from),
            "super" => Target::Module(self.modules[from].parent?),
            name => self.lookup(from, name, seen)?,
        };
        while let (Target::Module(module), Some((name, after))) = (at, rest.split_first()) {
            at = match name.as_str() {
                "super" => Target::Module(self.modules[module].parent?),
                "self" => at,
                name => self.lookup(module, name, seen).unwrap_or(Target::ItemOf(module)),
            };
            rest = after;
        }
        Some(at)
    }

    fn lookup(&self, module: usize, name: &str, seen: &mut BTreeSet<(usize, String)>) -> Option<Target> {
        if !seen.insert((module, name.to_owned())) {
            return None;
        }
        let scope = &self.modules[module];
        if let Some(child) = scope.children.get(name) {
            return Some(Target::Module(*child));
        }
        if scope.items.contains(name) {
            return Some(Target::ItemOf(module));
        }
        let mut imported = scope.imports.get(name).into_iter().flatten();
        if let Some(found) = imported.find_map(|path| self.resolve(module, path, seen)) {
            return Some(found);
        }
        scope.globs.iter().find_map(|path| match self.resolve(module, path, seen)? {
            Target::Module(other) => self.lookup(other, name, seen),
            Target::ItemOf(_) => None,
        })
    }
}

/// Walks the items of one module.
struct Reader<'a> {
    read: &'a mut Crate,
    module: usize,
    /// The folder of its child modules' files.
    folder: PathBuf,
    is_test: bool,
    sources: &'a Sources,
}

impl Reader<'_> {
    fn mention(&mut self, path: Vec<String>, line: usize) {
        let is_test = self.is_test;
        self.read.modules[self.module].mentions.push(Mention { path, line, is_test });
    }

    /// Records every path of a `use` tree with its name in this module.
    fn import(&mut self, tree: &syn::UseTree, before: &[String]) {
        let mut path = before.to_vec();
        let (name, line) = match tree {
            syn::UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                return self.import(&inner.tree, &path);
            }
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|inner| self.import(inner, &path));
            }
            syn::UseTree::Glob(glob) => {
                self.read.modules[self.module].globs.push(path.clone());
                return self.mention(path, glob.star_token.span.start().line);
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                (before.last().cloned().unwrap_or_default(), name.ident.span().start().line)
            }
            syn::UseTree::Name(name) => {
                path.push(name.ident.to_string());
                (name.ident.to_string(), name.ident.span().start().line)
            }
            syn::UseTree::Rename(renamed) => {
                path.push(renamed.ident.to_string());
                (renamed.rename.to_string(), renamed.ident.span().start().line)
            }
        };
        self.read.modules[self.module].imports.entry(name).or_default().push(path.clone());
        self.mention(path, line);
    }

    /// Records the paths in the arguments of a macro, which cannot be parsed: names joined by `::`.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons < 2 {
                        self.end_of_tokens(&mut path, line);
                        line = name.span().start().line;
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() => {
                    colons = if mark.spacing() == Spacing::Joint { 1 } else { colons + 1 };
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.end_of_tokens(&mut path, line);
                    colons = 0;
                }
                TokenTree::Group(group) => {
                    self.end_of_tokens(&mut path, line);
                    colons = 0;
                    self.tokens(group.stream());
                }
            }
        }
        self.end_of_tokens(&mut path, line);
    }

    fn end_of_tokens(&mut self, path: &mut Vec<String>, line: usize) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.mention(path, line);
        }
    }

    fn child(&mut self, item: &syn::ItemMod) {
        let name = item.ident.to_string();
        let mut full = self.read.modules[self.module].name.clone();
        full.push(name.clone());
        let folder = self.folder.join(&name);
        let (parent, is_test) = (Some(self.module), self.is_test);
        let location = |file| Location { parent, name: full, file, folder: folder.clone(), is_test };
        let child = if let Some((_, items)) = &item.content {
            let own = self.read.modules[self.module].file.clone();
            self.read.add(location(own), items, self.sources)
        } else {
            let beside = self.folder.join(format!("{name}.rs"));
            let file = if self.sources.contains_key(&beside) { beside } else { folder.join("mod.rs") };
            self.read.add_file(location(file), self.sources)
        };
        self.read.modules[self.module].children.insert(name, child);
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let was_test = self.is_test;
        self.is_test |= attributes(item).iter().any(is_for_tests);
        let items = &mut self.read.modules[self.module].items;
        if let Some(name) = name(item) {
            items.insert(name.to_string());
        }
        match item {
            syn::Item::Mod(inner) => self.child(inner),
            syn::Item::Use(inner) => self.import(&inner.tree, &[]),
            _ => visit::visit_item(self, item),
        }
        self.is_test = was_test;
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if let Some(name) = &item.ident
            && item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"))
        {
            let mut path = vec!["crate".to_owned()];
            path.extend(self.read.modules[self.module].name.iter().cloned());
            path.push(name.to_string());
            self.read.modules[0].imports.entry(name.to_string()).or_default().push(path);
        }
        visit::visit_item_macro(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.mention(names, path.segments[0].ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        let names = called.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.mention(names, called.path.segments[0].ident.span().start().line);
        self.tokens(called.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }

    /// The path in `pub(super)` is not an import.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}
}

pub(super) fn is_for_tests(attribute: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let condition: String = list.tokens.to_string().split_whitespace().collect();
    list.path.is_ident("cfg") && (condition == "test" || condition.starts_with("all(test,"))
}

pub(super) fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &syn::Item) -> Option<&syn::Ident> {
    match item {
        syn::Item::Const(item) => Some(&item.ident),
        syn::Item::Enum(item) => Some(&item.ident),
        syn::Item::Fn(item) => Some(&item.sig.ident),
        syn::Item::Macro(item) => item.ident.as_ref(),
        syn::Item::Static(item) => Some(&item.ident),
        syn::Item::Struct(item) => Some(&item.ident),
        syn::Item::Trait(item) => Some(&item.ident),
        syn::Item::Type(item) => Some(&item.ident),
        syn::Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}
