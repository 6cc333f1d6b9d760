import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { after, before, test } from 'node:test'
import { challengeNameOf } from '@countersign/protocol/formats/domain'
import { type OrganizationId, asId } from '@countersign/protocol/ids'
import { lookUpTxtRecord } from '#organizations/domains/txt-record.ts'
import { kmsUnwrap, kmsWrap, type KmsCallDeps } from '#organizations/keys/kms-call.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { verifyOidcCallback } from '#sso/providers/oidc.ts'
import { costlyJson, costlyText } from '#testing/costly-text.ts'
import { startDocumentHost } from '#testing/document-host.ts'
import { startNameServer } from '#testing/name-server.ts'
import { between, measureCost, objectionTo, type MeasuredParser, type Shapes } from '#testing/parser-cost.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { loadTokenSigningKeys } from '#tokens/signing-keys/signing-keys.ts'

let world: TestWorld
let calling: KmsCallDeps
let nameServer: Awaited<ReturnType<typeof startNameServer>>
let host: Awaited<ReturnType<typeof startDocumentHost>>
before(async () => {
  nameServer = await startNameServer()
  host = await startDocumentHost()
  world = await createWorld({ environment: { DNS_SERVERS: nameServer.address } })
  calling = { kernel: world.kernel, keys: await loadTokenSigningKeys(world.kernel) }
})
after(async () => {
  await world.close()
  await host.close()
  await nameServer.close()
})

const bytesOf = (...numbers: number[]) => String.fromCharCode(...numbers)
const twoBytes = (number: number) => bytesOf(number >> 8, number & 0xff)

/** Builds a resource record of the queried name (RFC 1035 §3.2.1), as latin1. */
const record = (type: 'TXT' | 'CNAME', data: string, name = '\xc0\x0c') =>
  `${name}\0${bytesOf({ TXT: 16, CNAME: 5 }[type])}\0\x01\0\0\0\0${twoBytes(data.length)}${data}`
/** Builds the part after the question in a DNS answer: the record count and the records. */
const records = (each: string[]) => twoBytes(each.length) + each.join('')
const text = (content: string) => bytesOf(content.length) + content
const recordBytes = record('TXT', '').length
const copies = (size: number, one: string) => Array.from({ length: Math.floor(size / one.length) }, () => one)

const challenge = 'countersign-domain=A'
const domain = 'acme.example'
const challengeName = challengeNameOf(domain)

/** Builds a hundred names, each a letter and the previous one (RFC 1035 §4.1.4), and many records of the last. */
function chained(size: number): string {
  const each: string[] = []
  const questionAt = 12
  const firstAt = questionAt + challengeName.length + 6
  let last = twoBytes(0xc000 | questionAt)
  for (let at = firstAt; at + 16 <= size; at += 16) {
    each.push(record('CNAME', `\x01a${last}`, last))
    if (each.length < 100) last = twoBytes(0xc000 | (at + 12))
  }
  return records(each)
}

