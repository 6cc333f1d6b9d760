type Service = { issuer: string; clientId: string; site: { baseUrl: string } }

/** What an app runs for each step, as its developer would write it on their server. */
export const signInCode = ({ issuer, clientId }: Service) => `import * as client from 'openid-client'

const issuer = new URL('${issuer}')
${discovery(issuer, clientId)}
const location = client.buildAuthorizationUrl(config, {
  redirect_uri: \`\${APP_URL}/callback\`,
  scope: 'openid profile email',
  code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: 'S256',
  state: expectedState,
  nonce: expectedNonce,
})

// At the callback. This checks everything that the page shows below.
const tokens = await client.authorizationCodeGrant(config, url, {
  pkceCodeVerifier, expectedState, expectedNonce,
})
const { sub, name } = tokens.claims()`

export const identityCode = `// Show the choice of identities again, even if the user has used this app before.
client.buildAuthorizationUrl(config, { ...request, prompt: 'select_account' })

// Store data by \`sub\`. Each identity of a user has another one, and nothing links them.
const customer = await customers.findOrCreate(tokens.claims().sub)`

/** The service of the quick start has no TLS. */
function discovery(issuer: string, clientId: string): string {
  if (!issuer.startsWith('http:')) return `const config = await client.discovery(issuer, '${clientId}', CLIENT_SECRET)`
  return `const options = { execute: [client.allowInsecureRequests] } // Only for a service on this computer.
const config = await client.discovery(issuer, '${clientId}', CLIENT_SECRET, undefined, options)`
}

const sdkCode = ({ issuer, clientId, site }: Service) => `import { createCountersign } from '@countersign/sdk/server'

const countersign = createCountersign({
  baseUrl: '${site.baseUrl}',
  authUrl: '${issuer}',
  clientId: '${clientId}',
  clientSecret: CLIENT_SECRET,
})`

export const signatureCode = (service: Service, payload: string) => `${sdkCode(service)}

const request = await countersign.createSigningRequest({
  identityId: sub,
  payload: ${JSON.stringify(payload)},
})
response.redirect(request.signingUrl)

// Verifies the signature, the text and the key. Throws if anything differs.
const outcome = await countersign.waitForSignature(request)
if (outcome.status === 'signed') await pay(outcome)`

type Requested = { resource: string; scope: string }

export const delegationCode = (service: Service, { resource, scope }: Requested) => `${sdkCode(service)}

// Ask the user once.
response.redirect(countersign.connectUrl({
  resource: '${resource}',
  scope: '${scope}',
  redirectUri: \`\${APP_URL}/callback\`,
  state, identityId: sub,
}))

// Whenever the app acts: a token for ten minutes, for that API only (RFC 8693).
const { accessToken } = await countersign.exchangeForResource({
  subjectToken: tokens.access_token_jwt,
  resource: '${resource}',
})
await fetch(calendarUrl, { headers: { authorization: \`Bearer \${accessToken}\` } })`

export const noteCode = `import { decryptText, encrypt, newEphemeralKey, readAppKey } from '@countersign/sdk/encryption'

// Before the sign-in. The app key is then encrypted to this page, so the address reveals nothing.
location.assign(\`/sign-in?app_key_jwk=\${await newEphemeralKey()}\`)

// After it. The key is in the fragment (#) of the address, which browsers send to no server.
const { key } = await readAppKey({ sealed: true })

// The server stores the ciphertext. It can be decrypted only with the same key and context.
const context = 'note:1'
await fetch('/notes/1', { method: 'PUT', body: await encrypt(key, text, { context }) })

// At the next visit, in any browser: the same identity has the same key.
const ciphertext = await fetch('/notes/1').then((answer) => answer.text())
const note = await decryptText(key, ciphertext, { context })`
