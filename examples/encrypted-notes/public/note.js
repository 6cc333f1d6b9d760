import { decryptText, encrypt, decryptWithPrivateKey, encryptToUser, encryptToPublicKey } from './countersign.js'

/**
 * Each note has its own key, which is wrapped to every user who may read the note. The encrypted content includes the
 * recipients and their public keys, so that the server cannot change them.
 *
 * Anyone can wrap a key to a user, also the server, and so invent a note. A new text therefore always gets a new key.
 */
export async function sealNote({ text }, owner) {
  const id = crypto.randomUUID()
  const contentKey = crypto.getRandomValues(new Uint8Array(32))
  const key = await encryptToPublicKey(owner.publicKey, contentKey, { context: contextOfKey(id) })
  const content = await encryptContent({ id, contentKey, text, readers: [] })
  return { id, version: 0, content, keys: { [owner.identityId]: key } }
}

/** Throws `decryption_failed` where this note is for another key, or not what its place says. */
export async function openNote({ id, version, owner, content, key }, privateKey) {
  const contentKey = await decryptWithPrivateKey(privateKey, key, { context: contextOfKey(id) })
  const opened = await decryptText(await importKey(contentKey), content, { context: contextOf(id) })
  const { text, readers } = JSON.parse(opened)
  return { id, version, owner, contentKey, text, readers }
}

/**
 * The note, opened for one more. With `publicKey`, the key that they had the last time: throws `public_key_changed` where
 * they have another one now.
 */
export async function shareNote(note, handle, { publicKey, directory }) {
  const { id, version, contentKey, text } = note
  const { ciphertext, recipient } = await encryptToUser(directory, handle, contentKey, {
    context: contextOfKey(id),
    publicKey,
  })
  if (recipient.identityId === note.owner.identityId) throw new Error('This is your own note.')
  const others = note.readers.filter(({ identityId }) => identityId !== recipient.identityId)
  const readers = [...others, { ...recipient, sharedAt: Date.now() }]
  const content = await encryptContent({ id, contentKey, text, readers })
  return { id, version, content, keys: { [recipient.identityId]: ciphertext } }
}

/** The public key by which a person was last shared with, if they were. */
export function knownKeyOf(handle, notes) {
  const isTheirs = (reader) => reader.handle.toLowerCase() === handle.toLowerCase()
  const known = notes.flatMap(({ readers }) => readers).filter(isTheirs)
  return known.toSorted((one, other) => other.sharedAt - one.sharedAt)[0]?.publicKey
}

/** The public key that Countersign says is theirs. It comes with whatever is wrapped to it, here with nothing. */
export async function publicKeyOf(handle, directory) {
  const { recipient } = await encryptToUser(directory, handle, '', { context: 'look-up' })
  return recipient.publicKey
}

/** What two people compare of a public key: the first half of its SHA-256. */
export async function fingerprintOf(publicKey) {
  const bytes = Uint8Array.from(atob(publicKey), (character) => character.charCodeAt(0))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).subarray(0, 16)
  const digits = [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.match(/.{4}/g).join(' ')
}

async function encryptContent({ id, contentKey, text, readers }) {
  return encrypt(await importKey(contentKey), JSON.stringify({ text, readers }), { context: contextOf(id) })
}

async function importKey(bytes) {
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

/** Each ciphertext opens in its own place alone: the server can't show one note for another. */
function contextOf(id) {
  return `note:${id}`
}

function contextOfKey(id) {
  return `note-key:${id}`
}