const dnsAnswers: Shapes = {
  'one text of many strings': (size) => records([record('TXT', copies(size - 100, text('a')).join(''))]),
  'one text of empty strings': (size) => records([record('TXT', copies(size - 100, text('')).join(''))]),
  'one text of long strings': (size) => records([record('TXT', copies(size - 100, text('a'.repeat(255))).join(''))]),
  'a hundred texts': (size) => {
    const strings = copies(size / 100 - 20, text('a')).join('')
    return records(Array.from({ length: 100 }, () => record('TXT', strings)))
  },
  'more texts than are read': (size) => records(copies(size - 100, record('TXT', text('a')))),
  'texts without a string': (size) => records(copies(size - 100, record('TXT', ''))),
  'many aliases': (size) => records(copies(size - 100, record('CNAME', '\xc0\x0c'))),
  'aliases whose names are chained': chained,
  'a string that is longer than its record': (size) =>
    records([record('TXT', `${copies(size - 100, text('a')).join('')}\xff`)]),
  'fewer records than it says': (size) => `\xff\xff${copies(size - 100, record('TXT', text('a'))).join('')}`,
  'noise behind the records': (size) => records([record('TXT', text('a'))]) + '\xc0'.repeat(size - recordBytes - 100),
}

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const key = JSON.stringify({ ...pair.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' })
const base64Url = (content: string) => Buffer.from(content).toString('base64url')
const [clientId, nonce, state] = ['ours', 'nonce', 'state']

/** Builds an ID token with further claims, as JSON: a malicious provider signs anything. */
function idToken(claims: string, header = ''): string {
  const now = Math.floor(world.now().getTime() / 1000)
  const honest = JSON.stringify({ iss: host.at(''), aud: clientId, sub: 'ann', iat: now, exp: now + 300, nonce })
  const signed = `${base64Url(`{"alg":"ES256"${header}}`)}.${base64Url(`${honest.slice(0, -1)}${claims}}`)}`
  const signature = sign('sha256', Buffer.from(signed), { key: pair.privateKey, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

const tokenAnswer = (jwt: string) => JSON.stringify({ access_token: 'a', token_type: 'Bearer', id_token: jwt })
const keySet = (keys: string) => `{"keys":[${keys}${key}]}`
const userinfo = (claims: string) => `{"sub":"ann"${claims}}`
/** Correct answers of a provider at all other URLs. */
const honest = () => ({ '/token': tokenAnswer(idToken('')), '/jwks': keySet(''), '/userinfo': userinfo('') })

/** Signs in with a provider that gives this answer at one of its URLs. */
function signIn(path: keyof ReturnType<typeof honest>) {
  return async (said: string) => {
    for (const [other, body] of Object.entries({ ...(signedIn ??= honest()), [path]: said }))
      host.answer(other, { body })
    const provider = {
      issuer: host.at(''),
      authorization_endpoint: host.at('/authorize'),
      token_endpoint: host.at('/token'),
      jwks_uri: host.at('/jwks'),
      userinfo_endpoint: host.at('/userinfo'),
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: false,
      takesSecretBy: 'client_secret_basic' as const,
    }
    const connection = {
      issuer: provider.issuer,
      clientId,
      clientSecret: new Secret('secret'),
      callbackUrl: 'https://id.example/callback',
    }
    const memory = { provider, nonce, codeVerifier: 'a'.repeat(43) }
    const answer = new URLSearchParams({ code: 'code', state })
    return verifyOidcCallback(world.kernel.outbound, connection, { memory, state, answer }, world.now())
  }
}
let signedIn: ReturnType<typeof honest> | undefined

const within = (shapes: Shapes, part: number, whole: (content: string) => string): Shapes =>
  Object.fromEntries(
    Object.entries(shapes).map(([what, build]) => [what, (size: number) => whole(build(Math.floor(size * part)))]),
  )
/** Inputs that are hard for patterns or decoders, where no other code reads the text. */
const { letters, blanks, base64, escapes, quotes, emoji } = costlyText
const fewTexts: Shapes = Object.fromEntries(
  Object.entries({ letters, blanks, base64, escapes, quotes, emoji }).flatMap(([what, build]) =>
    build ? [[what, build]] : [],
  ),
)
const asName = (content: string) => `,"name":${JSON.stringify(content)}`
const asAddress = (content: string) => `,"name":"Ann","email_verified":true,"email":${JSON.stringify(content)}`
const suffixed = (shapes: Shapes, suffix: string): Shapes =>
  Object.fromEntries(Object.entries(shapes).map(([what, build]) => [`${what}, ${suffix}`, build]))
const anotherKey = `${key.replace('"one"', '"two"')},`

/** Measured as the service calls it; `honest` is an accepted answer, which shows that the measured one is read. */
type MeasuredAnswer = Omit<MeasuredParser, 'parse'> & {
  parse: (said: string) => Promise<unknown>
  honest: () => string
}

const place = () => ({ url: host.at('/kms'), organizationId: asId<OrganizationId>(randomUUID()), keyId: randomUUID() })

/** Every external answer that the service parses, in addition to metadata: a new one is a row here. */
const answers: Record<string, MeasuredAnswer> = {
  'PRS-18 TXT records of a domain': {
    sizeMax: 65_535 - 100,
    async parse(said) {
      nameServer.setMessage(challengeName, Buffer.from(said, 'latin1'))
      const look = await lookUpTxtRecord(world.kernel.dns, { domain, challenge })
      if (look.finding !== 'proof') throw new Error(look.finding)
    },
    shapes: dnsAnswers,
    honest: () => records([record('TXT', text(challenge))]),
    authenticated: true,
  },
  'PRS-19 the ID token of a provider': {
    sizeMax: 256 * 1024,
    parse: signIn('/token'),
    shapes: {
      ...suffixed(costlyJson, 'as the answer'),
      ...within(costlyJson, 0.7, (content) => tokenAnswer(idToken(`,"a":${content}`))),
      ...suffixed(
        within(costlyText, 0.3, (content) => tokenAnswer(idToken(asName(content)))),
        'as a name',
      ),
      ...suffixed(
        within(costlyText, 0.3, (content) => tokenAnswer(idToken(asAddress(content)))),
        'as an address',
      ),
      'many audiences': (size) => tokenAnswer(idToken(`,"aud":[${'"ours",'.repeat(size / 10)}"ours"]`)),
      'a long header': (size) => tokenAnswer(idToken('', `,"a":"${'a'.repeat(size * 0.7)}"`)),
      'many critical headers': (size) => tokenAnswer(idToken('', `,"crit":[${'"a",'.repeat(size / 6)}"a"]`)),
      'many dots': (size) => tokenAnswer('.'.repeat(size - 100)),
      'a long signature': (size) => tokenAnswer(idToken('') + 'A'.repeat(size - 1000)),
    },
    honest: () => tokenAnswer(idToken('')),
    authenticated: true,
  },
  'PRS-19 the keys of a provider': {
    sizeMax: 256 * 1024,
    parse: signIn('/jwks'),
    shapes: {
      ...costlyJson,
      'many keys of its name': between(keySet, `${key},`),
      'many keys of another name': between(keySet, anotherKey),
      'many empty keys': between(keySet, '{},'),
      'a key with a long coordinate': between((content) => keySet('').replace('"x":"', `"x":"${content}`), 'A'),
      'a key with many uses': between(
        (content) => keySet('').replace('{"kty', `{"key_ops":[${content}""],"kty`),
        '"a",',
      ),
    },
    honest: () => keySet(''),
    authenticated: true,
  },
  'PRS-19 what a provider says of a user': {
    sizeMax: 256 * 1024,
    parse: signIn('/userinfo'),
    shapes: {
      ...costlyJson,
      ...suffixed(
        within(fewTexts, 0.4, (content) => userinfo(asName(content))),
        'as a name',
      ),
      ...suffixed(
        within(fewTexts, 0.4, (content) => userinfo(asAddress(content))),
        'as an address',
      ),
    },
    honest: () => userinfo(''),
    authenticated: true,
  },
  'PRS-20 what a KMS has wrapped': {
    sizeMax: 64 * 1024,
    parse: (said) => askKms(said, () => kmsWrap(calling, place(), Buffer.alloc(32), world.now())),
    shapes: {
      ...costlyJson,
      ...suffixed(
        within(fewTexts, 0.5, (content) => JSON.stringify({ ciphertext: content })),
        'as a ciphertext',
      ),
    },
    honest: () => '{"ciphertext":"a"}',
  },
  'PRS-20 what a KMS has unwrapped': {
    sizeMax: 64 * 1024,
    parse: (said) => askKms(said, () => kmsUnwrap(calling, place(), 'a', world.now())),
    shapes: {
      ...costlyJson,
      ...suffixed(
        within(fewTexts, 0.5, (content) => JSON.stringify({ plaintext: content })),
        'as a key',
      ),
    },
    honest: () => '{"plaintext":"AAAA"}',
  },
}

function askKms<Answer>(said: string, ask: () => Promise<Answer>): Promise<Answer> {
  for (const operation of ['wrap', 'unwrap']) host.answer(`/kms/${operation}`, { body: said })
  return ask()
}

for (const [answer, measured] of Object.entries(answers))
  test(answer, async (t) => {
    await assert.doesNotReject(measured.parse(measured.honest()))
    for (const [shape, build] of Object.entries(measured.shapes))
      await t.test(shape, async () => {
        const cost = await measureCost(measured, build)
        assert.equal(objectionTo(cost, measured), undefined)
      })
  })
