"""Makes what brokers and their clients prove themselves with, as the libraries of NATS and OpenSSL make it.

    python make_identities.py FOLDER

Writes, each with a second one that no broker of the tests knows:
  lab.nk, stranger.nk                 the seed of an NKey and its public key
  lab.creds, stranger.creds           a JWT and its seed; expired.creds is as lab.creds, of yesterday
  jwt.conf, nkey.conf                 what a broker that knows them has in its configuration
  ca.pem, other-ca.pem                certificate authorities
  server, expired-server, elsewhere   certificates (.pem) and their keys (.key) for this machine, until yesterday, and for another one
  client, other-client                certificates of workers and coordinators, of each authority
"""

import base64
import datetime
import hashlib
import ipaddress
import json
import os
import sys
import time
from pathlib import Path

import nkeys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = 24 * 60 * 60


class Identity:
    """A pair of keys of NATS."""

    def __init__(self, prefix):
        self.seed = nkeys.encode_seed(os.urandom(32), prefix).decode()
        self.pair = nkeys.from_seed(self.seed.encode())
        self.public = self.pair.public_key.decode()

    def sign(self, other, claims, **times):
        """A JWT in which this identity says something of another one."""
        body = {"iat": int(time.time()) - DAY, "iss": self.public, "name": "lab", "sub": other.public, "nats": claims | {"version": 2}}
        body |= times
        body["jti"] = base64.b32encode(hashlib.sha256(json.dumps(body).encode()).digest()).decode().rstrip("=")
        text = ".".join(part(json.dumps(value).encode()) for value in [{"typ": "JWT", "alg": "ed25519-nkey"}, body])
        return f"{text}.{part(self.pair.sign(text.encode()))}"


def part(content):
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def creds(account, **times):
    """The text of a `.creds` file of a user of an account."""
    user = Identity(nkeys.PREFIX_BYTE_USER)
    jwt = account.sign(user, {"type": "user", "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1}, **times)
    return (
        f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
        "************************* IMPORTANT *************************\n"
        "NKEY Seed printed below can be used to sign and prove identity.\nNKEYs are sensitive and should be treated as secrets.\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n\n"
        "*************************************************************\n"
    )


def nats_identities(folder):
    for name in ["lab", "stranger"]:
        user = Identity(nkeys.PREFIX_BYTE_USER)
        (folder / f"{name}.nk").write_text(f"{user.seed}\n{user.public}\n")
        if name == "lab":
            (folder / "nkey.conf").write_text(f"authorization {{ users: [ {{ nkey: {user.public} }} ] }}\n")
    operator = Identity(nkeys.PREFIX_BYTE_OPERATOR)
    lab, system, stranger = (Identity(nkeys.PREFIX_BYTE_ACCOUNT) for _ in range(3))
    counts = ["subs", "data", "payload", "imports", "exports", "conn", "leaf"]
    stored = ["mem_storage", "disk_storage", "streams", "consumer"]
    limits = {name: -1 for name in counts} | {"wildcards": True}
    streams = operator.sign(lab, {"type": "account", "limits": limits | {name: -1 for name in stored}})
    preloaded = {lab.public: streams, system.public: operator.sign(system, {"type": "account", "limits": limits})}
    (folder / "jwt.conf").write_text(
        f"operator: {operator.sign(operator, {'type': 'operator'})}\nresolver: MEMORY\nsystem_account: {system.public}\n"
        + "resolver_preload: {\n" + "".join(f"  {account}: {jwt}\n" for account, jwt in preloaded.items()) + "}\n"
    )
    (folder / "lab.creds").write_text(creds(lab))
    (folder / "expired.creds").write_text(creds(lab, exp=int(time.time()) - 60))
    (folder / "stranger.creds").write_text(creds(stranger))


HERE = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]


def certificate(name, issuer, days, is_authority=False, names=HERE):
    """A certificate and its key, signed by an issuer's, or by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    issuer, issuer_key = issuer or (None, key)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=2))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if not is_authority:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(issuer_key, hashes.SHA256()), key


def write_certificate(folder, name, made):
    issued, key = made
    (folder / f"{name}.pem").write_bytes(issued.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )


def certificates(folder):
    lab, other = (certificate(name, None, 30, is_authority=True) for name in ["lab", "other"])
    write_certificate(folder, "ca", lab)
    write_certificate(folder, "other-ca", other)
    write_certificate(folder, "server", certificate("server", lab, 30))
    write_certificate(folder, "expired-server", certificate("server", lab, -1))
    write_certificate(folder, "elsewhere", certificate("elsewhere", lab, 30, names=[x509.DNSName("elsewhere.example")]))
    write_certificate(folder, "client", certificate("client", lab, 30))
    write_certificate(folder, "other-client", certificate("client", other, 30))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    nats_identities(target)
    certificates(target)
