import { limits } from '../protocol/src/formats/limits.ts'
import { costlyCbor, costlyForms, costlyJson, costlyText, inHeader } from '../server/testing/costly-text.ts'
import { costlyResponses, costlyXml, encryptedFor } from '../server/testing/costly-saml.ts'
import { createAuthenticator } from '../server/testing/authenticator.ts'
import type { Shapes } from '../server/testing/parser-cost.ts'
import type { Service } from '../server/testing/service.ts'
import { exchange, textOf } from './load/exchange.ts'
import { originOf, type Operation, type Schema } from './operations.ts'

export type HostileRequest = { url: string; method: string; headers: Record<string, string>; body?: string }
/** One kind of attack: how often a minute one address may try it, and its nth request. */
export type Attack = { name: string; perMinute: number; next: (nth: number) => Promise<HostileRequest> }
/** Bearer tokens that the service accepts, by their kind, and existing ids, by the name of their parameter. */
export type Known = { bearers: Record<string, string>; values: Record<string, string> }

/** Node's limit for the request line and headers together. */
const headerBytes = 14 * 1024
const urlBytes = 7 * 1024
/** Two bodies and their surroundings, by which the limit of a signing request exceeds that of other requests. */
const bodyBytes = ({ path }: Operation) =>
  path.startsWith('/api/signing/requests') ? limits.signingRequestBytesMax : limits.bodyBytesMax

/** Endpoints whose limit for an address differs from that of most endpoints (docs/operations/settings.md). */
const perMinuteOf: [path: RegExp, perMinute: number][] = [
  [/^\/api\/auth\/register/, 10],
  [/^\/api\/sso\//, 30],
  [/^\/api\/(?:oauth\/app\/|oauth\/par)|^\/\.well-known\/|openapi\.json$/, 600],
  [/^\/api\/(?:signing|encryption|transparency)\//, 300],
]
const perMinuteOfMost = 60

/**
 * The attack on one operation: each of its texts, its query, its headers and its whole body, as expensive as possible.
 */
export function attackOn(service: Service, operation: Operation, known: () => Known): Attack {
  const { method, path, host, security, body, contentTypes } = operation
  const size = bodyBytes(operation) - 64
  const isForm = contentTypes.includes('application/x-www-form-urlencoded')
  const bodies: Builder<string | undefined>[] = body
    ? [...buildersOf(costlyJson), ...grownTexts(body)]
    : [() => undefined]
  const forms = isForm ? buildersOf(costlyForms) : []
  const headers = headerVariants()
  const queries = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
  const texts = buildersOf(costlyText)

  async function next(nth: number): Promise<HostileRequest> {
    const { bearers, values } = known()
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? 'none'))
    const query = queries[nth % Math.max(1, queries.length)]
    const search = query === undefined ? '' : `?${query}=${inUrl(pick(texts, nth)(urlBytes))}`
    const isFormTurn = forms.length > 0 && nth % 2 === 0
    const content = isFormTurn ? pick(forms, nth)(size) : pick(bodies, nth)(size)
    const bearer = bearers[security ?? '']
    return {
      url: originOf(service, host) + filled + search,
      method,
      headers: {
        ...(nth % 3 === 0 && search === '' && pick(headers, nth)),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(content !== undefined && {
          'content-type': isFormTurn ? 'application/x-www-form-urlencoded' : 'application/json',
        }),
      },
      ...(content !== undefined && { body: content }),
    }
  }
  return { name: `${method} ${path}`, perMinute: perMinute(path), next }
}

/** Completes a started registration with an attestation that is expensive to parse. */
export function attackByAttestation({ baseUrl, authUrl }: Service, headers: Record<string, string>): Attack {
  const attestations = buildersOf(costlyCbor)
  const authenticator = createAuthenticator({ origin: authUrl, rpId: 'localhost' })
  return {
    name: 'a costly attestation',
    perMinute: 10,
    async next(nth) {
      const json = { handle: `hostile-${nth}`, displayName: 'Hostile' }
      const started = await exchange(`${baseUrl}/api/auth/register/start`, { method: 'POST', headers, json })
      if (started?.status !== 200) throw new Error(`no registration was started: ${started?.status}`)
      const { flowId, options } = started.body
      const credential = authenticator.register(options as Parameters<typeof authenticator.register>[0])
      const attestationObject = pick(attestations, nth)(limits.bodyBytesMax - 4096)
      const body = { flowId, credential: { ...credential, response: { ...credential.response, attestationObject } } }
      return {
        url: `${baseUrl}/api/auth/register/finish`,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }
    },
  }
}

