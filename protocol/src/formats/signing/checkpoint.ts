/**
 * Signed tree head of a log: its name, size and root (C2SP tlog-checkpoint), as a note with signatures (C2SP
 * signed-note).
 */
import { fromCanonicalBase64, toBase64 } from '../base64.ts'
import { isObject } from '../json.ts'
import { concatBytes } from './bytes.ts'
import { isValidPublicKey, type VerifyEd25519 } from './ed25519.ts'
import { treeSizeMax, type Sha256 } from './merkle-tree.ts'

/** Tree head; `origin` names the log and its key. */
export type Checkpoint = { origin: string; size: number; root: Uint8Array }

/** Key that verifies a note. */
export type NoteKey = { name: string; publicKey: Uint8Array }
export type NoteSuite = {
  sha256: Sha256
  /** Checks an Ed25519 signature (RFC 8032) of a message. */
  verifyEd25519: VerifyEd25519
}

const ed25519 = 1
const keyIdBytes = 4
/** Longer notes are not read, as in Go: a note has three lines and a few signatures. */
const noteCharactersMax = 1_000_000
const utf8 = new TextEncoder()

export function writeCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`
}

/** Parses a checkpoint. Further lines are extensions, which are ignored. */
export function readCheckpoint(text: string): Checkpoint | undefined {
  const [origin = '', size = '', root = ''] = text.split('\n')
  const bytes = fromCanonicalBase64(root)
  if (!text.endsWith('\n') || origin === '' || !/^(0|[1-9]\d{0,9})$/.test(size) || bytes?.length !== 32)
    return undefined
  return Number(size) > treeSizeMax ? undefined : { origin, size: Number(size), root: bytes }
}

/** Formats a note: a text that ends with a line break, and its Ed25519 signature. */
export function writeNote(sha256: Sha256, text: string, key: NoteKey, signature: Uint8Array): string {
  return `${text}\n— ${key.name} ${toBase64(Uint8Array.of(...keyId(sha256, key), ...signature))}\n`
}

/** Returns the text of a note that this key has signed; ignores signatures of other keys. */
export function verifyNote({ sha256, verifyEd25519 }: NoteSuite, note: string, key: NoteKey): string | undefined {
  if (note.length > noteCharactersMax) return undefined
  const end = note.lastIndexOf('\n\n') + 1
  const [text, lines] = [note.slice(0, end), note.slice(end + 1)]
  if (end === 0 || !lines.endsWith('\n') || hasControls(note)) return undefined
  const signatures = lines.slice(0, -1).split('\n').map(readSignature)
  if (signatures.includes(undefined)) return undefined
  const id = toBase64(keyId(sha256, key))
  // The first alone, as in Go: as many as fit into a note would cost the square of its length.
  const own = signatures.find((signature) => signature?.name === key.name && signature.keyId === id)
  return own && verifyEd25519(key.publicKey, utf8.encode(text), own.bytes) ? text : undefined
}

/** Formats a key in one line, as tools for such logs read it: `name+id+type and key`. */
export function writeVerifierKey(sha256: Sha256, key: NoteKey): string {
  const id = [...keyId(sha256, key)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${key.name}+${id}+${toBase64(Uint8Array.of(ed25519, ...key.publicKey))}`
}

/** Parses a key in one line; returns undefined for any other text, and for another id than that of name and key. */
export function parseVerifierKey(sha256: Sha256, text: string): NoteKey | undefined {
  const [name = '', _id, ...rest] = text.split('+')
  const bytes = fromCanonicalBase64(rest.join('+'))
  if (!isName(name) || hasControls(text) || bytes?.[0] !== ed25519 || !isValidPublicKey(bytes.subarray(1)))
    return undefined
  const key = { name, publicKey: bytes.subarray(1) }
  return writeVerifierKey(sha256, key) === text ? key : undefined
}

/**
 * File with the key of a log that an app trusts: `countersign trust init` writes it, the SDK reads it. It contains
 * nothing secret, but a person who changes it decides which log the app trusts.
 */
export type TrustedLog = {
  version: 1
  /** Name of the log. */
  origin: string
  /** Key of the log in the format of C2SP log tools: `name+id+type and key`. */
  verifierKey: string
}

export function toTrustedLog(sha256: Sha256, key: NoteKey): TrustedLog {
  return { version: 1, origin: key.name, verifierKey: writeVerifierKey(sha256, key) }
}

/** Returns the key of a log as the file names it; undefined for any other value. */
export function parseTrustedLog(sha256: Sha256, value: unknown): NoteKey | undefined {
  if (!isObject(value) || value['version'] !== 1 || typeof value['verifierKey'] !== 'string') return undefined
  const key = parseVerifierKey(sha256, value['verifierKey'])
  return key?.name === value['origin'] ? key : undefined
}

function readSignature(line: string) {
  // Not one expression for the whole line, because megabytes of base64 would exhaust its stack.
  const [dash, name = '', base64 = '', more] = line.split(' ', 4)
  const bytes = fromCanonicalBase64(base64)
  if (dash !== '—' || more !== undefined || !isName(name) || !bytes || bytes.length <= keyIdBytes) return undefined
  return { name, keyId: toBase64(bytes.subarray(0, keyIdBytes)), bytes: bytes.subarray(keyIdBytes) }
}

function keyId(sha256: Sha256, { name, publicKey }: NoteKey): Uint8Array {
  const type = Uint8Array.of(ed25519)
  return sha256(concatBytes(utf8.encode(`${name}\n`), type, publicKey)).subarray(0, keyIdBytes)
}

/** Names of keys contain no space and no plus sign (C2SP signed-note). */
function isName(text: string): boolean {
  return text !== '' && !/[\s+]/u.test(text)
}

function hasControls(note: string): boolean {
  return /[^\P{Cc}\n]/u.test(note)
}
