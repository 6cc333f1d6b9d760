/** What this page says to its own server, and hears of it. No key in the clear and no text of a note goes this way. */

export async function readSession() {
  return (await ask('/session')).json()
}

/** `grant` is what `signIn` gave: by it the server finds out who it is, and knows this browser from then on. */
export async function beginSession(grant) {
  return (await ask('/session', { method: 'POST', body: JSON.stringify(grant) })).json()
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
  await ask('/session', { method: 'DELETE' })
}

async function ask(path, request) {
  const response = await fetch(path, request)
  if (!response.ok) throw new Error(await response.text())
  return response
}
