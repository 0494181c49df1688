"""Makes a request to a server of Azure's blobs, signed with an account's key.

    python azure_request.py VERB URL ACCOUNT KEY

Prints the answer's status and content. Exits with 1 if nobody answers.
"""

import base64
import hashlib
import hmac
import sys
import urllib.error
import urllib.parse
import urllib.request
from email.utils import formatdate


def main(verb, url, account, key):
    parts = urllib.parse.urlsplit(url)
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2023-11-03"}
    named = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
    asked = "".join(f"\n{name}:{value}" for name, value in sorted(urllib.parse.parse_qsl(parts.query)))
    # The verb, eleven headers that are not sent, those of Azure, and what is asked for.
    text = verb + "\n" * 12 + named + f"/{account}{parts.path}" + asked
    signature = base64.b64encode(hmac.digest(base64.b64decode(key), text.encode(), hashlib.sha256)).decode()
    headers["Authorization"] = f"SharedKey {account}:{signature}"
    request = urllib.request.Request(url, method=verb, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            print(answer.status, answer.read().decode())
    except urllib.error.HTTPError as refusal:
        print(refusal.code, refusal.read().decode())
    except OSError as cause:
        sys.exit(str(cause))


if __name__ == "__main__":
    main(*sys.argv[1:])
