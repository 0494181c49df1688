//! Stored games as PGN: one game with the values of its searches, or all games of a step, one shard after the other.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::channel::{SendError, Sender};
use hyper::body::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::spawn_blocking;

use super::Server;
use super::game_steps::{GameSource, GameSteps};
use super::library::{Found, Library};
use super::reply::Reply;
use super::stage::{Progress, Stage};
use super::stored_games::{stored, stored_with_searches};

/// Time limit for the client to receive the games of a shard.
const SEND_LIMIT: Duration = Duration::from_secs(30);

/// Games that are sent as a file.
pub(super) struct Download {
    run: Found,
    source: GameSource,
    /// The number of the only game; `None` for all.
    game: Option<u64>,
    _permit: OwnedSemaphorePermit,
}

impl Download {
    pub(super) fn new(
        run: Found,
        source: GameSource,
        game: Option<u64>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self { run, source, game, _permit: permit }
    }

    /// The reply's head.
    pub(super) fn head(&self) -> Reply {
        let game = self.game.map_or_else(String::new, |game| format!("-game-{game}"));
        let name = file_name(&format!("{}-{}{game}", self.run.path, self.source.name));
        let reply = Reply::new(200, "application/x-chess-pgn; charset=utf-8", "");
        reply.with("Content-Disposition", format!("attachment; filename=\"{name}.pgn\""))
    }

    /// Sends the games, shard by shard, for as long as the reader takes them.
    pub(super) async fn send(
        self,
        server: Arc<Server>,
        mut body: Sender<Bytes>,
        progress: Progress,
    ) -> Result<(), SendError> {
        let download = Arc::new(self);
        let parts = download.parts().len();
        for part in 0..parts {
            // Games are read one shard after the other, as for pages.
            let Ok(permit) = server.expensive.acquire().await else { break };
            let (server, download) = (Arc::clone(&server), Arc::clone(&download));
            let text = spawn_blocking(move || download.text(&server.library, &server.steps, part)).await;
            drop(permit);
            let Ok(text) = text else { break };
            progress.set(Stage::sending(SEND_LIMIT));
            body.send_data(text.into()).await?;
            progress.set(Stage::Answering);
        }
        progress.set(Stage::sending(SEND_LIMIT));
        Ok(())
    }

    fn parts(&self) -> Vec<(&super::shard::Shard, std::ops::Range<usize>)> {
        let games = self.game.map_or(0..self.source.count(), |game| game..game.saturating_add(1));
        self.source.parts(games)
    }

    /// The games of one shard. What cannot be read is noted in lines that PGN readers skip (section 6 of the standard).
    fn text(&self, library: &Library, steps: &GameSteps, part: usize) -> String {
        let (shard, games) = self.parts().swap_remove(part);
        let named = |cause: &dyn Display| format!("{}: {cause}", shard.games).replace(char::is_control, " ");
        let note = |cause: &str| format!("% {cause}\n\n");
        let skipped = |cause: &dyn Display| {
            let cause = named(cause);
            log::warn!("games of {} are not sent: {cause}", self.run.path);
            note(&cause)
        };
        let event = format!("{}, {}", self.run.path, self.source.name);
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut player = |name: &mut String| {
            let shown = names.entry(name.clone());
            name.clone_from(shown.or_insert_with_key(|id| steps.player(library, &self.run, id)));
        };
        let found = match self.game {
            Some(_) => stored_with_searches(library, &self.run, shard, games),
            None => stored(library, &self.run, shard, games, false).map(|games| (games, None)),
        };
        let (games, without_searches) = match found {
            Err(cause) => return skipped(&cause),
            Ok(found) => found,
        };
        let games = games.into_iter().map(|game| match game {
            Err(cause) => skipped(&cause),
            Ok(mut game) => {
                player(&mut game.white);
                player(&mut game.black);
                format!("{}\n", game.pgn(&event))
            }
        });
        without_searches.iter().map(|cause| note(&named(cause))).chain(games).collect()
    }
}

/// A name for a file: letters, digits and `.-_` stay.
fn file_name(text: &str) -> String {
    let kept = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    text.chars().map(|letter| if kept(letter) { letter } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Semaphore;

    use super::{Download, file_name};
    use crate::serve::game_steps::GameSteps;
    use crate::serve::stored_games::tests::with_large_searches;

    #[test]
    fn a_game_whose_searches_are_too_large_is_sent_without_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let (library, run, source) = with_large_searches(folder.path());
        let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().expect("a permit");
        let download = Download::new(run, source, Some(0), permit);
        let text = download.text(&library, &GameSteps::default(), 0);
        let (note, game) = text.split_once("\n\n").expect("a note before the game");
        assert!(
            note.starts_with("% games: ") && note.ends_with("so the games are without their searches"),
            "{note}"
        );
        assert!(game.starts_with("[Event ") && game.contains("1. e4 e5 1/2-1/2"), "{game}");
    }

    #[test]
    fn file_names_hold_nothing_that_a_header_or_a_folder_could_misread() {
        assert_eq!(file_name("net size/trials/0003-0-match 2\"\r\n"), "net-size-trials-0003-0-match-2---");
    }
}
