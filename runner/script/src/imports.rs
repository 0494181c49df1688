//! The files that a script imports by a literal path, read before anything runs. So misspelt names in them are reported with the
//! script's own, and all of the script's code is known when it begins.

use std::collections::{BTreeMap, BTreeSet};

use rhai::{AST, ASTNode, Expr, Position, Stmt};

use super::failure::Failure;
use super::jail::Jail;
use super::location::ScriptLocation;

/// A compiled script, or an imported one.
pub struct Parsed {
    /// The name of its file.
    pub source: String,
    /// The compiled script.
    pub script: AST,
    /// The imports that lead there, the innermost first.
    pub calls: Vec<ScriptLocation>,
    /// The files that it imports, by module name; a name that stands for several files is left out.
    pub modules: BTreeMap<String, String>,
}

/// An import with a literal path.
struct Import {
    path: String,
    name: String,
    position: Position,
}

impl Parsed {
    /// Without its imports, which [`closure`] finds.
    pub fn new(source: &str, script: AST, calls: Vec<ScriptLocation>) -> Self {
        Self { source: source.to_owned(), script, calls, modules: BTreeMap::new() }
    }
}

/// A script with everything that it imports, itself first, and their failures. A file that does not compile is left out.
pub fn closure(
    main: Parsed,
    jail: &Jail,
    parse: impl Fn(&str, &str) -> (Option<AST>, Vec<Failure>),
) -> (Vec<Parsed>, Vec<Failure>) {
    let (mut seen, mut found) = (BTreeSet::from([main.source.clone()]), Vec::new());
    let (mut all, mut next) = (vec![main], 0);
    while next < all.len() {
        let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for import in imports(&all[next].script) {
            let location = ScriptLocation::new(&all[next].source, import.position);
            let (source, text) = match jail.read(&all[next].source, &import.path) {
                Ok(read) => read,
                Err(error) => {
                    let failure = Failure { location: Some(location), ..Failure::from(&error) };
                    found.push(failure.called_from(&all[next].calls));
                    continue;
                }
            };
            modules.entry(import.name).or_default().insert(source.clone());
            if !seen.insert(source.clone()) {
                continue;
            }
            let calls: Vec<ScriptLocation> =
                std::iter::once(location).chain(all[next].calls.iter().cloned()).collect();
            let (script, wrong) = parse(&source, &text);
            found.extend(wrong.into_iter().map(|failure| failure.called_from(&calls)));
            all.extend(script.map(|script| Parsed::new(&source, script, calls)));
        }
        let single = modules.into_iter().filter(|(_, files)| files.len() == 1);
        all[next].modules = single.filter_map(|(name, mut files)| Some((name, files.pop_first()?))).collect();
        next += 1;
    }
    (all, found)
}

/// The imports of a script whose paths are string literals.
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
