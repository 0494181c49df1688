//! Who may take part: each kind of credentials that NATS offers, for workers, coordinators and `dc0-run fleet` alike, and refusals of
//! wrong ones.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::fleet::{Broker, FIXED, Process, add, wait_for};
use crate::interop_script;
use crate::program::{PROGRAM, dc0_run, succeed};

/// A run that takes a moment.
const SCRIPT: &str = "tests/data/join.rhai";

/// Credentials and certificates, made once; see the script that makes them.
fn identity(name: &str) -> String {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("temporary folder");
        interop_script("make_identities.py", folder.path());
        folder
    });
    let path = folder.path().join(name);
    assert!(path.exists(), "{name} is not made");
    path.display().to_string()
}

/// A broker with TLS: its certificate, and what else its configuration says.
fn with_tls(server: &str, more: &str) -> Broker {
    let [certificate, key, ca] =
        [format!("{server}.pem"), format!("{server}.key"), "ca.pem".to_owned()].map(|name| identity(&name));
    Broker::configured(&format!(
        "authorization {{ token: \"s3cret\" }}\n\
         tls {{ cert_file: \"{certificate}\", key_file: \"{key}\", ca_file: \"{ca}\", {more} }}"
    ))
}

/// A file with credentials.
fn credentials(broker: &Broker, name: &str, text: &str) -> String {
    let path = broker.path(name);
    fs::write(&path, text).expect("writes");
    path.display().to_string()
}

fn worker(broker: &Broker, url: &str, options: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["worker", url, "--lanes", "1", "--device", "cpu"]).args(options).stdin(Stdio::null());
    command.arg("--cache").arg(broker.path("cache"));
    command
}

fn fleet(url: &str, options: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["fleet", url]).args(options).stdin(Stdio::null());
    command
}

fn coordinator(out: &Path, url: &str, options: &[impl AsRef<OsStr>]) -> Command {
    let mut command = dc0_run(SCRIPT, out);
    command.args(FIXED).args(["--workers", url]).args(options);
    command
}

/// The digests of the games of a run.
fn games(out: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for table in ["games", "positions"] {
        add(&out.join("join").join(table), out, &mut found);
    }
    assert_eq!(found.len(), 4, "two shards of two tables");
    found
}

/// The digests of a run without workers.
fn expected() -> &'static BTreeMap<PathBuf, String> {
    static GAMES: OnceLock<BTreeMap<PathBuf, String>> = OnceLock::new();
    GAMES.get_or_init(|| {
        let out = tempfile::tempdir().expect("temporary folder");
        succeed(dc0_run(SCRIPT, out.path()).args(FIXED));
        games(out.path())
    })
}

fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A worker, a coordinator and `fleet` with these options work together, and print none of the secrets.
fn takes_part(broker: &Broker, url: &str, options: &[impl AsRef<OsStr>], secrets: &[&str]) {
    let mut working = Process::start(&mut worker(broker, url, options), broker.path("worker.log"));
    wait_for("the worker", || working.printed().contains("1 lane"));
    let out = tempfile::tempdir().expect("temporary folder");
    let ran = succeed(&mut coordinator(out.path(), url, options));
    assert_eq!(&games(out.path()), expected());
    let shown = succeed(&mut fleet(url, options));
    assert!(printed(&shown).contains("1 worker at"), "{}", printed(&shown));
    working.signal("TERM");
    assert_eq!(working.end(), Some(130), "{}", working.printed());
    assert!(working.printed().contains("stops after 2 shards"), "{}", working.printed());
    let log = fs::read_to_string(out.path().join("join/run.log")).expect("the run's log");
    for text in [working.printed(), printed(&ran), printed(&shown), log] {
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
    }
}

