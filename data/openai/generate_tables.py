#!/usr/bin/env python3
"""Generate the counting tables of o200k_base and cl100k_base. Python 3.11, standard library only.

    cargo fetch                 # brings both crates below into the registry folder
    python3 generate_tables.py REGISTRY/tiktoken-rs-0.12.1/assets \
        REGISTRY/regex-syntax-0.8.12/src/unicode_tables data/openai/

The vocabularies are OpenAI's files as that crate carries them, the classes of characters those of
the regex crate beneath it. Every input is pinned by its sha256; same bytes on every machine.

A table is a header of 64 bytes and a payload; all numbers are little-endian:
    magic[8], format u32, payload bytes u32, crc32 of the payload u32, then u32 fields:
    tokens, slots, pilots, bytes of all tokens, longest token, blocks of classes
    slots[u32]      rank in the low 18 bits, fingerprint above; FREE where empty
    offsets[u32]    tokens + 1: where a token's bytes begin, by rank
    pilots[u8]      what moves the tokens of one bucket to free slots
    index[u8]       block of classes, by code point / 128
    blocks[u8]      128 classes each
    bytes           of all tokens by rank, then PADDING zeros
"""
import base64
import hashlib
import json
import os
import re
import struct
import sys
import zlib

FORMAT = 1
RANK_BITS = 18
FREE = 0xFFFFFFFF
PADDING = 16
TOKENS_A_BUCKET = 3
BLOCK = 128

SOURCES = {
    "o200k_base": ("446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d", b"FCO200K\0"),
    "cl100k_base": ("223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7", b"FCCL100K"),
}
UNICODE_SOURCES = {
    "general_category.rs": "9488e3721f7c2ae20e1b77fcff9a59b4ed8f22954b8645ea6d8592eac1856423",
    "perl_space.rs": "ec9bb22ed7e99feef292249c7e6f4673ee0af9635d4d158f93923494c14cd5ed",
}
UNICODE_VERSION = "16.0.0"

# Classes; a character has exactly one. They are bits so that sets are masks.
UPPER, LOWER, CASELESS, MARK, NUMBER, SPACE, LINE_END, OTHER = (1 << bit for bit in range(8))

MASK_64 = (1 << 64) - 1
# Odd numbers without a pattern: the fractional bits of pi.
LENGTH_FACTOR = 0x243F6A8885A308D3
HIGH_KEY = 0x13198A2E03707344
PILOT_FACTOR = 0xA4093822299F31D1
PLACE_FACTOR = 0x082EFA98EC4E6C89


def die(message):
    sys.exit("generate_tables: " + message)


def read_pinned(path, sha256):
    with open(path, "rb") as file:
        blob = file.read()
    if hashlib.sha256(blob).hexdigest() != sha256:
        die("%s is not the file this generator was written for" % path)
    return blob


# ---------------------------------------------------------------- vocabulary
def load_tokens(blob):
    """Tokens in the order of their ranks."""
    tokens = []
    for line in blob.splitlines():
        token, rank = line.split()
        if int(rank) != len(tokens):
            die("rank %s where %d was expected" % (rank.decode(), len(tokens)))
        tokens.append(base64.b64decode(token))
    if len(set(tokens)) != len(tokens) or len(tokens) >= (1 << RANK_BITS) - 1:
        die("tokens are not distinct or too many")
    if {bytes([byte]) for byte in range(256)} - set(tokens):
        die("a byte without a token")
    return tokens


def mixed(left, right):
    product = left * right
    return (product ^ product >> 64) & MASK_64


def hash_of(token):
    """The hash of src/tokens/bpe/table.rs."""
    state = len(token) * LENGTH_FACTOR & MASK_64
    for at in range(0, len(token), 16):
        low, high = struct.unpack("<QQ", token[at:at + 16].ljust(16, b"\0"))
        state = mixed(low ^ state, high ^ HIGH_KEY)
    return state


def place_of(value, pilot, slots):
    moved = (value ^ pilot * PILOT_FACTOR) * PLACE_FACTOR & MASK_64
    return (moved >> 32) * slots >> 32


def build_slots(tokens):
    """Slots and pilots: every token finds its slot at once, the bucket's pilot says where."""
    hashes = [hash_of(token) for token in tokens]
    slot_count, bucket_count = len(tokens) * 6 // 5, len(tokens) // TOKENS_A_BUCKET
    buckets = [[] for _ in range(bucket_count)]
    for rank, value in enumerate(hashes):
        buckets[(value >> 32) * bucket_count >> 32].append(rank)
    slots, pilots = [FREE] * slot_count, bytearray(bucket_count)
    # The fullest first, while there is most room.
    for number in sorted(range(bucket_count), key=lambda number: (-len(buckets[number]), number)):
        ranks = buckets[number]
        for pilot in range(256):
            places = [place_of(hashes[rank], pilot, slot_count) for rank in ranks]
            if len(set(places)) == len(places) and all(slots[place] == FREE for place in places):
                break
        else:
            die("no pilot for a bucket of %d tokens" % len(ranks))
        pilots[number] = pilot
        for rank, place in zip(ranks, places):
            fingerprint = hashes[rank] & (1 << 32 - RANK_BITS) - 1
            slots[place] = fingerprint << RANK_BITS | rank
    return slots, pilots


