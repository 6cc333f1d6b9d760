import { escapeHtml } from './built-pages.ts'
import { exampleOf, examplesOf } from './example.ts'
import { fieldHtml, resolve, schemaHtml, typeOf, type Schemas } from './schema.ts'

type Content = Record<string, { schema: unknown }>
type Server = { url: string; description: string }

/** An operation of the OpenAPI document, as far as it is shown. */
export type Operation = {
  operationId: string
  tags: readonly string[]
  summary?: string | undefined
  security: readonly Record<string, readonly string[]>[]
  'x-client-credentials'?: 'body'
  servers?: readonly Server[]
  parameters: readonly { name: string; in: Place; required: boolean; schema: unknown }[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { description: string; content?: Content }>
}

type Place = 'path' | 'query' | 'header'

export type Listed = { method: string; path: string; operation: Operation }

/** Returns an operation as HTML: where it is, who may call it, what it takes and returns, with an example of both. */
export function operationHtml({ method, path, operation }: Listed, apiHost: Server, schemas: Schemas): string {
  const { operationId, summary = operationId, parameters, requestBody, responses, servers } = operation
  const [host = apiHost] = servers ?? []
  const inPlace = (place: Place) => parameters.filter((parameter) => parameter.in === place)
  return [
    `<section class="operation" id="${operationId}">`,
    `<h2><a class="anchor" href="#${operationId}">${escapeHtml(summary)}</a></h2>`,
    `<p class="endpoint"><span class="method ${method}">${method.toUpperCase()}</span> `,
    `<code>${escapeHtml(path).replaceAll('/', '/<wbr>')}</code></p>`,
    '<dl class="facts">',
    `<div><dt>Host</dt><dd>${host.description}: <code>${escapeHtml(host.url)}</code></dd></div>`,
    `<div><dt>Caller</dt><dd>${callersOf(operation)}</dd></div>`,
    `<div><dt>Operation</dt><dd><code>${operationId}</code></dd></div>`,
    '</dl>',
    parametersHtml('Path parameters', inPlace('path'), schemas),
    parametersHtml('Query parameters', inPlace('query'), schemas),
    parametersHtml('Header fields', inPlace('header'), schemas),
    requestBody ? bodyHtml(requestBody, schemas) : '',
    '<h3>Responses</h3>',
    ...Object.entries(responses).map(([status, response]) => responseHtml(status, response, schemas)),
    exampleHtml({ method, path, operation }, host, schemas),
    '</section>',
  ].join('')
}

const callers: Record<string, string> = {
  session: 'A signed-in user (<a href="/docs#session">session</a>)',
  federated_session: 'The browser itself (<a href="/docs#federated_session">FedCM session</a>)',
  access_token: 'An app with an <a href="/docs#access_token">access token</a>',
  admin: 'The operator (<a href="/docs#admin">admin token</a>)',
  client: 'An app with its <a href="/docs#client">client credentials</a>',
}

function callersOf({ security, ...more }: Pick<Operation, 'security' | 'x-client-credentials'>): string {
  if (more['x-client-credentials'] === 'body') return `${callers['client']} in the body`
  const schemes = security.map((each) => Object.keys(each)[0])
  if (schemes.length === 0) return 'Anyone'
  return schemes
    .map((scheme) => (scheme === undefined ? 'a public app without a secret' : (callers[scheme] ?? escapeHtml(scheme))))
    .join(', or ')
}

function parametersHtml(title: string, parameters: Operation['parameters'], schemas: Schemas): string {
  if (parameters.length === 0) return ''
  const fields = parameters.map(({ name, required, schema }) =>
    fieldHtml({ name, schema, isRequired: required }, schemas),
  )
  return `<h3>${title}</h3><ul class="fields">${fields.join('')}</ul>`
}

function bodyHtml({ required, content }: NonNullable<Operation['requestBody']>, schemas: Schemas): string {
  const types = Object.keys(content).map((type) => `<code>${escapeHtml(type)}</code>`)
  const [first] = Object.values(content)
  return (
    `<h3>Body</h3><p class="soft">${types.join(' or ')}${required ? '' : ', optional'}</p>` +
    (schemaHtml(first?.schema, schemas) || `<p>${typeOf(first?.schema, schemas)}</p>`)
  )
}

function responseHtml(status: string, { description, content = {} }: Operation['responses'][string], schemas: Schemas) {
  const types = Object.keys(content).map((type) => `<code>${escapeHtml(type)}</code>`)
  const [first] = Object.values(content)
  const { name } = resolve(first?.schema, schemas)
  const summary = `<strong>${status}</strong> ${description}${types.length > 0 ? ` · ${types.join(', ')}` : ''}`
  if (!first) return `<p class="response">${summary}</p>`
  const shown = name === 'Error' ? '<p>An <a href="/docs#errors">error</a> with its code and a sentence.</p>' : ''
  const fields = schemaHtml(first.schema, schemas) || `<p>${typeOf(first.schema, schemas)}</p>`
  return `<details class="response"><summary>${summary}</summary>${shown}${fields}</details>`
}

const credentials: Record<string, string> = {
  session: "-H 'authorization: Bearer cs_session_…'",
  access_token: "-H 'authorization: Bearer <access token>'",
  admin: '-H "authorization: Bearer $ADMIN_TOKEN"',
  client: '-u "$CLIENT_ID:$CLIENT_SECRET"',
  federated_session: "-H 'cookie: __Host-countersign-fedcm=…'",
}

function exampleHtml(listed: Listed, host: Server, schemas: Schemas): string {
  const { requestBody, responses } = listed.operation
  const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const answer = success?.[1].content?.['application/json']
  const bodies = examplesOf(requestBody?.content['application/json']?.schema, schemas)
  const requests = bodies.map((body) => {
    // Bodies of one endpoint differ in their first field, such as grant_type.
    const kind = bodies.length > 1 ? ` (${String(Object.values(body ?? {})[0])})` : ''
    return codeHtml(`Request${kind}`, commandOf(listed, host, { body, schemas }))
  })
  const response = answer && JSON.stringify(exampleOf(answer.schema, schemas), null, 2)
  return requests.join('') + (response === undefined ? '' : codeHtml(`Response ${success?.[0]}`, response))
}

/** Returns a command that sends a request to an operation. */
function commandOf(
  { method, path, operation: { parameters, requestBody, security } }: Listed,
  host: Server,
  { body, schemas }: { body: unknown; schemas: Schemas },
): string {
  const required = parameters.filter((parameter) => parameter.in === 'query' && parameter.required)
  const query = required.map(({ name, schema }) => `${name}=${String(exampleOf(schema, schemas, name))}`)
  const url = `${host.url}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`
  const fields = parameters.filter((parameter) => parameter.in === 'header' && parameter.required)
  const [scheme = ''] = Object.keys(security[0] ?? {})
  const [type] = Object.keys(requestBody?.content ?? {})
  const isJson = type === 'application/json'
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} '${url}'`,
    ...(credentials[scheme] === undefined ? [] : [credentials[scheme]]),
    ...fields.map(({ name, schema }) => `-H '${name}: ${String(exampleOf(schema, schemas, name))}'`),
    ...(type === undefined ? [] : [`-H 'content-type: ${type}'`]),
    ...(isJson ? [`-d '${JSON.stringify(body, null, 2)}'`] : []),
    ...(type !== undefined && !isJson ? ['--data-binary @file'] : []),
  ]
  return lines.join(' \\\n  ')
}

function codeHtml(title: string, code: string): string {
  return (
    `<details class="example"><summary>Example: ${title.charAt(0).toLowerCase()}${title.slice(1)}</summary>` +
    `<div class="code"><pre tabindex="0" role="region" aria-label="${title}"><code>${escapeHtml(code)}</code></pre>` +
    '</div></details>'
  )
}