/// A worker, a coordinator and `fleet` with these options end at once with an exit code, say why, and print none of the secrets.
fn is_refused(
    broker: &Broker,
    url: &str,
    options: &[impl AsRef<OsStr>],
    (code, why): (i32, &[&str]),
    secrets: &[&str],
) {
    let out = tempfile::tempdir().expect("temporary folder");
    for mut command in
        [worker(broker, url, options), coordinator(out.path(), url, options), fleet(url, options)]
    {
        let output = command.output().expect("it starts");
        let printed = printed(&output);
        assert_eq!(output.status.code(), Some(code), "{printed}");
        assert!(why.iter().all(|why| printed.contains(why)), "{why:?}: {printed}");
        assert!(secrets.iter().all(|secret| !printed.contains(secret)), "{printed}");
    }
    assert!(!out.path().join("join/games").exists(), "nothing was played");
}

#[test]
fn a_token_lets_in_who_has_it() {
    let broker = Broker::start();
    let url = format!("nats://127.0.0.1:{}", broker.port);
    let (right, wrong) =
        (credentials(&broker, "token", "s3cret\n"), credentials(&broker, "wrong", "a-gue55\n"));
    takes_part(&broker, &url, &["--credentials", &right], &["s3cret"]);
    let refusal =
        (1, &["cannot connect to the broker at nats://127.0.0.1", "does not accept this token"][..]);
    is_refused(&broker, &url, &["--credentials", &wrong], refusal, &["a-gue55"]);
    is_refused(&broker, &url.replace("//", "//a-gue55@"), &[""; 0], refusal, &["a-gue55"]);
    is_refused(&broker, &url, &[""; 0], (1, &["it demands credentials", "--credentials FILE"]), &[]);
}

#[test]
fn a_user_and_its_password_may_be_in_a_file_or_encoded_in_the_url() {
    let password = "p@ss:w/rd %41";
    let broker = Broker::configured(&format!("authorization {{ user: lab, password: \"{password}\" }}"));
    let url = format!("nats://127.0.0.1:{}", broker.port);
    let (right, wrong) = (
        credentials(&broker, "user", &format!("lab\n{password}\n")),
        credentials(&broker, "wrong", "lab\na-gue55\n"),
    );
    takes_part(&broker, &url, &["--credentials", &right], &[password]);
    takes_part(
        &broker,
        &url.replace("//", "//lab:p%40ss%3Aw%2Frd%20%2541@"),
        &[""; 0],
        &[password, "p%40ss"],
    );
    let refusal = (1, &["does not accept this user and password"][..]);
    is_refused(&broker, &url, &["--credentials", &wrong], refusal, &["a-gue55"]);
    is_refused(&broker, &url.replace("//", "//lab:a-gue55@"), &[""; 0], refusal, &["a-gue55"]);
    let twice = (2, &["give one of them"][..]);
    is_refused(&broker, &url.replace("//", "//a-gue55@"), &["--credentials", &right], twice, &["a-gue55"]);
}

#[test]
fn an_nkey_lets_in_who_has_its_seed() {
    let known = fs::read_to_string(identity("nkey.conf")).expect("a configuration");
    let broker = Broker::configured(&known);
    let url = format!("nats://127.0.0.1:{}", broker.port);
    let seed = |name: &str| {
        let text = fs::read_to_string(identity(name)).expect("a seed");
        text.lines().next().expect("a line").to_owned()
    };
    let (lab, stranger) = (seed("lab.nk"), seed("stranger.nk"));
    takes_part(&broker, &url, &["--credentials", &identity("lab.nk")], &[&lab]);
    let refusal = (1, &["does not accept this NKey"][..]);
    is_refused(&broker, &url, &["--credentials", &identity("stranger.nk")], refusal, &[&stranger]);
    let damaged = credentials(&broker, "damaged", &lab.replace(&lab[20..24], "AAAA"));
    let refusal = (2, &["cannot use the credentials in", "damaged: its NKey's seed is malformed"][..]);
    is_refused(&broker, &url, &["--credentials", &damaged], refusal, &[&lab[..20]]);
}

