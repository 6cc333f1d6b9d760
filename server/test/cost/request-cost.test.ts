import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { verifyNote, writeNote } from '@countersign/protocol/formats/signing/checkpoint'
import { isCompactJwe } from '@countersign/protocol/formats/compact-jwe'
import { cleanDisplayName, isDisplayName } from '@countersign/protocol/formats/display-name'
import { normalizeDomain, slugify } from '@countersign/protocol/formats/domain'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { isHandle } from '@countersign/protocol/formats/handle'
import { parseKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import { parseApprovalStatement } from '@countersign/protocol/signing/approvals'
import { limits } from '@countersign/protocol/formats/limits'
import { parseRecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import { nodeSuite, verifyReceipt } from '@countersign/protocol/signing/receipt-verification'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { parseBasicCredentials } from '#clients/registration/authentication/authentication.ts'
import { parseImportFile } from '#accounts/invitations/import-file.ts'
import { parseClientMetadataDocument } from '#clients/registration/metadata-documents/metadata-document.ts'
import { requireRedirectUri } from '#clients/registration/settings.ts'
import { parseBackup, splitLines } from '#operations/backup/format.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import { parseForm, parseJson, requireUtf8 } from '#platform/http/body.ts'
import { ApiError } from '#platform/api-error.ts'
import { parseUiLocales, requireAllowedScopes } from '#oauth/authorize/parameters.ts'
import { verifyAttestation } from '#accounts/passkeys/attestation.ts'
import { rejectCrossOrigin } from '#accounts/passkeys/ceremony.ts'
import { fetchProviderMetadata } from '#sso/providers/provider.ts'
import { parseAttributes, selectOf } from '#platform/scim/message.ts'
import { filterLimits, parseFilter as parseWholeFilter } from '#platform/scim/filter.ts'
import { applyPatch, parsePatch } from '#platform/scim/patch.ts'
import { parseFilter } from '#sso/provisioning/filter.ts'
import { parseUser, userPatchSchema } from '#accounts/scim/users/user.ts'
import { patchUser } from '#sso/provisioning/patch.ts'
import { type ScimUser, parseScimUser } from '#sso/provisioning/user.ts'
import { createAuthenticator } from '#testing/authenticator.ts'
import { costlyCbor, costlyForms, costlyJson, costlyText, inHeader } from '#testing/costly-text.ts'
import { type MeasuredParser, type Shapes, between, measureCost, objectionTo, repeated } from '#testing/parser-cost.ts'
import { type TestWorld, createWorld } from '#testing/world.ts'

let world: TestWorld
let idToken = ''
let accessJwt = ''
let credentials: Record<string, string> = {}
before(async () => {
  world = await createWorld({ environment: { TRUST_PROXY: '1' } })
  const client = await world.app()
  credentials = client.credentials
  const { id_token = '', access_token_jwt } = await client.tokens(await world.person())
  idToken = id_token
  accessJwt = access_token_jwt
})
after(() => world.close())

const { bodyBytesMax, signingRequestBytesMax, samlFormBytesMax } = limits
/** Maximum of header bytes that Node reads. */
const headerBytesMax = 16 * 1024

const app = { allowedScopes: ['openid'], supportsE2ee: true }
const user: ScimUser = {
  userName: 'ann',
  externalId: null,
  displayName: 'Ann',
  givenName: null,
  familyName: null,
  email: null,
  isEmailPrimary: true,
  active: true,
  role: null,
}
const config = { authUrl: new URL('http://localhost:4401'), relyingPartyId: 'localhost' }
const authenticator = createAuthenticator({ origin: config.authUrl.origin, rpId: config.relyingPartyId })
const challenge = 'A'.repeat(43)
const creation = { challenge, user: { id: 'AAAA', name: 'ann', displayName: 'Ann' } }
const credential = authenticator.register(creation)
const base64Url = (text: string) => Buffer.from(text).toString('base64url')
const changed = (shapes: Shapes, change: (text: string) => string): Shapes =>
  Object.fromEntries(Object.entries(shapes).map(([what, build]) => [what, (size: number) => change(build(size))]))

/** Builds a COSE key (RFC 9052 §7) of RSA with a modulus of this size. */
function rsaKey(size: number): string {
  const modulus = Buffer.alloc(Math.floor((size * 3) / 4), 0xff)
  const head = Buffer.from(`a4010303390100205a${modulus.length.toString(16).padStart(8, '0')}`, 'hex')
  return Buffer.concat([head, modulus, Buffer.from('2143010001', 'hex')]).toString('base64url')
}

/** Builds JWTs by one of our keys, with one part enlarged. */
const grownFrom = (jwt: () => string): Shapes => ({
  'many dots': repeated('.'),
  'a long header': between((content) => `${content}.e30.AAAA`, 'eyJ'),
  'a header of many members': (size) => `${base64Url(costlyJson['many members']?.((size * 3) / 4) ?? '')}.e30.AAAA`,
  'a long payload': between((content) => grown(jwt(), 1, content), 'e30'),
  'a long signature': between((content) => grown(jwt(), 2, content), 'AAAA'),
})
const grownJwts = grownFrom(() => idToken)

function grown(jwt: string, part: number, content: string): string {
  return jwt
    .split('.')
    .map((text, place) => (place === part ? text + content : text))
    .join('.')
}

/** Exchanges a token for one at an unknown resource. */
const exchange = (tokens: { subject_token: string; actor_token?: string }) =>
  world.api.inject({
    method: 'POST',
    url: '/api/oauth/token',
    payload: {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      resource: 'none',
      ...credentials,
      ...tokens,
    },
  })

test('PRS-21 the subject token of an exchange is parsed before the resource is looked up', async () => {
  assert.equal((await exchange({ subject_token: accessJwt })).json().error, 'invalid_target')
  assert.equal((await exchange({ subject_token: grown(accessJwt, 2, 'A') })).json().error, 'invalid_request')
})

async function readAll(text: string): Promise<void> {
  for await (const _ of parseBackup(splitLines(Readable.from(text.match(/[^]{1,16384}/g) ?? []))));
}

/** Identity provider of an organization, with its metadata. */
const provider = createServer((_request, response) => response.setHeader('content-type', 'application/json').end(said))
let said = ''
let issuer = ''
before(async () => {
  await once(provider.listen(0), 'listening')
  const address = provider.address()
  issuer = `http://localhost:${typeof address === 'object' ? address?.port : address}`
})
after(() => provider.close())

const providerMetadata = (algorithms: string) => {
  const endpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].map((name) => `"${name}":"${issuer}/"`)
  return `{"issuer":"${issuer}",${endpoints.join(',')},"id_token_signing_alg_values_supported":[${algorithms}"RS256"]}`
}

const metadata = (name: string) => JSON.stringify({ client_id: 'https://a.example/', client_name: name })
const patch = (operations: string) =>
  `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[${operations}{"op":"add"}]}`
const json = (read: (value: unknown) => unknown) => (text: string) => read(parseJson(text))

/** Every parser of untrusted input, in addition to those of SAML: a new one is a row here. */
const parsers: Record<string, MeasuredParser> = {
  'PRS-04 JSON': { sizeMax: signingRequestBytesMax, parse: parseJson, shapes: costlyJson },
  'PRS-04 a form': { sizeMax: samlFormBytesMax, parse: (text) => parseForm(text, ['resource']), shapes: costlyForms },
  'PRS-04 bytes that shall be UTF-8': {
    sizeMax: samlFormBytesMax,
    parse: (text) => requireUtf8(Buffer.from(text, 'latin1')),
    shapes: { ...costlyText, 'no UTF-8': repeated('\xf0\x9f\x98') },
  },
  'PRS-05 Basic credentials': {
    sizeMax: headerBytesMax,
    parse: (text) => parseBasicCredentials(`Basic ${text}`),
    shapes: { ...costlyText, ...changed(costlyText, (text) => Buffer.from(`a:${text}`).toString('base64')) },
  },
  'PRS-05 Accept-Language': {
    sizeMax: headerBytesMax,
    parse: (text) => negotiateLanguage({ headers: { 'accept-language': text } }),
    shapes: costlyText,
  },
  'PRS-05 headers': {
    sizeMax: headerBytesMax,
    parse: (text) =>
      world.api.inject({
        url: '/api/auth/session',
        headers: { cookie: text, 'x-forwarded-for': text, 'user-agent': text, authorization: `Bearer ${text}` },
      }),
    shapes: inHeader,
  },
  'PRS-06 ui_locales': { sizeMax: bodyBytesMax, parse: parseUiLocales, shapes: costlyText },
  'PRS-06 scopes': {
    sizeMax: bodyBytesMax,
    parse: (text) => requireAllowedScopes(text, app),
    shapes: { ...costlyText, 'many scopes': repeated('openid '), 'e2ee scopes': repeated('e2ee:symmetric ') },
  },
  'PRS-06 a redirect URI': {
    sizeMax: bodyBytesMax,
    parse: (text) => requireRedirectUri(text, { isPublic: true, ours: world.config }),
    shapes: {
      ...costlyText,
      ...changed(costlyText, (text) => `https://${text}`),
      ...changed(costlyText, (text) => `https://a.example/${text}`),
    },
  },
  'PRS-06 a handle': { sizeMax: bodyBytesMax, parse: isHandle, shapes: costlyText },
  'PRS-06 an e-mail address': {
    sizeMax: bodyBytesMax,
    parse: (text) => isEmail(text) && normalizeEmail(text),
    shapes: costlyText,
  },
  'PRS-06 a display name': {
    sizeMax: bodyBytesMax,
    parse: (text) => isDisplayName(text) || cleanDisplayName(text),
    shapes: costlyText,
  },
  'PRS-06 the name of an organization': { sizeMax: bodyBytesMax, parse: slugify, shapes: costlyText },
  'PRS-06 a domain': { sizeMax: bodyBytesMax, parse: normalizeDomain, shapes: costlyText },
  'PRS-07 client data': {
    sizeMax: bodyBytesMax,
    parse: (text) => rejectCrossOrigin(text, () => new ApiError(400, 'invalid_credential', 'It is refused.')),
    shapes: { ...costlyText, ...changed(costlyJson, base64Url) },
  },
  'PRS-07 an attestation object': {
    sizeMax: bodyBytesMax,
    parse: (attestationObject) =>
      verifyAttestation(
        { ...world.config, ...config },
        { ...credential, response: { ...credential.response, attestationObject } },
        challenge,
      ),
    shapes: { ...costlyText, ...costlyCbor },
  },
  'PRS-07 a COSE key': {
    sizeMax: bodyBytesMax / 2,
    parse: (text) => {
      const publicKey = Buffer.from(text, 'base64url')
      const attested = authenticator.register(creation, { publicKey })
      return verifyAttestation({ ...world.config, ...config }, attested, challenge)
    },
    shapes: { ...costlyCbor, 'a long RSA key': rsaKey },
  },
  'PRS-08 a JWT in a header': {
    sizeMax: headerBytesMax,
    parse: (jwt) => world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${jwt}` } }),
    shapes: grownJwts,
  },
  'PRS-08 an ID token as a hint': {
    sizeMax: bodyBytesMax - 1024,
    parse: (idTokenHint) =>
      world.api.inject({ method: 'POST', url: '/api/auth/session/end', payload: { idTokenHint } }),
    shapes: grownJwts,
  },
  'PRS-21 a subject token': {
    sizeMax: bodyBytesMax - 1024,
    parse: (token) => exchange({ subject_token: token }),
    shapes: { ...costlyText, ...grownFrom(() => accessJwt) },
  },
  'PRS-21 an actor token': {
    sizeMax: bodyBytesMax - 1024,
    parse: (token) => exchange({ subject_token: accessJwt, actor_token: token }),
    shapes: { ...costlyText, ...grownFrom(() => accessJwt) },
  },
  'PRS-08 a public JWK': {
    sizeMax: bodyBytesMax,
    parse: parseRecipientKey,
    shapes: { ...costlyText, ...changed(costlyJson, base64Url) },
  },
  'PRS-08 a JWE': { sizeMax: bodyBytesMax, parse: isCompactJwe, shapes: { ...costlyText, ...grownJwts } },
  'PRS-09 a SCIM filter': {
    sizeMax: headerBytesMax,
    parse: parseFilter,
    shapes: {
      ...costlyText,
      ...changed(costlyText, (text) => `userName eq "${text}`),
      'a filter of blanks': between((content) => `userName${content}eq "a"${content}x`, ' '),
    },
    authenticated: true,
  },
  'SCM-11 a SCIM filter with the whole grammar': {
    sizeMax: filterLimits.charactersMax,
    parse: parseWholeFilter,
    shapes: {
      ...costlyText,
      ...changed(costlyText, (text) => `userName eq "${text}`),
      'a filter of blanks': between((content) => `userName${content}eq "a"${content}x`, ' '),
      'many comparisons': repeated('a pr and '),
      'many alternatives': repeated('(a eq "b" or b pr) and '),
      'many parentheses': repeated('not ('),
      'a long word': repeated('a.'),
      'many elements': repeated('a[b eq 1] or '),
    },
    authenticated: true,
  },
  'SCM-11 a SCIM patch of the service': {
    sizeMax: bodyBytesMax,
    parse: json((body) => {
      const operations = parsePatch(body, userPatchSchema)
      return parseUser(applyPatch(new Map([['username', 'a']]), operations, userPatchSchema))
    }),
    shapes: {
      ...costlyJson,
      'many operations': between(patch, '{"op":"add","path":"displayName","value":"a"},'),
      'a long path': between((content) => patch(`{"op":"add","value":1,"path":"emails[${content}]"},`), 'a'),
      'many addresses': between(
        (content) => patch(`{"op":"add","path":"emails","value":[${content}"a@b.example"]},`),
        '"a@b.example",',
      ),
    },
    authenticated: true,
  },
  'PRS-09 a SCIM patch': {
    sizeMax: bodyBytesMax,
    parse: json((body) => patchUser(user, body)),
    shapes: {
      ...costlyJson,
      'many operations': between(patch, '{"op":"add","path":"displayName","value":"a"},'),
      'a long path': between((content) => patch(`{"op":"add","value":1,"path":"a[${content}]"},`), 'a'),
      'a long value': between(
        (content) => patch(`{"op":"add","path":"emails","value":[${content}{}]},`),
        '{"value":"a@b.example"},',
      ),
    },
    authenticated: true,
  },
  'PRS-23 a file of invitations': {
    sizeMax: limits.invitationImportBytesMax,
    parse: parseImportFile,
    shapes: {
      'many rows': between((content) => `email\n${content}`, 'ada@example.org\n'),
      'many fields': between((content) => `email\n${content}`, ','),
      'many groups': between((content) => `email,groups\na@b.example,"${content}"\n`, 'ab;'),
      'a long field in quotes': between((content) => `email\n"${content}"\n`, 'a'),
      'quotes in quotes': between((content) => `email\n"${content}"\n`, '""'),
      'a quote that never ends': between((content) => `email\n"${content}`, 'a\n'),
      'many columns': between((content) => `email${content}\n`, ',handle'),
      'empty rows': repeated('\n'),
      'a long address': between((content) => `email\na@${content}\n`, 'a.'),
      'the same address': between((content) => `email\n${content}`, 'a@b.co\n'),
    },
    authenticated: true,
  },
  'PRS-09 a SCIM user': {
    sizeMax: bodyBytesMax,
    parse: json((body) => parseScimUser(parseAttributes(body))),
    shapes: {
      ...costlyJson,
      'many addresses': between((content) => `{"userName":"a","emails":[${content}"a"]}`, '{"value":"a"},'),
    },
    authenticated: true,
  },
  'PRS-09 attributes to select': {
    sizeMax: 1000,
    parse: (attributes) => selectOf({ ...user }, { attributes }),
    shapes: { ...costlyText, 'many names': repeated('name.a,') },
    authenticated: true,
  },
  'PRS-10 the metadata of an OpenID provider': {
    sizeMax: 256 * 1024,
    async parse(text) {
      said = text
      await fetchProviderMetadata(world.kernel.outbound, issuer)
    },
    shapes: { ...costlyJson, 'many algorithms': between(providerMetadata, '"RS512",') },
    authenticated: true,
  },
  'PRS-10 a client metadata document': {
    sizeMax: 5 * 1024,
    parse: json((document) =>
      parseClientMetadataDocument(document, asId<ClientId>('https://a.example/'), world.config),
    ),
    shapes: { ...costlyJson, 'a long name': between(metadata, 'a') },
  },
  'PRS-10 a key event': { sizeMax: bodyBytesMax, parse: parseKeyEvent, shapes: { ...costlyText, ...costlyJson } },
  'PRS-10 the statement of an approval': {
    sizeMax: bodyBytesMax,
    parse: parseApprovalStatement,
    shapes: {
      ...costlyText,
      ...costlyJson,
      'many origins': between((rest) => `{"app":{"origins":[${rest}""]}}`, '"a",'),
    },
  },
  'PRS-10 a signed note': {
    sizeMax: bodyBytesMax,
    parse: (note) => verifyNote(nodeSuite, note, logKey),
    shapes: {
      ...costlyText,
      'many signatures': (size) => between((lines) => `${'a\n'.repeat(size / 4)}\n${lines}`, ownLine)(size),
    },
  },
  'PRS-10 a receipt': {
    sizeMax: bodyBytesMax,
    parse: (receipt) => verifyReceipt(receipt, { payload: 'Pay', keySet: { keys: [] } }),
    shapes: { ...costlyText, ...grownJwts },
  },
  'PRS-10 a backup': {
    sizeMax: 1024 * 1024,
    parse: readAll,
    shapes: { ...costlyText, 'many rows': between((content) => `["table","a"]\n${content}`, '{"a":1}\n') },
    authenticated: true,
  },
}

const logKey = { name: 'log.example', publicKey: new Uint8Array(32).fill(1) }
const ownLine = writeNote(nodeSuite.sha256, 'a\n', logKey, new Uint8Array(64)).slice('a\n\n'.length)

for (const [parser, measured] of Object.entries(parsers))
  test(parser, async (t) => {
    for (const [shape, build] of Object.entries(measured.shapes))
      await t.test(shape, async () => {
        const cost = await measureCost(measured, build)
        assert.equal(objectionTo(cost, measured), undefined)
      })
  })
