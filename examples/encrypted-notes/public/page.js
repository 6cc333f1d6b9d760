import { decryptAppKey } from './countersign.js'
import { handleRedirectCallback, signIn } from './countersign-sign-in.js'
import { forgetKeys, keepKey, readKey } from './key-store.js'
import { publicKeyOf } from './note.js'
import { openNotebook } from './notebook.js'
import { attempt, explain, find, say } from './screen.js'
import { beginSession, endSession, readSession } from './server.js'

let settings
let isSignedIn = false
const welcome = find('#welcome')

find('#sign-in').addEventListener('click', (event) => void attempt(event, async () => enter(await signIn(settings))))
find('#sign-out').addEventListener('click', (event) => void attempt(event, forget))
try {
  await begin()
} catch (error) {
  welcome.hidden = false
  say(explain(error))
}
// Not before: what is pressed while the page begins goes unheard.
find('#sign-out').hidden = !isSignedIn
find('main').removeAttribute('aria-busy')

async function forget() {
  await forgetKeys()
  await endSession()
  location.reload()
}

async function begin() {
  const { person, app } = await readSession()
  settings = settingsOf(app)
  isSignedIn = person !== undefined
  const returned = await handleRedirectCallback(settings)
  if (returned?.type === 'signed-in') return enter(returned)
  const appKey = person && (await readKey(person.identityId))
  welcome.hidden = appKey !== undefined
  if (!person) return
  if (!appKey) return say('Your key is not in this browser. Sign in to bring it here.')
  await openNotebook({
    person: { ...person, publicKey: appKey.publicKey },
    privateKey: appKey.privateKey,
    directory: app,
  })
}

function settingsOf(app) {
  const redirectUri = new URL('/callback', location.href).href
  return { ...app, redirectUri, scope: 'openid profile e2ee:asymmetric', appKey: true }
}

/** What a sign-in brought, by a dialog of the browser or a redirect: who it is for the server, the key for this page. */
async function enter({ type, grant, sealedAppKey }) {
  if (type !== 'signed-in') return
  const appKey = await decryptAppKey(sealedAppKey)
  const { person, app } = await beginSession(grant)
  await keepOwnKey(appKey, person, app)
  location.replace('/')
}

/** Checks the identity that the server reports: the key must be the one that others look up by its handle. */
async function keepOwnKey(appKey, person, directory) {
  const publicKey = await publicKeyOf(person.handle, directory)
  if (publicKey !== appKey.publicKey) throw new Error('The key that came is not yours. Sign in again.')
  await keepKey(person.identityId, appKey)
}