#[test]
fn a_jwt_lets_in_the_users_of_an_account_until_it_expires() {
    let broker = Broker::configured(&fs::read_to_string(identity("jwt.conf")).expect("a configuration"));
    let url = format!("nats://127.0.0.1:{}", broker.port);
    takes_part(&broker, &url, &["--credentials", &identity("lab.creds")], &["SU", "eyJ"]);
    for name in ["stranger.creds", "expired.creds"] {
        let refusal = (1, &["does not accept this JWT"][..]);
        is_refused(&broker, &url, &["--credentials", &identity(name)], refusal, &["SU", "eyJ"]);
    }
    let text = fs::read_to_string(identity("lab.creds")).expect("a JWT");
    let cut = credentials(&broker, "cut.creds", &text[..text.len() / 2]);
    is_refused(
        &broker,
        &url,
        &["--credentials", &cut],
        (2, &["its credentials are malformed"]),
        &["SU", "eyJ"],
    );
}

/// The options that name files of [`identity`] beside a token.
fn tls_options(broker: &Broker, names: &[(&str, &str)]) -> Vec<String> {
    let mut options = vec!["--credentials".to_owned(), credentials(broker, "token", "s3cret")];
    options.extend(names.iter().flat_map(|(option, name)| [format!("--{option}"), identity(name)]));
    options
}

#[test]
fn a_broker_with_tls_is_known_by_its_authority() {
    let broker = with_tls("server", "");
    let options = |names| tls_options(&broker, names);
    let url = format!("tls://localhost:{}", broker.port);
    takes_part(&broker, &url, &options(&[("ca", "ca.pem")]), &["s3cret"]);
    // The broker asks for TLS, whatever the URL says.
    let plain = format!("nats://127.0.0.1:{}", broker.port);
    takes_part(&broker, &plain, &options(&[("ca", "ca.pem")]), &["s3cret"]);
    let unknown =
        (1, &["cannot connect to the broker at tls://localhost", "UnknownIssuer", "with --ca FILE"][..]);
    is_refused(&broker, &url, &options(&[]), unknown, &["s3cret"]);
    is_refused(&broker, &url, &options(&[("ca", "other-ca.pem")]), unknown, &["s3cret"]);
    let token = (1, &["it demands credentials"][..]);
    is_refused(&broker, &url, &["--ca".to_owned(), identity("ca.pem")], token, &[]);
}

#[test]
fn a_broker_whose_certificate_is_old_or_anothers_is_not_trusted() {
    for (server, why) in
        [("expired-server", "certificate expired"), ("elsewhere", "certificate is for another name")]
    {
        let broker = with_tls(server, "");
        let url = format!("tls://127.0.0.1:{}", broker.port);
        is_refused(&broker, &url, &tls_options(&broker, &[("ca", "ca.pem")]), (1, &[why]), &["s3cret"]);
    }
}

#[test]
fn a_broker_may_ask_for_a_certificate() {
    let broker = with_tls("server", "verify: true");
    let options = |names| tls_options(&broker, names);
    let url = format!("tls://127.0.0.1:{}", broker.port);
    let known = [("ca", "ca.pem"), ("certificate", "client.pem"), ("certificate-key", "client.key")];
    takes_part(&broker, &url, &options(&known), &["s3cret", "PRIVATE"]);
    let none = (1, &["it asks for a certificate", "--certificate-key FILE"][..]);
    is_refused(&broker, &url, &options(&known[..1]), none, &["s3cret"]);
    let others =
        [("ca", "ca.pem"), ("certificate", "other-client.pem"), ("certificate-key", "other-client.key")];
    is_refused(&broker, &url, &options(&others), (1, &["does not accept this certificate"]), &["s3cret"]);
    let mixed = [("ca", "ca.pem"), ("certificate", "client.pem"), ("certificate-key", "other-client.key")];
    is_refused(
        &broker,
        &url,
        &options(&mixed),
        (2, &["cannot use the private key in", "client.pem"]),
        &["PRIVATE"],
    );
}

