/**
 * Runs a SAML identity provider with samlify, as a separate process, so that it shares no code with the service.
 *
 * It prints its port. `POST /register` registers a service. `POST /before` sets the signed-in user, the clock,
 * deviations from a correct answer, and the encryption. `GET /sso` answers a request by redirect with a form.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Constants, IdentityProvider, ServiceProvider, setSchemaValidator } from 'samlify'

const { binding, format } = Constants.namespace
const read = (name) => readFileSync(new URL(`../../saml/src/testing/keys/${name}.pem`, import.meta.url), 'utf8')
const keys = ['provider', 'successor'].map((name) => ({ privateKey: read(`${name}.key`), signingCert: read(name) }))
const element = (name, content) => `<saml:${name}>${content}</saml:${name}>`
const attribute = ([name, value]) =>
  `<saml:Attribute Name="${name}">${element('AttributeValue', value)}</saml:Attribute>`

setSchemaValidator({ validate: async () => 'well-formed' })
/** A browser sends the form by itself. */
const submit = '<script>document.forms[0].submit()</script>'
let registered = ''
let before = {}

const server = createServer((request, response) => {
  const answer = (status, type, body) => response.writeHead(status, { 'content-type': type }).end(body)
  answerTo(request).then(
    ({ type, body }) => answer(200, type, body),
    (error) => answer(400, 'text/plain', String(error)),
  )
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))

async function answerTo(request) {
  const { port } = server.address()
  const { pathname, searchParams } = new URL(request.url, `http://localhost:${port}`)
  const body = await text(request)
  if (pathname === '/register') registered = body
  if (pathname === '/before') before = JSON.parse(body)
  if (request.method === 'POST') return { type: 'text/plain', body: '' }
  const providers = keys.map((pair) => create(`http://localhost:${port}`, pair, before.encryption))
  const [, number = '0'] = /^\/metadata\/(\d)$/.exec(pathname) ?? []
  if (pathname.startsWith('/metadata')) return { type: 'application/xml', body: providers[number].getMetadata() }
  return respond(providers[before.key ?? 0], Object.fromEntries(searchParams))
}

function create(origin, pair, encryption) {
  return IdentityProvider({
    ...pair,
    ...(encryption && { isAssertionEncrypted: true, ...encryption }),
    entityID: `${origin}/metadata`,
    wantAuthnRequestsSigned: false,
    requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    nameIDFormat: [format.persistent],
    singleSignOnService: [{ Binding: binding.redirect, Location: `${origin}/sso` }],
    singleLogoutService: [{ Binding: binding.redirect, Location: `${origin}/slo` }],
  })
}

async function respond(provider, query) {
  const service = ServiceProvider({ metadata: registered })
  const request = await provider.parseLoginRequest(service, 'redirect', { query })
  const action = service.entityMeta.getAssertionConsumerService('post')
  const tags = { ...tagsOf(provider, service), InResponseTo: request.extract.request.id, ...before.otherwise }
  const write = (template) => ({ id: tags.ID, context: template.replaceAll(/\{(\w+)\}/g, (_, tag) => tags[tag]) })
  const { context } = await provider.createLoginResponse(service, request, 'post', {}, write)
  const body = `<form method="post" action="${action}"><input name="SAMLResponse" value="${context}"></form>${submit}`
  return { type: 'text/html', body }
}

/** Values of the tags in the template of samlify. */
function tagsOf(provider, service) {
  const { now, nameId, attributes } = before
  const after = (seconds) => new Date(Date.parse(now) + seconds * 1000).toISOString()
  const acs = service.entityMeta.getAssertionConsumerService('post')
  const context = element(
    'AuthnContext',
    element('AuthnContextClassRef', 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password'),
  )
  return {
    ID: `_${randomUUID()}`,
    AssertionID: `_${randomUUID()}`,
    IssueInstant: now,
    Destination: acs,
    SubjectRecipient: acs,
    Issuer: provider.entityMeta.getEntityID(),
    Audience: service.entityMeta.getEntityID(),
    StatusCode: Constants.StatusCode.Success,
    NameIDFormat: format.persistent,
    NameID: nameId,
    SubjectConfirmationDataNotOnOrAfter: after(300),
    ConditionsNotBefore: after(-5),
    ConditionsNotOnOrAfter: after(300),
    AuthnStatement: `<saml:AuthnStatement AuthnInstant="${now}">${context}</saml:AuthnStatement>`,
    AttributeStatement: element('AttributeStatement', Object.entries(attributes).map(attribute).join('')),
  }
}
