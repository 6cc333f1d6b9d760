/** What this page says to its own server, and hears of it. No key and no text of a note goes this way. */

export async function readSession() {
  return (await ask('/session')).json()
}

export async function listNotes() {
  return (await ask('/notes')).json()
}

export async function saveNote({ id, ...sealed }) {
  await ask(`/notes/${id}`, { method: 'PUT', body: JSON.stringify(sealed) })
}

export async function deleteNote({ id }) {
  await ask(`/notes/${id}`, { method: 'DELETE' })
}

export async function endSession() {
  await ask('/sign-out', { method: 'POST' })
}

async function ask(path, request) {
  const response = await fetch(path, request)
  if (!response.ok) throw new Error(await response.text())
  return response
}
