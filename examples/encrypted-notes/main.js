import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createCountersign } from '@countersign/sdk/server'
import { openNotes, readDraft } from './notes.js'
import { createSignIn } from './sign-in.js'

const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, PORT = '3000', NOTES_FILE = 'notes.json' } = process.env
const { APP_URL: appUrl = 'http://localhost:3000' } = process.env
const { BASE_URL: baseUrl = 'http://localhost:4400', ISSUER: issuer = 'http://localhost:4401' } = process.env

const countersign = createCountersign({ baseUrl, authUrl: issuer, clientId, clientSecret })
const signIn = createSignIn({ countersign, appUrl })
const notes = openNotes(NOTES_FILE)

const app = { baseUrl, authUrl: issuer, clientId }
const draftCharactersMax = 200_000
const scripts = ['page', 'notebook', 'note-item', 'note', 'screen', 'key-store', 'server'].map((name) => `/${name}.js`)
const files = {
  ...Object.fromEntries(scripts.map((path) => [path, ['text/javascript', new URL(`public${path}`, import.meta.url)]])),
  '/': ['text/html', new URL('public/page.html', import.meta.url)],
  // A redirect comes back to the page, which finishes it.
  '/callback': ['text/html', new URL('public/page.html', import.meta.url)],
  '/page.css': ['text/css', new URL('public/page.css', import.meta.url)],
  '/countersign.js': ['text/javascript', new URL(import.meta.resolve('@countersign/sdk/encryption'))],
  '/countersign-sign-in.js': ['text/javascript', new URL(import.meta.resolve('@countersign/sdk/sign-in'))],
}

/**
 * Whatever runs in the page can use the key, so nothing runs there but these files; and a page that could be made to
 * talk to others could send away what it has opened, so it talks to this server, and to Countersign to look people up.
 */
const headers = {
  'content-security-policy': [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:",
    `connect-src 'self' ${new URL(baseUrl).origin}`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

async function answer(request, response) {
  const { pathname } = new URL(request.url, appUrl)
  if (pathname in files) return sendFile(response, files[pathname])

  // Another site may have a browser ask with the cookie of this one; it can't say that it is this one.
  if (request.method !== 'GET' && request.headers.origin !== appUrl)
    return send(response, 403, 'For our own page alone.')
  if (request.method === 'POST' && pathname === '/session') return beginSession(request, response)
  if (request.method === 'DELETE' && pathname === '/session') return endSession(request, response)

  const person = signIn.personAt(request)
  if (pathname === '/session') return sendJson(response, { person, app })
  if (!person) return send(response, 401, 'Sign in first.')
  if (pathname === '/notes') return sendJson(response, notes.listFor(person))

  const [, id] = /^\/notes\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(pathname) ?? []
  if (id && request.method === 'PUT') return save(request, response, person, id)
  if (id && request.method === 'DELETE' && notes.remove(person, id)) return send(response, 200, '')
  send(response, 404, 'There is no such note of yours.')
}

async function beginSession(request, response) {
  const person = await signIn.finish(JSON.parse(await readText(request)), response)
  sendJson(response, { person, app })
}

function endSession(request, response) {
  signIn.end(request)
  send(response, 200, '')
}

async function save(request, response, person, id) {
  const draft = readDraft(await readText(request))
  if (!draft) return send(response, 400, 'This is no note that was encrypted.')
  const isSaved = notes.save(person, id, draft)
  if (!isSaved) return send(response, 409, 'This note has changed elsewhere. Reload the page.')
  send(response, 200, '')
}

/** What was sent, or nothing where it is more than a note may be. */
async function readText(request) {
  let text = ''
  for await (const part of request.setEncoding('utf8')) if (text.length <= draftCharactersMax) text += part
  return text.length > draftCharactersMax ? '' : text
}

async function sendFile(response, [type, place]) {
  send(response, 200, await readFile(fileURLToPath(place)), type)
}

function sendJson(response, value) {
  send(response, 200, JSON.stringify(value), 'application/json')
}

function send(response, status, body, type = 'text/plain') {
  response.writeHead(status, { ...headers, 'content-type': `${type}; charset=utf-8` }).end(body)
}

createServer((request, response) => {
  answer(request, response).catch((error) => send(response, 502, `It did not work: ${error.message}`))
}).listen(PORT, () => console.log(`Open ${appUrl}`))