/** The response of a SAML provider to a started sign-in, as expensive as an anonymous caller can make it. */
export function attackBySaml({ baseUrl }: Service, connectionId: string, headers: Record<string, string>): Attack {
  const answers = buildersOf({ ...costlyXml, ...costlyResponses, ...encryptedFor({ ...costlyResponses }) })
  const path = `${baseUrl}/api/sso/${connectionId}`
  return {
    name: 'a costly SAML answer',
    perMinute: 30,
    async next(nth) {
      const started = await fetch(`${path}/start`, { redirect: 'manual', headers })
      const cookie = started.headers
        .getSetCookie()
        .map((set) => set.split(';')[0])
        .join('; ')
      if (cookie === '') throw new Error(`no sign-in was started: ${started.status}`)
      const samlResponse = Buffer.from(pick(answers, nth)(limits.samlResponseBytesMax * 0.7)).toString('base64')
      return {
        url: `${path}/acs`,
        method: 'POST',
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ SAMLResponse: samlResponse }).toString(),
      }
    },
  }
}

/** Creates an organization with a SAML connection; returns the id of the connection. */
export async function openSamlConnection({ businessUrl }: Service, metadata: string, owner: SignedIn): Promise<string> {
  const { identityId, headers } = owner
  const post = async (path: string, json: object) => {
    const answer = await exchange(`${businessUrl}/api/organizations${path}`, { method: 'POST', headers, json })
    if (answer?.status !== 201) throw new Error(`${path} answered ${JSON.stringify(answer)}`)
    return answer.body
  }
  const { organization } = await post('', { name: 'Acme', identityId })
  const id = textOf(organization as Record<string, unknown>, 'id')
  const { connection } = await post(`/${id}/sso-connections`, { name: 'Acme SAML', saml: { metadata } })
  return textOf(connection as Record<string, unknown>, 'connectionId')
}
type SignedIn = { identityId: string; headers: Record<string, string> }

type Builder<Built> = (size: number) => Built

function buildersOf(shapes: Shapes): Builder<string>[] {
  return Object.values(shapes)
}

function pick<Choice>(choices: readonly Choice[], nth: number): Choice {
  const choice = choices[nth % choices.length]
  if (choice === undefined) throw new Error('no items to choose from')
  return choice
}

/** Creates valid bodies in which one text uses all of the allowed size, for each text and some ways to fill it. */
function grownTexts(schema: Schema): Builder<string>[] {
  const names = Object.entries(schema.properties ?? {}).filter(([, each]) => [each.type].flat().includes('string'))
  const fillings = ['a', 'a-', '@', '.', ' ', '\\u0301', '%ff', '😀']
  return names.flatMap(([name]) =>
    fillings.map((filling) => (size: number) => {
      const others = names.flatMap(([other]) => (other === name ? [] : [`${JSON.stringify(other)}:"a"`]))
      const room = Math.floor((size - 256) / Buffer.byteLength(filling))
      return `{${[...others, `${JSON.stringify(name)}:"${filling.repeat(Math.max(0, room))}"`].join(',')}}`
    }),
  )
}

function headerVariants(): Record<string, string>[] {
  return buildersOf(inHeader).flatMap((build) => {
    const text = build(headerBytes)
    return [{ cookie: text }, { 'accept-language': text }, { 'user-agent': text }, { authorization: `Bearer ${text}` }]
  })
}

/** Makes a value fit into a request line; other characters are escaped, as far as there is room. */
function inUrl(text: string): string {
  const escaped = text.toWellFormed().replaceAll(/[^\x21\x24-\x7e]/gu, (character) => encodeURIComponent(character))
  return escaped.slice(0, urlBytes)
}

function perMinute(path: string): number {
  return perMinuteOf.find(([pattern]) => pattern.test(path))?.[1] ?? perMinuteOfMost
}