# ---------------------------------------------------------------- classes of characters
def ranges_of(source, name):
    """Ranges of code points of one constant of a Rust table."""
    found = re.search(r"pub const %s: [^=]*=\s*&\[(.*?)\n?\s*\];\n" % name, source, re.S)
    if not found:
        die("no table %s" % name)
    char = r"'(\\u\{[0-9a-f]+\}|\\.|[^\\])'"
    pairs = re.findall(r"\(%s, %s\)" % (char, char), found.group(1))
    if len(pairs) != found.group(1).count("("):
        # A parenthesis may itself be a member.
        if len(pairs) + found.group(1).count("'('") != found.group(1).count("("):
            die("table %s does not read" % name)
    escapes = {"\\t": 9, "\\n": 10, "\\r": 13, "\\'": 39, "\\\\": 92}

    def code(text):
        if text.startswith("\\u"):
            return int(text[3:-1], 16)
        return escapes[text] if text.startswith("\\") else ord(text)

    return [(code(first), code(last)) for first, last in pairs]


def build_classes(folder):
    """The class of every code point, as an index of blocks and the blocks."""
    texts = {}
    for name, sha256 in UNICODE_SOURCES.items():
        texts[name] = read_pinned(os.path.join(folder, name), sha256).decode()
        if "Unicode version: %s." % UNICODE_VERSION not in texts[name]:
            die("%s is not of Unicode %s" % (name, UNICODE_VERSION))
    classes = bytearray([OTHER]) * 0x110000
    for name, value in [
        ("UPPERCASE_LETTER", UPPER), ("TITLECASE_LETTER", UPPER), ("LOWERCASE_LETTER", LOWER),
        ("MODIFIER_LETTER", CASELESS), ("OTHER_LETTER", CASELESS), ("MARK", MARK),
        ("NUMBER", NUMBER), ("WHITE_SPACE", SPACE),
    ]:
        source = texts["perl_space.rs" if name == "WHITE_SPACE" else "general_category.rs"]
        for first, last in ranges_of(source, name):
            for point in range(first, last + 1):
                if classes[point] != OTHER:
                    die("U+%04X has two classes" % point)
                classes[point] = value
    classes[0x0A] = classes[0x0D] = LINE_END
    blocks, index = {}, bytearray()
    for start in range(0, len(classes), BLOCK):
        block = bytes(classes[start:start + BLOCK])
        index.append(blocks.setdefault(block, len(blocks)))
    return bytes(index), list(blocks)


# ---------------------------------------------------------------- files
def container(magic, fields, payload):
    head = magic + struct.pack("<III", FORMAT, len(payload), zlib.crc32(payload))
    return (head + struct.pack("<%dI" % len(fields), *fields)).ljust(64, b"\0") + payload


def table(magic, tokens, index, blocks):
    slots, pilots = build_slots(tokens)
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    fields = [len(tokens), len(slots), len(pilots), offsets[-1], max(map(len, tokens)), len(blocks)]
    payload = struct.pack("<%dI" % len(slots), *slots)
    payload += struct.pack("<%dI" % len(offsets), *offsets)
    payload += bytes(pilots) + index + b"".join(blocks) + b"".join(tokens) + bytes(PADDING)
    return container(magic, fields, payload), dict(
        tokens=fields[0], slots=fields[1], longest_token_bytes=fields[4], class_blocks=fields[5])


def main():
    if len(sys.argv) != 4:
        die("usage: generate_tables.py TIKTOKEN_ASSETS UNICODE_TABLES OUT")
    assets, unicode_tables, out = sys.argv[1:]
    index, blocks = build_classes(unicode_tables)
    manifest = {
        "format": FORMAT,
        "unicode": {"version": UNICODE_VERSION, "crate": "regex-syntax 0.8.12",
                    "source_sha256": UNICODE_SOURCES},
        "vocabularies": {"crate": "tiktoken-rs 0.12.1", "licence": "MIT"},
        "files": {},
    }
    for name, (sha256, magic) in SOURCES.items():
        tokens = load_tokens(read_pinned(os.path.join(assets, name + ".tiktoken"), sha256))
        blob, counts = table(magic, tokens, index, blocks)
        with open(os.path.join(out, name + ".bin"), "wb") as file:
            file.write(blob)
        manifest["files"][name + ".bin"] = dict(
            counts, bytes=len(blob), sha256=hashlib.sha256(blob).hexdigest(), source_sha256=sha256)
    with open(os.path.join(out, "manifest.json"), "w") as file:
        json.dump(manifest, file, indent=1, sort_keys=True)
        file.write("\n")


main()
