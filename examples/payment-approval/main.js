import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createCountersign, createFileTrustStore } from '@countersign/sdk/server'
import { beginApproval } from './approval.js'
import { drawPage } from './page.js'
import { createPayments } from './payments.js'
import { createSignIn } from './sign-in.js'

const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, PORT = '3000' } = process.env
const { APP_URL: appUrl = 'http://localhost:3000' } = process.env
const { BASE_URL: baseUrl = 'http://localhost:4400', ISSUER: issuer = 'http://localhost:4401' } = process.env

// `countersign trust init` writes the file. Without it, this app would believe whatever key the service names.
const log = JSON.parse(await readFile(process.env.TRUST_FILE ?? 'trust.json', 'utf8'))
const trust = { log, store: createFileTrustStore(process.env.TRUST_STATE ?? 'trust-state') }

const countersign = createCountersign({ baseUrl, authUrl: issuer, clientId, clientSecret, trust })
const signIn = createSignIn({ countersign, appUrl })
const app = { baseUrl, authUrl: issuer, clientId }
const wallets = new Map() // an identity → its payments

const files = {
  '/page.css': ['text/css', new URL('public/page.css', import.meta.url)],
  '/approve.js': ['text/javascript', new URL('public/approve.js', import.meta.url)],
  '/sign-in.js': ['text/javascript', new URL('public/sign-in.js', import.meta.url)],
  '/countersign.js': ['text/javascript', new URL(import.meta.resolve('@countersign/sdk/browser'))],
  '/countersign-button.js': ['text/javascript', new URL(import.meta.resolve('@countersign/sdk/button'))],
}

async function answer(request, response) {
  const { pathname } = new URL(request.url, appUrl)
  if (pathname in files) return sendFile(response, files[pathname])
  // Another site may send a form here, with the cookie of this one; it can't say that it came from here.
  if (request.method === 'POST' && request.headers.origin !== appUrl) return send(response, 403, 'Press the button.')
  if (request.method === 'POST' && pathname === '/session') return beginSession(request, response)

  const person = signIn.personAt(request)
  const payments = person && paymentsOf(person)
  // A redirect comes back to the page with the button, which finishes it.
  if (pathname === '/' || pathname === '/callback')
    return send(response, 200, drawPage({ app, person, payments: payments?.list() }), 'text/html')

  const [, number, settled] = /^\/payments\/([\w-]+)(\/settled)?$/.exec(pathname) ?? []
  const payment = payments?.find(number)
  if (!payment) return send(response, 404, 'There is no such payment of yours.')
  if (settled) return sendSettled(response, payment)
  if (request.method !== 'POST') return send(response, 403, 'Press the button.')
  send(response, 200, await beginApproval(countersign, payments, payment, person.identityId))
}

async function beginSession(request, response) {
  await signIn.finish(await json(request), response)
  send(response, 200, '')
}

function paymentsOf({ identityId }) {
  const payments = wallets.get(identityId) ?? createPayments()
  wallets.set(identityId, payments)
  return payments
}

async function sendSettled(response, payment) {
  await payment.settled
  send(response, 200, payment.state)
}

async function sendFile(response, [type, place]) {
  send(response, 200, await readFile(fileURLToPath(place)), type)
}

function send(response, status, body, type = 'text/plain') {
  // The page talks to this server alone; its browser asks Countersign in its name.
  const policy = `default-src 'self'; connect-src 'self' ${new URL(baseUrl).origin}; frame-ancestors 'none'`
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': policy }).end(body)
}

createServer((request, response) => {
  answer(request, response).catch((error) => send(response, 502, `It did not work: ${error.message}`))
}).listen(PORT, () => console.log(`Open ${appUrl}`))
