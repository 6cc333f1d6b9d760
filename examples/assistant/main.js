import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createCountersign } from '@countersign/sdk/server'
import { createDiary } from './diary.js'
import { drawPage } from './page.js'
import { createSignIn } from './sign-in.js'

const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, PORT = '3000' } = process.env
const { APP_URL: appUrl = 'http://localhost:3000', CALENDAR_URL: calendarUrl = 'http://localhost:3001' } = process.env
const { BASE_URL: baseUrl = 'http://localhost:4400', ISSUER: issuer = 'http://localhost:4401' } = process.env

const countersign = createCountersign({ baseUrl, authUrl: issuer, clientId, clientSecret })
const signIn = await createSignIn({ countersign, issuer, appUrl, clientId, clientSecret })
const diary = createDiary(countersign, calendarUrl)
const style = await readFile(new URL('public/page.css', import.meta.url))

const acts = {
  '/round': async (_, response) => {
    // A clock would do this every morning. The user does not have to be signed in, here or at Countersign.
    const { prepared, refused } = await diary.prepareAll()
    redirect(response, `/?prepared=${prepared}&refused=${refused}`)
  },
  '/sign-out': (request, response) => signIn.end(request, response),
}

async function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, appUrl)
  if (pathname === '/page.css') return send(response, 200, style, 'text/css')
  if (pathname === '/sign-in') return signIn.begin(response)
  if (pathname === '/sign-in-again') return signIn.begin(response, 'login')
  if (pathname === '/connect') return signIn.connect(request, response, searchParams.get('mode'))
  if (pathname === '/callback') return signIn.finish(request, response)
  if (pathname === '/') return showPage(request, response, searchParams)

  const act = acts[pathname]
  if (!act) return send(response, 404, 'There is no such page.')
  // Another site may send a form here, with the cookie of this one; it can't say that it came from here.
  if (request.method !== 'POST' || request.headers.origin !== appUrl) return send(response, 403, 'Press the button.')
  await act(request, response)
}

async function showPage(request, response, round) {
  const person = signIn.personAt(request)
  const today = person && (await diary.readToday(person))
  send(response, 200, drawPage({ person, today, round: Object.fromEntries(round) }), 'text/html')
}

function redirect(response, location) {
  response.writeHead(303, { location }).end()
}

function send(response, status, body, type = 'text/plain') {
  const policy = { 'content-security-policy': "default-src 'self'; frame-ancestors 'none'" }
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, ...policy }).end(body)
}

createServer((request, response) => {
  answer(request, response).catch((error) => send(response, 502, `It did not work: ${error.message}`))
}).listen(PORT, () => console.log(`Open ${appUrl}`))
