#!/usr/bin/env python3
"""A store for tests of pushes: fleet_store.py FOLDER. It takes requests as ClickHouse does, and keeps inserted bytes.

FOLDER/url gets its URL. FOLDER/mode says how it answers: well, error (503), refuse (500), cut (closes the connection
after the request), or hang (never answers). FOLDER/runs has a line for each run that was inserted: its number, labels,
and number of rows. FOLDER/passwords has the password of each request. If there is a folder FOLDER/bodies, it gets a
file with the inserted bytes of each table. With FOLDER/tls.pem, a key and its certificate, the store uses TLS.
"""
import gzip
import http.server
import os
import ssl
import struct
import sys
import time
import urllib.parse

FOLDER = sys.argv[1]
ROW_OF_PATHS = 331
VERSION = 2


class Reader:
    """Reads values of the format RowBinary."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, size):
        self.at += size
        return int.from_bytes(self.data[self.at - size:self.at], "little")

    def length(self):
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        length = self.length()
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def texts(self):
        return [self.text() for _ in range(self.length())]


def mode():
    try:
        with open(f"{FOLDER}/mode", encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return "well"


class Store(http.server.BaseHTTPRequestHandler):
    runs = {}

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def insert(self, table, data):
        if os.path.isdir(f"{FOLDER}/bodies"):
            with open(f"{FOLDER}/bodies/{table.rsplit('_', 1)[0]}", "ab") as file:
                file.write(data)
        if not table.startswith("runs"):
            return
        r = Reader(data)
        r.number(2)
        run = r.number(8)
        r.at += 8 + 4 + 8  # push, at, start
        texts = [r.text() for _ in range(3)]  # host, program, file
        r.texts()  # builds
        keys, values = r.texts(), r.texts()
        for _ in range(r.length()):
            r.number(8)
        rows = r.number(8)
        self.runs[run] = rows
        labels = " ".join(f"{key}={value}" for key, value in zip(keys, values))
        with open(f"{FOLDER}/runs", "a", encoding="utf-8") as file:
            file.write(f"{run:016x} rows={rows} program={texts[1]} user={self.headers.get('X-ClickHouse-User')} {labels}\n")

    def do_POST(self):
        with open(f"{FOLDER}/passwords", "a", encoding="utf-8") as file:
            file.write(f"{self.headers.get('X-ClickHouse-Key')}\n")
        body = self.rfile.read(int(self.headers["Content-Length"]))
        how = mode()
        if how == "hang":
            time.sleep(300)
        if how in ("cut", "hang"):
            self.close_connection = True
            return
        if how in ("error", "refuse"):
            self.answer(503 if how == "error" else 500, b"Code: 62, not now\n")
            return
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("query")
        if query:
            self.insert(query[0].split()[2].split(".")[1], gzip.decompress(body))
            self.answer(200, b"")
        elif b" WHERE run = " in body:
            run = int(body.split(b"WHERE run = ")[1].split()[0])
            self.answer(200, struct.pack("<Q", run in self.runs))
        elif b"system.settings" in body:
            self.answer(200, struct.pack("<IB", VERSION, 0))  # the user may change settings
        elif b"system.tables" in body:
            self.answer(200, struct.pack("<Q", 1))  # the table that version 1 lacks
        else:
            self.answer(200, b"")


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Store)
SCHEME = "http"
if os.path.exists(f"{FOLDER}/tls.pem"):
    SCHEME = "https"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{FOLDER}/tls.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(f"{FOLDER}/url.part", "w", encoding="utf-8") as out:
    out.write(f"{SCHEME}://127.0.0.1:{server.server_port}\n")
os.rename(f"{FOLDER}/url.part", f"{FOLDER}/url")
server.serve_forever()
