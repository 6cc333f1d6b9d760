import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parse } from 'yaml'
import { loadConfig, settings } from '../../server/platform/config/config.ts'
import { readDockerfile } from '../image.ts'

const folder = join(import.meta.dirname, '../../deploy')

const Service = Type.Object({
  environment: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
  ports: Type.Optional(Type.Array(Type.String())),
  volumes: Type.Optional(Type.Array(Type.String())),
  healthcheck: Type.Optional(Type.Object({ test: Type.Array(Type.String()) })),
  restart: Type.Optional(Type.String()),
  image: Type.Optional(Type.String()),
  cap_drop: Type.Optional(Type.Array(Type.String())),
  security_opt: Type.Optional(Type.Array(Type.String())),
  read_only: Type.Optional(Type.Boolean()),
})
const Composition = Type.Object({
  services: Type.Record(Type.String(), Service),
  volumes: Type.Record(Type.String(), Type.Null()),
  networks: Type.Optional(Type.Record(Type.String(), Type.Object({ enable_ipv6: Type.Boolean() }))),
})
type Composition = Static<typeof Composition>

const secrets = {
  SECRET_KEY: 'a-secret-key-for-tests-of-32-characters',
  ADMIN_TOKEN: 'a-token-for-tests-of-at-least-32-characters',
  DATABASE_PASSWORD: 'd0a1',
}
const urls = {
  BASE_URL: 'https://api.id.example.com',
  AUTH_URL: 'https://id.example.com',
  BUSINESS_URL: 'https://business.id.example.com',
}

let base: Composition
let overlay: Composition
before(async () => {
  base = await read('compose.yaml')
  overlay = await read('compose.public.yaml')
})

async function read(name: string): Promise<Composition> {
  const text = await readFile(join(folder, name), 'utf8')
  // `!reset []` removes what the other file has. A plain YAML parser reads it as an empty list.
  const composition: unknown = parse(text.replaceAll('!reset ', ''))
  if (!Value.Check(Composition, composition)) throw new Error(Value.Errors(Composition, composition)[0]?.message)
  return composition
}

/** Returns the environment of a container of the service with these variables in `.env`. Throws if one is missing. */
function environmentOf(compositions: Composition[], variables: Record<string, string>): Record<string, string> {
  const written = compositions.flatMap(({ services }) => Object.entries(services['countersign']?.environment ?? {}))
  return Object.fromEntries(written.map(([name, value]) => [name, fill(String(value), variables)]))
}

function fill(text: string, variables: Record<string, string>): string {
  return text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, how: string, otherwise: string) => {
    const value = variables[name] ?? (how === '-' ? otherwise : undefined)
    if (value === undefined) throw new Error(`${name} is required`)
    return value
  })
}

test('compose sets known settings only, starts on this machine with three secrets, and fails without them', () => {
  const known: readonly string[] = settings
  const environment = environmentOf([base], secrets)
  for (const name of Object.keys(environment)) assert.ok(known.includes(name), name)
  const config = loadConfig(environment)
  assert.equal(config.authUrl.origin, 'http://localhost:4401')
  assert.match(config.databaseUrl?.reveal() ?? '', /^postgres:\/\/countersign:d0a1@database\/countersign$/)
  for (const missing of Object.keys(secrets)) {
    const rest = Object.fromEntries(Object.entries(secrets).filter(([name]) => name !== missing))
    assert.throws(() => environmentOf([base], rest), new RegExp(`${missing} is required`))
  }
})

test('NET-03 the service in a container is reachable from outside', async () => {
  const own = (await readDockerfile()).filter(({ word }) => word === 'ENV').map(({ rest }) => rest)
  assert.ok(own.includes('HOST=0.0.0.0'))
  const addresses = (compositions: Composition[]) =>
    loadConfig(environmentOf(compositions, { ...secrets, ...urls, TRUST_PROXY: 'off' })).listenAddresses
  assert.deepEqual(addresses([base]), ['0.0.0.0'])
  // On every address: the proxy connects by IPv6 too.
  assert.equal(addresses([base, overlay]), undefined)
})

test('the bundled proxy sees the address of a client that connects by IPv6', () => {
  // Otherwise Docker passes the connections on, all of them from one address.
  assert.deepEqual(overlay.networks, { default: { enable_ipv6: true } })
  for (const { services } of [base, overlay])
    for (const service of Object.values(services)) assert.ok(!('networks' in service))
})

test('NET-01 public URLs without a bundled proxy need TRUST_PROXY', () => {
  assert.throws(() => loadConfig(environmentOf([base], { ...secrets, ...urls })), /TRUST_PROXY is missing/)
  assert.equal(loadConfig(environmentOf([base], { ...secrets, ...urls, TRUST_PROXY: '2' })).trustProxy, 2)
})

test('other deployments require the three URLs, and the proxy forwards to the port of all hosts', async () => {
  assert.throws(() => environmentOf([base, overlay], secrets), /BASE_URL is required/)
  const config = loadConfig(environmentOf([base, overlay], { ...secrets, ...urls }))
  assert.equal(config.trustProxy, 1)
  assert.equal(config.demo, false)
  assert.deepEqual(overlay.services['countersign']?.ports, [])
  const caddyfile = await readFile(join(folder, 'Caddyfile'), 'utf8')
  assert.ok(caddyfile.includes(`reverse_proxy countersign:${config.port} {\n`))
  for (const name of Object.keys(urls)) {
    assert.ok(caddyfile.includes(`{$${name}}`))
    assert.ok(overlay.services['proxy']?.environment[name])
  }
})

test('the proxies of this repository and its guide remove the trace of a client', async () => {
  const guide = await readFile(join(folder, '../docs/operations/deployment.md'), 'utf8')
  const caddyfiles = [await readFile(join(folder, 'Caddyfile'), 'utf8'), guide]
  for (const text of caddyfiles)
    assert.match(text, /reverse_proxy \S+ \{\n(?:\t\t[^\n]*\n)*\t\theader_up -traceparent\n/)
  assert.match(guide, /location \/ \{[^}]* proxy_set_header traceparent "";\n/)
})

test('compose and the image agree on ports, the volume and the health check', async () => {
  const instructions = await readDockerfile()
  const said = (word: string) => instructions.filter((each) => each.word === word).map(({ rest }) => rest)
  const { countersign } = base.services
  assert.deepEqual(
    countersign?.ports,
    said('EXPOSE')
      .flatMap((ports) => ports.split(' '))
      .map((port) => `127.0.0.1:${port}:${port}`),
  )
  assert.deepEqual(
    countersign?.volumes,
    said('VOLUME').map((path) => `data:${path}`),
  )
  assert.equal(said('HEALTHCHECK').length, 1)
  assert.equal(countersign?.healthcheck, undefined)
  assert.ok(base.services['database']?.healthcheck)
})

test('every container restarts, gains no privileges, and keeps its data in a named volume', () => {
  for (const { services, volumes } of [base, overlay])
    for (const [name, service] of Object.entries(services)) {
      if (services === overlay.services && name === 'countersign') continue
      assert.equal(service.restart, 'unless-stopped', name)
      assert.deepEqual(service.cap_drop, ['ALL'], name)
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
      for (const volume of service.volumes?.filter((each) => !each.startsWith('./')) ?? [])
        assert.ok((volume.split(':')[0] ?? '') in volumes, volume)
    }
  assert.equal(base.services['countersign']?.read_only, true)
})
