import { newEphemeralKey, readAppKey } from './countersign.js'
import { forgetKeys, keepKey, readKey } from './key-store.js'
import { publicKeyOf } from './note.js'
import { openNotebook } from './notebook.js'
import { attempt, explain, find, say } from './screen.js'
import { endSession, readSession } from './server.js'

const [welcome, signOut] = [find('#welcome'), find('#sign-out')]

find('#sign-in').addEventListener('click', (event) => void attempt(event, leave))
signOut.addEventListener('click', (event) => void attempt(event, forget))
try {
  await begin()
} catch (error) {
  welcome.hidden = false
  say(explain(error))
}
find('main').removeAttribute('aria-busy')

async function leave() {
  location.assign(`/sign-in?app_key_jwk=${await newEphemeralKey()}`)
}

async function forget() {
  await forgetKeys()
  await endSession()
  location.reload()
}

async function begin() {
  // Before anything else: this takes the key out of the address.
  const brought = await readAppKey({ sealed: true })
  const { person, directory } = await readSession()
  welcome.hidden = person !== undefined
  signOut.hidden = person === undefined
  if (!person) return
  if (brought) await keepOwnKey(brought, person, directory)
  const appKey = await readKey(person.identityId)
  welcome.hidden = appKey !== undefined
  if (!appKey) return say('Your key is not in this browser. Sign in to bring it here.')
  await openNotebook({ person: { ...person, publicKey: appKey.publicKey }, privateKey: appKey.privateKey, directory })
}

/** Two tabs may have signed in as two people, and this page has the key of the one and the session of the other. */
async function keepOwnKey(appKey, person, directory) {
  const publicKey = await publicKeyOf(person.handle, directory)
  if (publicKey !== appKey.publicKey) throw new Error('The key that came is not yours. Sign in again.')
  await keepKey(person.identityId, appKey)
}
