//! Nets and large results beside the broker: in a folder, and in buckets of servers that speak the protocols of Amazon's, Azure's and
//! Google's.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;

use crate::fleet::{Broker, Process, digests, expected, wait_for};
use crate::hostile::forge;
use crate::{browser_package, interop_command, interop_python};

#[test]
fn nets_can_be_in_a_folder_where_damaged_ones_are_stored_again() {
    let mut broker = Broker::start();
    let files = broker.path("files");
    let location = files.display().to_string();
    let out = tempfile::tempdir().expect("temporary folder");
    let mut coordinator = broker.coordinator(out.path(), &["--artefacts", &location]);
    let channel = files.join(forge(&broker, &["channel"]));
    for entry in fs::read_dir(&channel).expect("files of the job") {
        fs::write(entry.expect("an entry").path(), b"damaged").expect("writes");
    }
    // A worker that does not know the place says so, and others do what it cannot.
    let mut unaware = broker.worker();
    wait_for("the reason", || unaware.printed().contains("start this worker with --artefacts"));
    assert_eq!(unaware.end(), Some(2), "{}", unaware.printed());
    broker.worker_options = ["--artefacts".to_owned(), location.clone()].to_vec();
    let _workers = [broker.worker(), broker.worker()];
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    assert_eq!(digests(out.path()), expected(&[]));
    // Nothing is left behind.
    assert_eq!(files_below(&files), 0);
}

fn files_below(folder: &Path) -> usize {
    let paths = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path());
    paths.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}

/// A port where nobody listens yet.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// The answer to a request without content.
fn request(port: u16, verb: &str, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "{verb} {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// A server in memory that speaks Amazon's protocol.
fn moto(broker: &Broker, port: u16) -> Process {
    let mut command = Command::new(interop_python().with_file_name("moto_server"));
    command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
    let server = Process::start(&mut command, broker.path("store.log"));
    wait_for("the bucket", || request(port, "PUT", "/lab").is_some_and(|answer| answer.contains("200 OK")));
    server
}

/// The objects of its bucket.
fn objects(port: u16) -> usize {
    request(port, "GET", "/lab?list-type=2").expect("an answer").matches("<Key>").count()
}

/// A run whose files are in a bucket: while its server is not there, and when it is. Nothing is left in it, and the secret is never
/// printed.
fn a_run_with(
    (location, secret): (&str, &str),
    variables: &[(&str, &str)],
    start: impl FnOnce(&Broker) -> Process,
    objects: impl Fn() -> usize,
) {
    let mut broker = Broker::start();
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    broker.variables = variables.iter().map(owned).collect();
    let out = tempfile::tempdir().expect("temporary folder");
    let options = ["--artefacts", location];
    let mut coordinator = broker.coordinator(out.path(), &options);
    wait_for("the trouble", || coordinator.printed().contains(&format!("{location} did not store a file")));
    let _server = start(&broker);
    broker.worker_options = options.map(str::to_owned).to_vec();
    wait_for("the net", || objects() >= 2);
    let workers = [broker.worker(), broker.worker()];
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    assert_eq!(digests(out.path()), expected(&[]));
    assert_eq!(objects(), 0);
    let log = fs::read_to_string(out.path().join("fleet/run.log")).expect("the run's log");
    for printed in [coordinator.printed(), workers[0].printed(), workers[1].printed(), log] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

#[test]
fn nets_can_be_in_an_s3_bucket_that_is_not_there_at_first() {
    let port = free_port();
    let variables = [
        ("AWS_REGION", "us-east-1"),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "dc0-tests"),
        ("AWS_SECRET_ACCESS_KEY", "k3y-of-the-bucket"),
        ("AWS_ENDPOINT_URL", &format!("http://127.0.0.1:{port}")),
    ];
    let bucket = ("s3://lab/dc0", "k3y-of-the-bucket");
    a_run_with(bucket, &variables, |broker| moto(broker, port), || objects(port));
}

#[test]
fn nets_can_be_in_a_bucket_of_googles_protocol() {
    let port = free_port();
    let variables = [
        ("GOOGLE_BASE_URL", &*format!("http://127.0.0.1:{port}")),
        ("GOOGLE_ALLOW_HTTP", "true"),
        ("GOOGLE_BEARER_TOKEN", "t0ken-of-the-bucket"),
    ];
    let bucket = ("gs://lab/dc0", "t0ken-of-the-bucket");
    a_run_with(bucket, &variables, |broker| moto(broker, port), || objects(port));
}

/// The account of Azurite's blobs, and its key.
const AZURE: [&str; 2] = ["lab", "azN5LW9mLXRoZS1hY2NvdW50LWszeQ=="];

/// The answer to a request to Azurite.
fn azure(port: u16, verb: &str, path: &str) -> Option<String> {
    let url = format!("http://127.0.0.1:{port}/{}/{path}", AZURE[0]);
    let output =
        interop_command("azure_request.py").args([verb, &url]).args(AZURE).output().expect("it starts");
    output.status.success().then(|| String::from_utf8(output.stdout).expect("text"))
}

/// Azurite with a container.
fn azurite(broker: &Broker, port: u16) -> Process {
    let mut command = Command::new(browser_package("node_modules/.bin/azurite-blob"));
    command.args(["--inMemoryPersistence", "--silent", "--blobPort", &port.to_string()]);
    command.env("AZURITE_ACCOUNTS", AZURE.join(":"));
    let server = Process::start(&mut command, broker.path("store.log"));
    let made =
        || azure(port, "PUT", "files?restype=container").is_some_and(|answer| answer.starts_with("201"));
    wait_for("the container", made);
    server
}

#[test]
fn nets_can_be_in_a_container_of_azures_protocol() {
    let port = free_port();
    let variables = [
        ("AZURE_STORAGE_ACCOUNT_NAME", AZURE[0]),
        ("AZURE_STORAGE_ACCOUNT_KEY", AZURE[1]),
        ("AZURE_STORAGE_ENDPOINT", &*format!("http://127.0.0.1:{port}/{}", AZURE[0])),
        ("AZURE_ALLOW_HTTP", "true"),
    ];
    let blobs = || {
        let listed = azure(port, "GET", "files?comp=list&restype=container").expect("an answer");
        listed.matches("<Name>").count()
    };
    a_run_with(("az://files/dc0", AZURE[1]), &variables, |broker| azurite(broker, port), blobs);
}
