import { createServer } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { createCaller, NotAllowed } from './caller.js'
import { openVault } from './vault.js'

const { ORGANIZATION_ID: organizationId, PORT = '3003', ISSUER: issuer = 'http://localhost:4401' } = process.env
const { KMS_URL: url = `http://localhost:${PORT}`, KEY_FILE: keyFile = 'kms.key' } = process.env
if (!organizationId) throw new Error('ORGANIZATION_ID says whose keys these are')

const bodyBytesMax = 16_384
const caller = createCaller({ issuer, url, organizationId })
const vault = openVault(keyFile)

const operations = {
  wrap: ({ plaintext, context }) => ({ ciphertext: vault.wrap(Buffer.from(plaintext, 'base64'), context) }),
  unwrap: ({ ciphertext, context }) => ({ plaintext: vault.unwrap(ciphertext, context).toString('base64') }),
}

/** This log is the organization's own: whatever is opened stands in it. */
function log(entry) {
  console.log(JSON.stringify({ at: new Date().toISOString(), ...entry }))
}

async function answerTo(request) {
  const operation = new URL(request.url, url).pathname.split('/').at(-1)
  const length = Number(request.headers['content-length'])
  if (request.method !== 'POST' || !Object.hasOwn(operations, operation) || !(length <= bodyBytesMax))
    return { status: 404, body: { error: 'not_found' } }
  try {
    const text = await readText(request)
    await caller.require(request.headers.authorization, { operation, text })
    const asked = JSON.parse(text)
    if (asked.context.organizationId !== organizationId) throw new NotAllowed('another organization')
    const body = operations[operation](asked)
    log({ operation, keyId: asked.context.keyId })
    return { status: 200, body }
  } catch (error) {
    log({ operation, refused: error.message })
    return error instanceof NotAllowed
      ? { status: 401, body: { error: 'not_allowed' } }
      : { status: 400, body: { error: 'invalid_request' } }
  }
}

const server = createServer((request, response) => {
  void answerTo(request)
    .catch(() => ({ status: 400, body: { error: 'invalid_request' } }))
    .then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    )
})
server.listen(Number(PORT), () => console.log(`The KMS of ${organizationId} is at ${url}`))
