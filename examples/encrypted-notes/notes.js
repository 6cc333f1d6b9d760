import { readFileSync, renameSync, writeFileSync } from 'node:fs'

const jwe = /^[\w-]+\.[\w-]*\.[\w-]+\.[\w-]*\.[\w-]+$/
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Notes as browsers have encrypted them, in a file. Of a note this server knows who wrote it and who may read it:
 * `content` opens with a key of its own, and that key is there once for each reader, encrypted to them.
 */
export function openNotes(path) {
  const notes = new Map(readNotes(path).map((note) => [note.id, note]))

  function keep() {
    // The file is replaced in one step: if this process stops half-way, the former file stays.
    writeFileSync(`${path}.new`, JSON.stringify([...notes.values()], undefined, 2), { mode: 0o600 })
    renameSync(`${path}.new`, path)
  }

  return {
    /** The newest first; of the keys each reader gets their own. */
    listFor({ identityId }) {
      const theirs = [...notes.values()].filter(({ keys }) => Object.hasOwn(keys, identityId)).toReversed()
      return theirs.map(({ keys, ...note }) => ({ ...note, key: keys[identityId] }))
    },

    /** Returns false if the note belongs to another user, or has changed since this browser read it. */
    save({ identityId, name, handle }, id, { version, content, keys }) {
      const known = notes.get(id)
      if (known && known.owner.identityId !== identityId) return false
      if (version !== (known?.version ?? 0)) return false
      const owner = { identityId, name, handle }
      notes.set(id, { id, version: version + 1, owner, content, keys: { ...known?.keys, ...keys } })
      keep()
      return true
    },

    remove({ identityId }, id) {
      if (notes.get(id)?.owner.identityId !== identityId) return false
      notes.delete(id)
      keep()
      return true
    },
  }
}

/** What a page sends to be kept; undefined for whatever is not encrypted. */
export function readDraft(text) {
  const { version, content, keys } = readJson(text) ?? {}
  const isSound = Number.isSafeInteger(version) && isJwe(content) && isKeys(keys)
  return isSound ? { version, content, keys } : undefined
}

function isKeys(keys) {
  return (
    typeof keys === 'object' && keys !== null && Object.entries(keys).every(([id, key]) => uuid.test(id) && isJwe(key))
  )
}

function isJwe(value) {
  return typeof value === 'string' && jwe.test(value)
}

function readJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readNotes(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return []
  }
}
