import { drawNote } from './note-item.js'
import { fingerprintOf, knownKeyOf, openNote, publicKeyOf, sealNote, shareNote } from './note.js'
import { askAboutKey, attempt, find, say } from './screen.js'
import { deleteNote, listNotes, saveNote } from './server.js'

/** Shows the notes of a person, and lets them write, share and delete. */
export async function openNotebook({ person, privateKey, directory }) {
  let notes = []
  const isMine = ({ owner }) => owner.identityId === person.identityId
  find('#person').textContent = `${person.name} (${person.handle})`
  find('#fingerprint').textContent = await fingerprintOf(person.publicKey)
  find('#write').addEventListener('submit', (event) => void attempt(event, write))
  await draw()
  for (const part of ['#notebook', '#kept']) find(part).hidden = false

  async function draw() {
    notes = await Promise.all((await listNotes()).map(open))
    find('#kept ul').replaceChildren(...notes.map((note) => drawNote(note, { isMine: isMine(note), share, remove })))
  }

  /** What one person has put into a note must not keep another from the rest: whatever does not open is shown shut. */
  async function open(sealed) {
    return openNote(sealed, privateKey).catch(() => ({ ...sealed, readers: [] }))
  }

  async function write() {
    const field = find('#text')
    await saveNote(await sealNote({ text: field.value }, person))
    field.value = ''
    await draw()
    say('Saved.')
    field.focus()
  }

  async function share(note, handle) {
    const shared = await shareWithCare(note, handle)
    if (!shared) return say('Not shared.')
    await saveNote(shared)
    await draw()
    say(`Shared with ${handle}.`)
    find(`[data-note="${note.id}"] input`).focus()
  }

  /** Where somebody's key has become another one, the person decides, and about the very key that they have seen. */
  async function shareWithCare(note, handle) {
    try {
      return await shareNote(note, handle, { publicKey: knownKeyOf(handle, notes.filter(isMine)), directory })
    } catch (error) {
      if (error.code !== 'public_key_changed') throw error
      const publicKey = await publicKeyOf(handle, directory)
      return (await askAboutKey(handle, publicKey)) && shareNote(note, handle, { publicKey, directory })
    }
  }

  async function remove(note) {
    if (!confirm('Delete this note, for everybody who reads it?')) return
    await deleteNote(note)
    await draw()
    say('Deleted.')
    find('#text').focus()
  }
}
