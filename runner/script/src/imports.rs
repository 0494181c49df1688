//! What a script imports by a plain path, read before anything runs. So misspelt names in it are told with the script's own,
//! and everything that the script consists of is known when it begins.

use std::collections::{BTreeMap, BTreeSet};

use rhai::{AST, ASTNode, Expr, Position, Stmt};

use super::failure::Failure;
use super::jail::Jail;
use super::place::Place;

/// A script or an imported one that compiles.
pub struct Parsed {
    /// The name of its file.
    pub source: String,
    /// What it says.
    pub script: AST,
    /// The imports that lead there, the innermost first.
    pub calls: Vec<Place>,
    /// The files that it imports, by the names that it gives them; a name that stands for several files is left out.
    pub modules: BTreeMap<String, String>,
}

/// An import with a plain path.
struct Import {
    path: String,
    name: String,
    position: Position,
}

impl Parsed {
    /// Without its imports, which [`closure`] looks for.
    pub fn new(source: &str, script: AST, calls: Vec<Place>) -> Self {
        Self { source: source.to_owned(), script, calls, modules: BTreeMap::new() }
    }
}

/// A script with everything that it imports, itself first, and what is wrong with that. A file that does not compile is left
/// out.
pub fn closure(
    main: Parsed,
    jail: &Jail,
    parse: impl Fn(&str, &str) -> (Option<AST>, Vec<Failure>),
) -> (Vec<Parsed>, Vec<Failure>) {
    let (mut seen, mut found) = (BTreeSet::from([main.source.clone()]), Vec::new());
    let (mut all, mut at) = (vec![main], 0);
    while at < all.len() {
        let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for import in imports(&all[at].script) {
            let place = Place::new(&all[at].source, import.position);
            let (source, text) = match jail.read(&all[at].source, &import.path) {
                Ok(read) => read,
                Err(error) => {
                    let failure = Failure { place: Some(place), ..Failure::from(&error) };
                    found.push(failure.called_from(&all[at].calls));
                    continue;
                }
            };
            named.entry(import.name).or_default().insert(source.clone());
            if !seen.insert(source.clone()) {
                continue;
            }
            let calls: Vec<Place> = std::iter::once(place).chain(all[at].calls.iter().cloned()).collect();
            let (script, wrong) = parse(&source, &text);
            found.extend(wrong.into_iter().map(|failure| failure.called_from(&calls)));
            all.extend(script.map(|script| Parsed::new(&source, script, calls)));
        }
        let single = named.into_iter().filter(|(_, files)| files.len() == 1);
        all[at].modules = single.filter_map(|(name, mut files)| Some((name, files.pop_first()?))).collect();
        at += 1;
    }
    (all, found)
}

/// The imports of a script whose paths are plain text.
fn imports(script: &AST) -> Vec<Import> {
    let mut found = Vec::new();
    script.walk(&mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Stmt(Stmt::Import(import, _))) = path.last()
            && let (Expr::StringConstant(path, position), name) = &**import
        {
            let (path, name) = (path.to_string(), name.name.to_string());
            found.push(Import { path, name, position: *position });
        }
        true
    });
    found
}
