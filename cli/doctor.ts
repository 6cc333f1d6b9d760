import { styleText } from 'node:util'
import type { Command } from 'commander'
import { ApiError, call, parseJsonResponse, reach } from './call.ts'
import { CliError, fieldsOf, listOf, printJson, stripControlCharacters, textOf } from './terminal.ts'
import { checkHosts, checkKeySet, checkMetadata } from './provider.ts'
import { type Settings, settingsOf } from './settings.ts'

/** Result of a check: passed, or the problem and its fix. */
type CheckResult = { check: string; healthy: boolean; detail: string; advice?: string }

/** A check: its name, the fix, and a function that returns the details or throws the problem. */
type Check = { name: string; advice: string; look: (settings: Settings) => Promise<string> }

const clockSkewSecondsMax = 5

const server: Check = {
  name: 'server',
  advice: 'Start it (npm start), or set BASE_URL to its address',
  async look({ baseUrl }) {
    await expectOk(`${baseUrl}/healthz`)
    return `${baseUrl} answers`
  },
}

/** In the order in which problems should be fixed. */
const checks: Check[] = [
  {
    name: 'database',
    advice: "Read the server's log; DATABASE_URL must be a PostgreSQL database that the server can reach",
    async look({ baseUrl }) {
      await expectOk(`${baseUrl}/readyz`)
      return 'reachable and migrated'
    },
  },
  {
    name: 'clock',
    advice: 'Synchronize the clocks of both machines by NTP: codes and tokens depend on them',
    look: readClock,
  },
  {
    name: 'hosts',
    advice:
      'Set BASE_URL, AUTH_URL and BUSINESS_URL to https: URLs under one domain, such as api.example.com, ' +
      'auth.example.com and business.example.com',
    async look(settings) {
      const authUrl = await findIssuer(settings)
      const hosts = [settings.baseUrl, await findBusinessUrl(settings)]
      refuseFaults(checkHosts(authUrl, ...hosts))
      return `${authUrl}, ${hosts.join(' and ')} are on one site`
    },
  },
  {
    name: 'discovery',
    advice: 'BASE_URL and AUTH_URL of the server must be its public URLs; a proxy must forward the Host header',
    async look(settings) {
      const authUrl = await findIssuer(settings)
      refuseFaults(checkMetadata(await readMetadata(authUrl), { authUrl, baseUrl: settings.baseUrl }))
      return `${authUrl} is the issuer`
    },
  },
  {
    name: 'signing keys',
    advice: 'A proxy or a cache may respond instead of the server; otherwise report a bug',
    async look(settings) {
      const authUrl = await findIssuer(settings)
      const metadata = await readMetadata(authUrl)
      const keySet = await parseJsonResponse(await expectOk(`${authUrl}/.well-known/jwks.json`))
      refuseFaults(checkKeySet(keySet, metadata))
      return `${listOf(fieldsOf(keySet).keys).length} keys, none missing`
    },
  },
  {
    name: 'admin token',
    advice: "Set ADMIN_TOKEN, or pass --data-dir with the server's data folder",
    async look(settings) {
      try {
        await call(settings, 'GET /api/admin/apps', { querystring: { limit: '1' } })
      } catch (error) {
        // A token without this permission is valid.
        if (!(error instanceof ApiError) || error.code !== 'permission_denied') throw error
      }
      return 'accepted'
    },
  },
]

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description("check a server's health and configuration, and suggest fixes")
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const findings = await examine(settings)
      const healthy = findings.every((finding) => finding.healthy)
      if (settings.json) printJson({ healthy, findings })
      else for (const finding of findings) print(finding)
      if (!healthy) process.exitCode = 1
    })
}

/** Runs all checks, or only the first if the server does not respond. */
async function examine(settings: Settings): Promise<CheckResult[]> {
  const findings = [await perform(server, settings)]
  if (!findings[0]?.healthy) return findings
  for (const check of checks) findings.push(await perform(check, settings))
  return findings
}

async function perform({ name, advice, look }: Check, settings: Settings): Promise<CheckResult> {
  try {
    return { check: name, healthy: true, detail: await look(settings) }
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return { check: name, healthy: false, detail: error.message, advice }
  }
}

function print({ check, healthy, detail, advice }: CheckResult): void {
  const mark = healthy ? styleText('green', '✔') : styleText('red', '✖')
  console.log(`${mark} ${check.padEnd(12)}  ${stripControlCharacters(detail)}`)
  if (advice) console.log(`                ${advice}.`)
}

async function readClock({ baseUrl }: Settings): Promise<string> {
  const response = await expectOk(`${baseUrl}/healthz`)
  const serverTime = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(serverTime)) throw new CliError('The server sends no Date header')
  const skewSeconds = Math.abs(Date.now() - serverTime) / 1000
  if (skewSeconds > clockSkewSecondsMax)
    throw new CliError(`Server clock differs from local clock by ${Math.round(skewSeconds)} s`)
  return `difference at most ${clockSkewSecondsMax} s`
}

/** Returns the issuer: from the settings, or from the API host's redirect of the discovery document. */
async function findIssuer({ baseUrl, authUrl }: Settings): Promise<string> {
  if (authUrl) return authUrl
  const url = `${baseUrl}/.well-known/openid-configuration`
  const location = (await reach(url)).headers.get('location') ?? ''
  if (!URL.canParse(location)) throw new CliError(`${url} does not redirect to the issuer: set AUTH_URL`)
  return new URL(location).origin
}

/** Returns the URL of the business host, which the OpenAPI document names. */
async function findBusinessUrl({ baseUrl }: Settings): Promise<string> {
  const url = `${baseUrl}/openapi.json`
  const { paths } = fieldsOf(await parseJsonResponse(await expectOk(url)))
  const { servers } = fieldsOf(fieldsOf(fieldsOf(paths)['/api/organizations'])['get'])
  const businessUrl = textOf(fieldsOf(listOf(servers)[0])['url'])
  if (!URL.canParse(businessUrl)) throw new CliError(`${url} does not name the business host`)
  return businessUrl
}

async function readMetadata(authUrl: string): Promise<unknown> {
  return parseJsonResponse(await expectOk(`${authUrl}/.well-known/openid-configuration`))
}

async function expectOk(url: string): Promise<Response> {
  const response = await reach(url)
  if (response.status === 421) throw new CliError(`${url} returned 421: the server answers under other URLs`)
  if (!response.ok) throw new CliError(`${url} returned ${response.status}`)
  return response
}

function refuseFaults(faults: string[]): void {
  if (faults.length > 0) throw new CliError(faults.join('; '))
}