#[test]
fn a_certificate_may_be_the_credentials() {
    let [certificate, key, ca] = ["server.pem", "server.key", "ca.pem"].map(identity);
    let broker = Broker::configured(&format!(
        "tls {{ cert_file: \"{certificate}\", key_file: \"{key}\", ca_file: \"{ca}\", verify_and_map: true }}\n\
         authorization {{ users: [ {{ user: \"CN=client\" }} ] }}"
    ));
    let url = format!("tls://127.0.0.1:{}", broker.port);
    let named = |name: &str| {
        let files = [
            ("ca", "ca.pem".to_owned()),
            ("certificate", format!("{name}.pem")),
            ("certificate-key", format!("{name}.key")),
        ];
        files
            .into_iter()
            .flat_map(|(option, file)| [format!("--{option}"), identity(&file)])
            .collect::<Vec<_>>()
    };
    takes_part(&broker, &url, &named("client"), &["PRIVATE"]);
    // Of the same authority, but nobody that the broker knows.
    is_refused(&broker, &url, &named("server"), (1, &["does not accept this certificate"]), &["PRIVATE"]);
}

#[test]
fn nothing_is_sent_without_tls_to_a_broker_that_should_have_it() {
    let broker = Broker::start();
    let options = tls_options(&broker, &[("ca", "ca.pem")]);
    for url in ["tls", "nats"].map(|scheme| format!("{scheme}://127.0.0.1:{}", broker.port)) {
        is_refused(&broker, &url, &options, (1, &["it does not offer TLS"]), &["s3cret"]);
    }
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let broker = Broker::start();
    let url = format!("nats://127.0.0.1:{}", broker.port);
    let [empty, text] =
        [("empty", ""), ("text", "no certificate\n")].map(|(name, text)| credentials(&broker, name, text));
    let missing = broker.path("missing").display().to_string();
    let client = identity("client.pem");
    let refused = |options: &[&str], why: &[&str]| is_refused(&broker, &url, options, (2, why), &[]);
    refused(&["--credentials", &missing], &["cannot use the credentials in", "missing: No such file"]);
    refused(&["--credentials", &empty], &["empty: it has 0 lines with text, expected a token"]);
    refused(&["--ca", &missing], &["cannot use the certificate authorities in", "missing: No such file"]);
    refused(&["--ca", &text], &["text: it has no CERTIFICATE in PEM format"]);
    refused(&["--certificate", &client], &["--certificate-key <FILE>"]);
    refused(&["--certificate", &text, "--certificate-key", &text], &["cannot use the certificate in"]);
    refused(&["--certificate", &client, "--certificate-key", &text], &["cannot use the private key in"]);
}

#[test]
fn a_run_waits_while_the_broker_refuses_it_and_says_why() {
    let mut broker = Broker::start();
    let out = tempfile::tempdir().expect("temporary folder");
    let mut coordinator = broker.coordinator(out.path(), &[]);
    let worker = broker.worker();
    wait_for("the worker", || worker.printed().contains("1 lane"));
    broker.kill();
    broker.configure("authorization { token: another }");
    broker.run();
    for process in [&coordinator, &worker] {
        let reason = format!(
            "the connection to the broker at nats://127.0.0.1:{}: authorization violation",
            broker.port
        );
        wait_for("the reason", || process.printed().contains(&reason));
    }
    broker.kill();
    broker.configure("authorization { token: s3cret }");
    broker.run();
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
}

#[test]
fn a_broker_without_streams_is_refused() {
    let mut broker = Broker::start();
    broker.kill();
    fs::write(broker.path("nats.conf"), format!("host: 127.0.0.1\nport: {}\n", broker.port)).expect("writes");
    broker.run();
    let url = format!("nats://127.0.0.1:{}", broker.port);
    let refusal = (1, &["did not qualify", "without JetStream"][..]);
    is_refused(&broker, &url, &[""; 0], refusal, &[]);
}

#[test]
fn a_broker_that_forbids_its_streams_is_no_empty_one() {
    let broker = Broker::configured("accounts { LAB: { users: [ { user: lab, password: s3cret } ] } }");
    let url = format!("nats://lab:s3cret@127.0.0.1:{}", broker.port);
    let shown = fleet(&url, &[""; 0]).output().expect("it starts");
    assert_eq!(shown.status.code(), Some(1), "{}", printed(&shown));
    assert!(printed(&shown).contains("did not report its tasks"), "{}", printed(&shown));
    let working = Process::start(&mut worker(&broker, &url, &[""; 0]), broker.path("worker.log"));
    wait_for("the reason", || working.printed().contains("did not report a route"));
}
